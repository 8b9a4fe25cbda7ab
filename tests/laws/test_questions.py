"""Every law of a question, over one stream of random questions: each is bound and priced once, and all laws see it.

Worlds and questions are those of tests/support/question_worlds.py: one table and several, all types, all relations and
aggregates, both relations of neighbours, both currencies, listed and unknown keys. A failure names the law, the
question and the world; everything follows from the seed. The heart law is among them (semantics 3): between
neighbouring tables no reading moves further than it claims, and every engine has the integers of the reference. What
else holds of the heart law, its controls above all, is in test_heart.py and test_heart_relations.py.
"""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction as F

import pytest
from heart import moves, vectors
from noises import covered, finished_values, noise_free, shifted, views
from question_worlds import KINDS, Asked, asked, every_type, made
from questions import CATALOG, planned, seen

import dpcurator as dp
from dpcurator.break_me.expressions import NAMING, OF_NUMBERS, OF_PAIRS, ORDERED
from dpcurator.break_me.questions import question
from dpcurator.curator.curator import Curator
from dpcurator.engines.limits import check_core
from dpcurator.engines.reference import Reference
from dpcurator.fronts.sql import parse
from dpcurator.language.render import render
from dpcurator.ledger import Ledger, MemoryStore, Opening
from dpcurator.ledger.canonical import canonical_text as ledger_text
from dpcurator.numbers.interval import Interval
from dpcurator.plan.canonical import as_json, canonical_text, digest, plan_of
from dpcurator.plan.check_outputs import misfit
from dpcurator.plan.nodes import Plan
from dpcurator.plan.sets import rows_of
from dpcurator.pricing.bars import bars
from dpcurator.pricing.prices import amount_of
from dpcurator.pricing.quote import price
from dpcurator.pricing.resolve import resolve
from dpcurator.release.adding import with_sets
from dpcurator.release.answer import Answer, answer_of
from dpcurator.release.cells import shown_cell
from dpcurator.release.finish import finish
from dpcurator.standalone import verify as standalone
from receipts import KEY

PARTS = 40
EACH = 3  # questions of each world
AMOUNTS = (F(1, 1000), F(1, 7), F(3), F(50))
HUGE = [0, 1, -1, 2**64, -(2**127), 10**400, -(10**400), 10**400 - 1, 3 * 2**16 + 1, -(2**1100)]
PLANS: dict[str, Plan] = {}  # of every question so far, by digest
DIGESTS: dict[Plan, str] = {}


def the_text_it_is_rendered_as_has_the_same_plan(asked: Asked) -> None:
    assert planned(render(parse(asked.text)), asked.catalog) == asked.plan


def its_outputs_are_typed_again_and_pass(asked: Asked) -> None:
    assert misfit(asked.plan) is None


def its_plan_is_read_back_from_its_json(asked: Asked) -> None:
    spelled = canonical_text(asked.plan)
    assert plan_of(as_json(asked.plan)) == asked.plan
    again = plan_of(json.loads(spelled))
    assert again == asked.plan
    assert canonical_text(again) == spelled
    assert digest(again) == digest(asked.plan)
    spelled.encode("ascii")


def its_digest_is_that_of_no_other_plan(asked: Asked) -> None:
    own = digest(asked.plan)
    assert PLANS.setdefault(own, asked.plan) == asked.plan
    assert DIGESTS.setdefault(asked.plan, own) == own
    assert digest(replace(asked.plan, offset=asked.plan.offset + 1)) != own


def it_lowers_to_a_core_plan_that_engines_take(asked: Asked) -> None:
    quote = price(asked.plan, asked.amount, asked.catalog)
    if quote.priced:
        parts = check_core(quote.lowered.core)
        assert len(quote.lowered.combinations) == len(quote.priced)
        used = {number for combination in quote.lowered.combinations for number, _ in combination.terms}
        if asked.noised:  # where keys or quantiles are selected, votes and histograms are read too
            assert used == set(range(len(parts.sums)))
        if not quote.lowered.chosen:
            assert len(parts.listed.keys) == quote.priced[0].reading.coordinates * (quote.priced[0].ask.among or 1)


