"""The end of the time: work stops between laws and products, a bracket is returned, and a coarser grid is chosen."""

from fractions import Fraction

import pytest

from dpcurator.accounting.parse import spelled
from dpcurator.accounting.pld import certified as pld
from dpcurator.accounting.pld.certificate import certify
from dpcurator.accounting.pld.certified import certified
from dpcurator.accounting.pld.clock import OutOfTime, afforded, clock, no_clock, seconds_for
from dpcurator.accounting.pld.grid_choice import Window
from dpcurator.accounting.pld.kronecker import Row, power, product

F = Fraction
MANY = "200000 * laplace(epsilon=0.1) + 3000 * gaussian(sigma=7)"


def parts(text):
    return spelled(text).parts


class Countdown:
    """Time ends at the n-th look at it."""

    def __init__(self, looks):
        self.looks = looks

    def __call__(self):
        self.looks -= 1
        if self.looks < 0:
            raise OutOfTime


def test_a_clock_raises_once_its_time_is_past():
    clock(float("inf"))()
    no_clock()
    with pytest.raises(OutOfTime):
        clock(0.0)()


def test_work_stops_before_each_law_and_each_product():
    row = Row.of(0, [100, 100], 8)
    for work, looks in (
        (lambda check: power(row, 13, 0.0, check), 4),
        (lambda check: product([row] * 5, [0.0] * 5, check), 4),
        (lambda check: certify(list(parts("3 * pure(epsilon=1)")), [Window(F(1), -2, 0)], F(1), 1.0, check=check), 5),
    ):
        work(Countdown(looks))
        for fewer in range(looks):
            with pytest.raises(OutOfTime):
                work(Countdown(fewer))


@pytest.mark.parametrize("asked", [{"delta": "1e-9"}, {"epsilon": 1100}])
def test_h11_without_time_the_first_grid_is_made_all_the_same(asked):
    """H11, H2: whether there is a bound depends on no clock; a bracket says that it was stopped."""
    found = spelled(MANY).bracket(**asked, seconds="1e-9")
    assert 0 < found.lower < found.upper
    assert found.method == "pld"
    assert found.stopped
    assert found.as_json()["stopped"] is True
    rough = spelled(MANY).bracket(**asked, accuracy=1)
    assert not rough.stopped
    assert rough.lower <= found.upper
    assert found.lower <= rough.upper


def test_the_best_bounds_so_far_are_kept(monkeypatch):
    """Time ends in the second grid: the first one's bounds are returned."""
    looks, clocks, right = [], [], pld._on_grid

    def once(*given):
        looks.append(given[4])
        clocks.append(given[6])
        if len(looks) > 1:
            raise OutOfTime
        return right(*given)

    monkeypatch.setattr(pld, "_on_grid", once)
    monkeypatch.setattr(pld, "first_step", lambda *given: F(1, 100))
    text = "9 * laplace(epsilon=0.1) + 7 * laplace(epsilon=0.0637191)"
    found = certified(parts(text), "epsilon", F("1e-3"), accuracy=1e-4, seconds=10**6)
    assert len(looks) == 2
    assert found.step == looks[0]
    assert found.stopped
    assert clocks[0] is no_clock
    assert clocks[1] is not no_clock
    assert 0 < found.lower < found.upper


def test_a_grid_that_takes_too_long_is_made_coarser():
    loss = list(parts("1000 * laplace(epsilon=0.1)"))
    seen = pld._look(loss, "epsilon", F("1e-9"), 1e-4)
    fine = F(1, 10**5)
    takes = seconds_for([1000], pld._windows(loss, fine, seen), fine, seen)
    assert afforded(loss, fine, seen, takes, takes) == fine
    coarser = afforded(loss, fine, seen, takes, takes / 10)
    assert F(1, 10**4) <= coarser < F(1, 2000)
    again = seconds_for([1000], pld._windows(loss, coarser, seen), coarser, seen)
    assert again < takes / 8
