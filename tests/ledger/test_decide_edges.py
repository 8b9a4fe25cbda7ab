"""Where a request's limits lie, to the last one: each is admitted at its edge and refused one beyond."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dpcurator.errors import Refusal
from dpcurator.ledger.decide import Standing, checked, decide, question
from dpcurator.numbers.rational import added

F = Fraction


@pytest.mark.parametrize("name", ["epsilon", "delta", "rho"])
def test_a_price_has_at_most_512_bits_above_and_below_the_line(name, ask):
    for edge in (F(2**512), F(1, 2**512)):
        assert getattr(checked(replace(ask(), **{name: edge})), name) == edge
    for beyond in (F(2**512 + 1), F(1, 2**512 + 1)):
        with pytest.raises(Refusal, match=f"{name} has too many digits"):
            checked(replace(ask(), **{name: beyond}))


def test_a_request_has_at_most_a_million_characters(ask):
    short = ask()
    others = sum(map(len, (short.analyst, short.plan, short.catalog)))
    assert checked(replace(short, parameters="x" * (1_000_000 - others)))
    with pytest.raises(Refusal, match="more than 1000000 characters"):
        checked(replace(short, parameters="x" * (1_000_001 - others)))


def test_a_total_is_exact_up_to_1024_bits_and_then_the_next_multiple_of_ten_to_the_minus_150():
    assert added(F(0), F(1, 2**1024)) == F(1, 2**1024)
    assert added(F(0), F(1, 2**1024 + 1)) == F(1, 10**150)
    assert added(F(1, 3), F(1, 2**1024 + 1)) == F(10**150 // 3 + 1, 10**150)


def test_equal_amounts_are_a_price(ask):
    for same in (F(1, 10), F(1, 1000)):
        both = checked(replace(ask(), epsilon=same, delta=same, rho=F(0)))
        assert (both.epsilon, both.delta) == (same, same)
        assert checked(replace(ask(), epsilon=same, delta=same, rho=same)).rho == same
    with pytest.raises(Refusal, match="must have a price"):
        checked(replace(ask(), epsilon=F(0), delta=F(0), rho=F(0)))


def test_an_id_is_refused_to_any_other_question_whichever_digest_is_the_larger(ask):
    standing = Standing("open", None, F(1), F(0), F(0), F(0), "epsilon")
    mine = decide(standing, ask("p"), "id")
    others = [ask(f"q{n}") for n in range(20)]
    assert {question(other) < question(mine) for other in others} == {True, False}
    for other in others:
        with pytest.raises(Refusal, match="another question"):
            decide(standing, other, "id", mine=mine, known=mine)


@pytest.mark.parametrize("parameters", ["{}", '{"batch": [{"epsilon": "1"}]}', '{"batch": [1]}', "[]"])
def test_a_price_of_which_some_is_shared_says_the_whole_in_its_parameters(ask, parameters):
    with pytest.raises(ValueError, match="do not say the whole price"):
        question(replace(ask(), shared="{}", parameters=parameters))