def its_price_is_split_exactly(asked: Asked) -> None:
    """In epsilon alone, where no keys and no quantiles are selected."""
    if not asked.noised:
        return
    pure = replace(asked.catalog, epsilon=F(4), rho=F(0), delta=F(0))
    quote = price(asked.plan, asked.amount, pure)
    assert sum((one.epsilon for one in quote.priced), F(0)) == quote.epsilon
    assert quote.epsilon == (amount_of(pure, asked.amount).amount if quote.priced else 0)
    assert quote.delta == 0
    for one in quote.priced:
        assert one.mechanism.scale * one.epsilon == max(1, one.reading.l1)  # the loss is the share, exactly
        assert one.mechanism.loss(one.reading.l1).pure_epsilon() <= one.epsilon
    assert len({one.ask for one in quote.priced}) == len(quote.priced) == len(resolve(quote.plan).asks)


def what_is_charged_covers_the_losses(asked: Asked) -> None:
    """In a currency by lot: losses are worked out again from scales and sensitivities alone."""
    pure = {} if asked.quote.lowered.chosen else {"epsilon": F(4), "rho": F(0), "delta": F(0)}
    rho = {"epsilon": F(0), "rho": F(1, 2), "delta": F(1, 10**8)}
    money = asked.luck.choice((pure, {"epsilon": F(4), "rho": F(0), "delta": F(1, 10**6)}, rho))
    catalog, amount = replace(asked.catalog, **money), asked.luck.choice(AMOUNTS)
    quote = price(planned(asked.text, catalog), amount, catalog)
    assert covered(quote) or not (quote.priced and asked.noised)
    assert quote.cost <= amount
    assert quote.delta <= amount_of(catalog, amount).delta


def its_quote_for_machines_is_json(asked: Asked) -> None:
    said = json.loads(json.dumps(asked.quote.as_json(), allow_nan=False))
    assert set(said) - {"named"} == {
        "currency", "epsilon", "rho", "delta", "confidence", "selection", "readings", "error_bars", "keys", "plan",
        "paid_before", "cautions", "assumed", "cut"}


def noise_within_its_box_moves_no_value_beyond_its_bar(asked: Asked) -> None:
    """In exact rationals, for every output with a bar, over counts of at least `rows`."""
    quote, rows = price(asked.plan, F(1, 3), asked.catalog), asked.luck.choice((1, 50, 10**4))
    if not asked.noised:
        return
    found = {bar.title: bar for bar in bars(quote, rows)}
    true = noise_free(quote, asked.luck, least=rows)
    exact = finished_values(quote, true, shown=False)
    for number, output in enumerate(quote.plan.outputs):
        bar = found.get(output.title)
        if bar is None or bar.error is None:
            continue
        told = finished_values(quote, shifted(quote, true, asked.luck, output), shown=True)
        for one, other in zip(exact, told, strict=True):
            if one[number] is not None and other[number] is not None:
                assert abs(one[number] - other[number]) <= bar.error


def while_noise_is_within_its_boxes_the_interval_holds_the_noise_free_value(asked: Asked) -> None:
    quote = price(asked.plan, F(1, 3), asked.catalog)
    if not asked.noised:
        return
    true = noise_free(quote, asked.luck, least=asked.luck.choice((0, 0, 1000)))
    for output in quote.plan.outputs:
        noisy = shifted(quote, true, asked.luck, output)
        for exact, value in zip(views(quote, true, output), views(quote, noisy, output), strict=True):
            if not isinstance(exact, Interval) or not isinstance(value, Interval):
                continue
            if exact.value is None or value.value is None:
                continue
            assert value.low is None or value.low <= exact.value
            assert value.high is None or exact.value <= value.high
            cell = shown_cell(output, value)
            if isinstance(cell.value, int | float) and cell.error is not None and output.shown in ("whole", "number"):
                assert F(cell.low) <= exact.value <= F(cell.high)  # the doubles shown are rounded outward
                assert abs(F(cell.value) - exact.value) <= F(cell.error)


