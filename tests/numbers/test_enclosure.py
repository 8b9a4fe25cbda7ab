"""Enclosures always hold the real: tables against known digits, laws over random rationals, threads and forks."""

from __future__ import annotations

import operator
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from power import tried

from dpcurator.numbers import Enclosure, exp_neg, ln
from dpcurator.numbers import arb as balls_module
from dpcurator.numbers.arb import ball, common_floor, precision

E_INVERSE = Fraction("0.36787944117144232159552377016146086744581113103176783450783680")  # OEIS A068985, cut
LN_2 = Fraction("0.69314718055994530941723212145817656807550013436025525412068000")  # OEIS A002162, cut
CUT = Fraction(1, 10**61)

rationals = st.fractions(min_value=-(10**6), max_value=10**6, max_denominator=10**9)
brackets = st.tuples(rationals, rationals).map(lambda pair: Enclosure(min(pair), max(pair)))
shares = st.fractions(min_value=0, max_value=1)


def test_known_digits() -> None:
    for found, digits in ((exp_neg(Fraction(1)), E_INVERSE), (ln(Fraction(2)), LN_2)):
        assert found.lo < digits + CUT
        assert found.hi > digits
        assert found.width < Fraction(1, 2**120)


@pytest.mark.parametrize("x", ["0", "1/1000000", "1/3", "1", "17/5", "40000", "1000000000000", "1e40"])
def test_exp_is_a_bracket_in_0_1_and_narrow(x: str) -> None:
    p = exp_neg(Fraction(x))
    assert 0 <= p.lo <= p.hi <= 1
    assert p.width <= max(p.hi / 2**127, Fraction(1, 2**65536))


@given(st.fractions(min_value=0, max_value=300), st.fractions(min_value=0, max_value=300))
@tried
def test_exp_turns_sums_into_products(x: Fraction, y: Fraction) -> None:
    together, product = exp_neg(x + y), exp_neg(x) * exp_neg(y)
    assert together.lo <= product.hi
    assert product.lo <= together.hi


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**9))
@tried
def test_ln_undoes_exp(x: Fraction) -> None:
    log = ln(x)
    if log.hi < 0:
        back = Enclosure(exp_neg(-log.lo).lo, exp_neg(-log.hi).hi)
        assert back.holds(x)
        assert back.width < Fraction(1, 2**100)
    assert (ln(x) + ln(1 / x)).holds(0)


@given(brackets, brackets, shares, shares)
@tried
def test_operations_hold_what_the_reals_give(a: Enclosure, b: Enclosure, s: Fraction, t: Fraction) -> None:
    x, y = a.lo + s * a.width, b.lo + t * b.width
    operations: list[Callable[..., object]] = [operator.add, operator.sub, operator.mul]
    operations += [operator.truediv] * (not b.holds(0))
    for operation in operations:
        exact = operation(x, y)
        for mixed in (operation(a, b), operation(a, Enclosure.exactly(y)), operation(a, y), operation(x, b)):
            assert mixed.holds(exact)  # type: ignore[attr-defined]
    assert (-a).holds(-x)


@given(st.fractions(min_value=-3, max_value=3, max_denominator=997), st.integers(0, 300))
@tried
def test_powers_round_outward(x: Fraction, power: int) -> None:
    found = Enclosure.exactly(x) ** power
    assert found.holds(x**power)
    assert found.width <= abs(x**power) / 2**230
    assert found.lo.denominator.bit_length() < 2000  # endpoints are kept short


def test_comparisons_are_asked_not_written() -> None:
    half = Enclosure(Fraction(1, 2), Fraction(3, 4))
    assert half.surely_at_most(Fraction(3, 4))
    assert not half.surely_below(Fraction(3, 4))
    assert half.surely_at_least(Fraction(1, 2))
    assert not half.surely_above(Fraction(1, 2))
    assert half.surely_below(1)
    assert half.surely_above(0)
    assert half.surely_below(Enclosure(Fraction(4, 5), Fraction(1)))
    assert not half.surely_at_most(Enclosure(Fraction(3, 5), Fraction(1)))
    for attempt in (lambda: bool(half), lambda: half < 1, lambda: 1 if half else 0):  # type: ignore[operator]
        with pytest.raises(TypeError):
            attempt()


def test_impossible_requests_are_errors() -> None:
    straddling = Enclosure(Fraction(-1), Fraction(1))
    with pytest.raises(ZeroDivisionError):
        1 / straddling
    for attempt in (
        lambda: Enclosure(Fraction(1), Fraction(0)),
        lambda: straddling**2,
        lambda: exp_neg(Fraction(-1)),
        lambda: ln(Fraction(0)),
    ):
        with pytest.raises(ValueError):
            attempt()


def test_precision_is_put_back_and_not_shared_among_threads() -> None:
    from flint import ctx

    before = ctx.prec
    with precision(400):
        assert ctx.prec == 400
    assert ctx.prec == before
    with pytest.raises(RuntimeError), precision(400):
        raise RuntimeError
    assert ctx.prec == before
    asked = [50 + 37 * i for i in range(40)] * 5
    with ThreadPoolExecutor(8) as pool:
        widths = list(pool.map(lambda bits: exp_neg(Fraction(1, 3), bits).width, asked))
    assert all(0 < width < Fraction(1, 2**bits) for width, bits in zip(widths, asked, strict=True))
    assert ctx.prec == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # forking while a thread runs is what is tested
def test_a_fork_while_another_thread_holds_the_lock_does_not_hang() -> None:
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with precision(300):
            held.set()
            done.wait(20)

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()
    child = os.fork()
    if child == 0:
        acquired = balls_module._lock.acquire(timeout=5)
        os._exit(0 if acquired else 1)
    done.set()
    holder.join()
    assert os.waitpid(child, 0)[1] == 0


def test_common_floor() -> None:
    with precision(64):
        assert common_floor(ball(Fraction(7, 3)), ball(Fraction(8, 3))) == 2
        assert common_floor(ball(Fraction(7, 3)), ball(Fraction(10, 3))) is None
        assert common_floor(ball(Fraction(-1, 3)), ball(Fraction(-1, 2))) == -1
        third = ball(Fraction(1, 3))
        assert common_floor(3 * third, 3 * third) is None  # the ball of 3 * (1/3) straddles 1


def test_it_is_shown_as_far_as_it_is_known() -> None:
    third = ln(Fraction(3)) / ln(Fraction(27))
    assert f"{third:.6f}" == "0.333333"
    assert f"{third:>8.3f}|" == "   0.333|"
    assert str(third) == "0.3333333333"
    assert f"{Enclosure(Fraction(1, 10), Fraction(3, 10)):.2f}" == "0.10 to 0.30"
    assert f"{Enclosure(Fraction(1, 10), Fraction(3, 10)):.0f}" == "0"
    assert str(Enclosure.exactly(Fraction(3, 4))) == "0.75"
    assert f"{exp_neg(Fraction(10_000)):.3e}" == "1.135e-4343"  # no double goes so far
    assert f"{Enclosure.exactly(10**400):.0e}" == "1e+400"
    assert repr(Enclosure.exactly(1)) == "Enclosure(1)"