def no_integers_make_finish_or_the_answer_raise(asked: Asked) -> None:
    quote = price(asked.plan, asked.luck.choice((F(1, 3), F(1, 10**30), F(10) ** 300)), asked.catalog)
    if not asked.noised:
        return
    noisy = tuple(tuple(asked.luck.choice(HUGE) for _ in quote.lowered.keys) for _ in quote.priced)
    rows = finish(quote, seen(quote, noisy))
    for row in rows:
        for cell in row:
            for number in (cell.value, cell.error, cell.low, cell.high):
                assert not isinstance(number, float) or math.isfinite(number)
    shown = tuple(output.shown for output in quote.plan.outputs)
    titles = tuple(output.title for output in quote.plan.outputs)
    answer = Answer(titles, shown, rows, quote.confidence, (), quote.epsilon, F(0), F(4))
    core = answer.core_json()
    ledger_text(core)
    assert answer_of(core, total=F(4)).cells == rows
    str(answer).encode()
    answer._repr_html_().encode()
    answer.to_pandas()


def each_total_is_the_sum_of_the_groups_in_it(asked: Asked) -> None:
    """Of grouping sets: a row for each group of the set's own columns, of all that the others tell apart there."""
    quote, sets = price(asked.plan, F(1, 3), asked.catalog), asked.plan.sets
    if not sets or not asked.noised:
        return
    keys, true = quote.lowered.keys, noise_free(quote, asked.luck)
    heads = [[tuple(key[at] for at in kept) for key in keys] for kept in sets]
    within = [[number for number, own in enumerate(each) if own == head] for each in heads
              for head in dict.fromkeys(each)]
    found = with_sets(quote, seen(quote, true))
    assert found.added == tuple(map(len, within))
    assert len(found.keys) == len(within) == rows_of(asked.plan.source.source, sets)
    for one, values, told in zip(quote.priced, true, found.readings, strict=True):
        assert told == (values if one.ask.overall else tuple(sum(values[n] for n in some) for some in within))


def no_neighbour_moves_a_reading_further_than_it_claims(asked: Asked) -> None:
    """The heart law, and that every engine has the integers of the reference."""
    quote, world = asked.quote, asked.made
    found = [vectors(quote, Reference(tables).evaluate(quote.lowered.core)) for tables in world.tables]
    assert [words for one, other in world.pairs for words in moves(quote, found[one], found[other])] == []
    for engine in world.others:
        assert vectors(quote, engine.evaluate(quote.lowered.core)) == found[0]


def it_is_charged_as_quoted_once_and_its_receipt_holds_in_both_verifiers(asked: Asked) -> None:
    """With a ledger: what is quoted is charged, the answer and its receipt hold, and the same again is free."""
    money = {"rho": F(10**4), "epsilon": F(0)} if asked.catalog.rho else {"epsilon": F(10**4)}
    catalog = replace(asked.catalog, **money)
    opening = Opening(
        protects=catalog.protects, neighbours=catalog.neighbours, units=catalog.units, epsilon=catalog.epsilon,
        rho=catalog.rho, delta=catalog.delta, public_key=KEY.public,
    )
    curator = Curator(catalog, Ledger.open(MemoryStore(), opening), KEY, lambda: Reference(asked.made.tables[0]),
                      cut=asked.luck.random() < 0.5)
    budget = {catalog.currency: asked.luck.choice(AMOUNTS)}
    quote = curator.quote(asked.text, **budget)
    answer = curator.ask(asked.text, **budget)
    spent = curator.budget()
    assert (spent.spent, spent.spent_delta) == (quote.cost, quote.delta)
    assert dp.verify(answer.receipt, catalog=catalog, ledger=curator.ledger, answer=answer.as_json()).holds
    steps = standalone.file_steps(json.dumps(answer.as_json()).encode(), curator.key.public, None, [])
    catalog_alone = ("question", "only --catalog shows that")  # that a column is never missing: it was not given
    assert [step for step in steps if not step[1] and (step[0], step[2][:25]) != catalog_alone] == []
    assert curator.quote(asked.text, **budget).cost == 0
    again = curator.ask(asked.text, **budget)
    assert again.cells == answer.cells
    assert curator.budget() == spent


LAWS: tuple[Callable[[Asked], None], ...] = (
    the_text_it_is_rendered_as_has_the_same_plan, its_outputs_are_typed_again_and_pass,
    its_plan_is_read_back_from_its_json, its_digest_is_that_of_no_other_plan,
    it_lowers_to_a_core_plan_that_engines_take, its_price_is_split_exactly, what_is_charged_covers_the_losses,
    its_quote_for_machines_is_json, noise_within_its_box_moves_no_value_beyond_its_bar,
    while_noise_is_within_its_boxes_the_interval_holds_the_noise_free_value,
    no_integers_make_finish_or_the_answer_raise, each_total_is_the_sum_of_the_groups_in_it,
    no_neighbour_moves_a_reading_further_than_it_claims,
    it_is_charged_as_quoted_once_and_its_receipt_holds_in_both_verifiers,
)


def broken(one: Asked) -> list[str]:
    """The laws that the question breaks, and how."""
    found = []
    for law in LAWS:
        try:
            law(replace(one, luck=random.Random(f"{one.text} {law.__name__}")))
        except Exception as error:
            told = f"{one.made.name}: {one.text} [{one.amount}]"
            found.append(f"{law.__name__}: {told}: {type(error).__name__}: {error}")
    return found


@pytest.mark.parametrize("part", range(PARTS))
def test_every_law_holds_of_every_question(part, tries, record_property):
    neighbours = 0
    for number in range(tries):
        world = made(PARTS * number + part)
        luck = random.Random(f"questions {world.name}")
        for _ in range(EACH):
            neighbours += len(world.pairs)
            assert broken(asked(world, luck)) == []
    record_property("neighbours", neighbours)


def test_a_law_that_is_broken_is_named_with_its_question(monkeypatch):
    """A control: noise far beyond its box breaks the law of bars, and no other."""
    import noises

    monkeypatch.setattr(noises, "beta_of", lambda quote, part: F(1, 10**40))
    text = "SELECT city, COUNT(*) FROM visits GROUP BY city"
    found = [words for number in range(4) for words in broken(_fixed(text + f" LIMIT {number}"))]
    assert {words.split(":")[0] for words in found} == {"noise_within_its_box_moves_no_value_beyond_its_bar"}
    assert text in found[0]


def _fixed(text: str) -> Asked:
    plan = planned(text)
    return Asked(every_type(0, CATALOG), text, plan, F(1, 3), price(plan, F(1, 3), CATALOG), random.Random(text))


def _another(question, right=render):
    return right(question).replace("3", "4")


def _later(told, right=plan_of):
    return replace(right(told), offset=right(told).offset + 1)


def _halved(*given, right=price):
    one = right(*given)
    return replace(one, epsilon=one.epsilon / 2, rho=one.rho / 2)


def _narrow(quote, noisy, output, right=views):
    return [one if not isinstance(one, Interval) else Interval(one.value, one.value, one.value)
            for one in right(quote, noisy, output)]


def _endless(quote, noisy, right=finish):
    return tuple(tuple(replace(cell, error=math.inf) for cell in row) for row in right(quote, noisy))


def _of_outputs(asked):
    first, *others = asked.plan.outputs
    return replace(asked, plan=replace(asked.plan, outputs=(replace(first, shown="integer"), *others)))


def _uncombined(*given, right=price):
    quote = right(*given)
    return replace(quote, lowered=replace(quote.lowered, combinations=quote.lowered.combinations[1:]))


def _dearer(*given, right=price):
    quote = right(*given)
    return replace(quote, epsilon=quote.epsilon + F(1, 10**60))


def _strangers(asked):
    """Two tables of which none is the other without one unit: one has forty units, the other no row."""
    names = asked.made.tables[0]["t0"]
    units = [f"u{number}" for number in range(40)]
    many = {"t0": {name: [None] * 40 for name in names} | {"c0": units, "c1": ["Hull"] * 40, "c2": [110] * 40}}
    none = {"t0": {name: [] for name in names}}
    return replace(asked, made=replace(asked.made, tables=(many, none), pairs=((0, 1),)))


def _one_group_short(quote, noisy, right=with_sets):
    return right(quote, replace(noisy, readings=tuple((0, *values[1:]) for values in noisy.readings)))


class _Lying(Curator):
    """A curator that shows another number than the one its receipt is of."""

    def ask(self, *given, **price):
        told = super().ask(*given, **price)
        (first, *cells), *rows = told.cells
        return replace(told, cells=((first, *(replace(cell, value=7) for cell in cells)), *rows))


class _Silent:
    """A quote that says nothing to machines."""

    def as_json(self):
        return {}


MISTAKES = {  # a law, and what breaks it: a name here put in place of the right one, or a change of what is asked
    "the_text_it_is_rendered_as_has_the_same_plan": ("render", _another),
    "its_outputs_are_typed_again_and_pass": (None, _of_outputs),
    "its_plan_is_read_back_from_its_json": ("plan_of", _later),
    "its_digest_is_that_of_no_other_plan": ("digest", lambda plan: "0" * 64),
    "it_lowers_to_a_core_plan_that_engines_take": ("price", _uncombined),
    "its_price_is_split_exactly": ("price", _dearer),
    "what_is_charged_covers_the_losses": ("price", _halved),
    "its_quote_for_machines_is_json": (None, lambda asked: replace(asked, quote=_Silent())),
    "while_noise_is_within_its_boxes_the_interval_holds_the_noise_free_value": ("views", _narrow),
    "no_integers_make_finish_or_the_answer_raise": ("finish", _endless),
    "each_total_is_the_sum_of_the_groups_in_it": ("with_sets", _one_group_short),
    "no_neighbour_moves_a_reading_further_than_it_claims": (None, _strangers),
    "it_is_charged_as_quoted_once_and_its_receipt_holds_in_both_verifiers": ("Curator", _Lying),
}


@pytest.mark.parametrize("law", MISTAKES)
def test_each_law_fails_where_it_is_broken(law, monkeypatch):
    """Controls: each law is broken by a mistake of its own, and holds of the same question without it."""
    text = "SELECT city, COUNT(*) AS n, SUM(age) AS s FROM visits WHERE age > 3 GROUP BY city"
    if "total" in law:
        text = text.replace("GROUP BY city", "GROUP BY ROLLUP(city)")
    (own,) = [one for one in LAWS if one.__name__ == law]
    own(_fixed(text))
    name, wrong = MISTAKES[law]
    given = _fixed(text) if name else wrong(_fixed(text))
    if name:
        monkeypatch.setitem(globals(), name, wrong)

    def tried() -> None:
        for _ in range(20):
            own(given)

    with pytest.raises((AssertionError, ValueError)):
        tried()


def test_every_law_has_a_control():
    bars = "noise_within_its_box_moves_no_value_beyond_its_bar"  # in the control of its own above
    assert {law.__name__ for law in LAWS} == {*MISTAKES, bars}


def test_the_generator_reaches_what_it_should():
    """Every aggregate, relation and kind of condition; how much of it is answered is counted in tests of break_me."""
    wanted = {*OF_NUMBERS, *OF_PAIRS, *ORDERED, *NAMING, "MODE(", "COUNT(*)",
              "COUNT(DISTINCT", "COUNT_IF(", "FILTER", "WITH_OTHER",
              "HAVING", "LIMIT", "ROLLUP(", "CUBE(", "GROUPING SETS (", "GROUPING(",
              "CASE", "CAST(", "LIKE", "EXTRACT(", "NOT IN (SELECT", "EXISTS (SELECT",
              "UNION ALL", "ROW_NUMBER()", "QUALIFY", "LEFT JOIN", "RIGHT JOIN", "WITH r", "ARG_MIN", "BOOL_OR", "MAX(",
              'JOIN "places"', 'FROM "places"'}
    met: Counter[str] = Counter()
    for seed in range(8 * len(KINDS)):
        catalog, luck = made(seed).catalog, random.Random(f"reach {seed}")
        private = [table for table in catalog.tables if table.private]
        for _ in range(40):
            text = question(luck, luck.choice(private), catalog.tables if luck.random() < 0.5 else ()).text
            met.update(word for word in wanted if word in text)
    assert [word for word in wanted if not met[word]] == []
