"""An answer beside its receipt: the one whose hash was signed, with values that its plan can have, and what is printed
beside both.

The hash alone would hold any answer that was signed; columns, notes, rows and intervals follow from the plan, error
bars of counts and sums from the noise, and of a public answer all values follow from plan and catalog. Cost, currency
and budget are the receipt's. Checked in tests/receipts/test_verify.py, tests/receipts/test_printed.py and
tests/attacks/test_adversary_surface.py.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Final

from dpcurator.aggregates import rule_of
from dpcurator.aggregates.aggregate import bar_of_one_reading
from dpcurator.catalog.model import Catalog
from dpcurator.ledger.keys import canonical
from dpcurator.mechanisms import DiscreteGaussian, DiscreteLaplace
from dpcurator.mechanisms.noise.sums import MOST, error_of_sum
from dpcurator.numbers import decimal_text
from dpcurator.plan.check_catalog import disagreement
from dpcurator.plan.most_common import names_of
from dpcurator.plan.nodes import Apply, Key, Output, Plan, Result
from dpcurator.plan.relation_facts import table_of
from dpcurator.plan.ruled_out import keys_meant
from dpcurator.plan.sets import rows_of
from dpcurator.pricing.cut import reason
from dpcurator.pricing.noise import Mechanism
from dpcurator.pricing.quote import price
from dpcurator.receipts.earlier_notes import earlier_notes
from dpcurator.receipts.form import Parsed, amount_of, require
from dpcurator.receipts.loss import law_of
from dpcurator.receipts.receipt import sha
from dpcurator.release.cells import shown_cell
from dpcurator.release.cut import Cut
from dpcurator.release.finish import finish
from dpcurator.release.notes import notes
from dpcurator.values import Cell, Json

CORE: Final = ("columns", "shown", "rows", "confidence", "notes")  # what the receipt's hash covers
CUT: Final = "cut"  # and this, where the answer has one
BESIDE: Final = ("currency", "cost", "spent", "budget", "left", "repeated", "made_up", "receipt")  # printed with it

WITHIN: Final = "within_bar"  # and this, which earlier versions did not print
TOTALS: Final = "totals"  # and these, where they were asked for; nothing signs them


def is_printed(content: Any) -> bool:
    """Whether it is an answer, with its receipt or without, rather than a receipt."""
    return isinstance(content, dict) and not {*CORE, *BESIDE}.isdisjoint(content) and "format" not in content


def core_of(answer: Json) -> Json:
    core = {name: answer.get(name) for name in CORE}
    return core | {CUT: answer[CUT]} if CUT in answer else core


def check_answer(told: Parsed, answer: Json, catalog: Catalog | None) -> str:
    """It is the answer whose hash was signed; its columns, confidence, notes and rows are such as its plan has."""
    receipt, plan = told.receipt, told.plan
    require(sha(answer) == receipt["answer_sha256"], "the answer's values differ from what the receipt says")
    titles, ways = [output.title for output in plan.outputs], [output.shown for output in plan.outputs]
    require((answer["columns"], answer["shown"]) == (titles, ways), "the answer has other columns than the plan")
    require(answer["confidence"] == receipt["confidence"], "the answer has another confidence than was paid for")
    level = amount_of(receipt["confidence"])
    now = [notes(plan, told.reach, level, receipt["protects"], sql=sql, whole=whole)
           for sql in (True, False) for whole in (True, False)]
    _cut(told, answer)
    said = (*now, *earlier_notes(plan, told.reach, level))
    require(answer["notes"] in list(map(list, said)), "the answer's notes are not those of its plan")
    rows, source = answer["rows"], plan.source.source
    require(plan.limit is None or len(rows) <= plan.limit, "the answer has more rows than LIMIT lets through")
    if source.listed:
        most = max(0, rows_of(source, plan.sets) - plan.offset)
        most = most if plan.limit is None else min(most, plan.limit)
        require(len(rows) == most or (plan.having is not None and len(rows) < most), "the answer has other rows")
    for row in rows:
        require(len(row) == len(titles) and all(map(_cell, row, ways)), "a value of the answer is malformed")
    _others(plan, rows)
    known = catalog is not None and not told.public and disagreement(plan, catalog) is None
    _bars(told, rows, catalog if known else None)
    if catalog is not None and known:
        _listed(plan, rows, catalog)
    if told.public and catalog is not None:
        require(disagreement(plan, catalog) is None, "the plan is not the catalog's")
        quote = price(plan, catalog.budget, catalog, confidence=amount_of(receipt["confidence"]))
        found = [[cell.as_json() for cell in row] for row in finish(quote, None)]
        require(canonical(found) == canonical(rows), "the values are not those that follow from the catalog")
        return "the answer's values are those of the receipt, and follow from the catalog"
    return "the answer's values are those of the receipt"


def _cut(told: Parsed, answer: Json) -> None:
    """The cut that the answer tells of has the error bars of its noise, in the words of its plan."""
    found = [(ask, claim) for ask, claim in told.claims if ask.overall] if not told.public else []
    require(bool(found) == (CUT in answer), "it tells of units that were cut, or not, unlike its plan")
    if not found:
        return
    cut, beta = Cut(**answer[CUT]), 1 - amount_of(told.receipt["confidence"])
    errors = [law_of(claim).error(beta) for _, claim in found]
    public = told.reach.public_count()
    require(all(type(one) is int for one in (cut.over, cut.units)), "its number of units is none")
    require(len(found) == 2 or (cut.units, cut.units_error) == (public, 0), "its number of units is another")
    bars = [cut.over_error, cut.units_error][: len(found)]
    require(bars == errors, "an error bar of its cut is not that of its noise")
    told_of = (told.receipt["protects"], reason(found[0][0], told.plan))
    require((cut.protects, cut.reason) == told_of, "its cut is of other units, or for another reason")


def _listed(plan: Plan, rows: list[list[Json]], catalog: Catalog) -> None:
    """The keys of an answer are those that the catalog lists, each once, in their order where the question has none."""
    grouped = plan.source.source
    shown = [(place, output, output.part.index) for place, output in enumerate(plan.outputs)
             if isinstance(output.part, Key)]
    if not grouped.listed or not shown:
        return
    table = table_of(plan, catalog)
    lists = [keys_meant(column, table, grouped.source) or () for column in grouped.columns]
    known = [{canonical(shown_cell(output, value).as_json()): n for n, value in enumerate(lists[index])}
             for _, output, index in shown]
    ranks = []  # of each key in canonical order, where all of it is shown
    for row in rows:
        if any(cell.get("other") for cell in row):
            continue
        found = {(index, numbers.get(canonical({part: one for part, one in row[place].items() if part != "rank"})))
                 for (place, _, index), numbers in zip(shown, known, strict=True)
                 if not (plan.sets and row[place] == Cell(None).as_json())}  # a total's
        require(all(number is not None for _, number in found), "the answer has keys that the catalog does not list")
        require(len(found) == len(dict(found)), "the answer has a key in two ways")
        rank = 0
        for index, one in enumerate(lists):
            rank = rank * len(one) + (dict(found).get(index) or 0)
        ranks.append(rank)
    if plan.sets or {index for *_, index in shown} != set(range(len(lists))):
        return  # which totals there are is worked out again from the ledger's noisy numbers
    require(len(set(ranks)) == len(ranks), "the answer has a key twice")
    whole = plan.having is not None or ranks == list(range(plan.offset, plan.offset + len(ranks)))
    in_order = bool(plan.order) or (ranks == sorted(ranks) and whole)
    require(in_order, "the keys of the answer are not those of the catalog in their order")


def _others(plan: Plan, rows: list[list[Json]]) -> None:
    """A plan with one more row for all keys that are not shown has it once, each of its keys marked; others have none.

    Without a key among its columns no row of the answer can be told from another.
    """
    keyed = [isinstance(output.part, Key) for output in plan.outputs]
    marked = [[cell.get("other", False) for cell in row] for row in rows]
    count = sum(map(any, marked))
    whole = all(flags == keyed for flags in marked if any(flags))
    empty = all(cell["value"] is None for row in rows for cell in row if cell.get("other", False))
    require(whole and empty and count <= plan.source.source.other, "a row stands for other keys that its plan has not")
    cut = plan.having is not None or plan.limit is not None or plan.offset
    require(
        bool(count or cut or not plan.source.source.other or not any(keyed)), "the row of all other keys is missing"
    )


def _call_of(plan: Plan, output: Output) -> int | None:
    """The aggregate call that a column is, where it is no more and its value is its one reading: a count or a sum."""
    if not isinstance(output.part, Result):
        return None
    index = output.part.index
    return index if rule_of(plan.calls[index]).bar is bar_of_one_reading else None


def _rank(told: Parsed, index: int) -> float | None:
    """Of a key that is named as one of the greatest, its bar as an answer shows it; None of any other."""
    beta = 1 - amount_of(told.receipt["confidence"])
    errors = [law_of(claim).error(beta) * amount_of(claim["unit"]) for ask, claim in told.claims if ask.top is not None]
    if not errors or index not in names_of(told.plan):
        return None
    return shown_cell(Output("", Key(index), "integer"), None, errors[0]).rank


def _bars(told: Parsed, rows: list[list[Json]], catalog: Catalog | None) -> None:
    """A count or a sum is x within x - e and x + e, for the error e of its noise, of a total that of so many draws as
    it adds up; ends are rounded outward alone.

    One that public facts give is the number that they give.
    """
    added = _groups_added(told.plan, rows, catalog)
    for place, output in enumerate(told.plan.outputs):
        if isinstance(output.part, Key) and not told.public and rows:
            rank = _rank(told, output.part.index)
            require(all(row[place].get("rank") == rank for row in rows), "a name's bar in rank is another")
        index = _call_of(told.plan, output)
        if index is None or told.public or not rows:
            continue
        call = told.resolved.calls[index]
        if not call.readings:
            known = shown_cell(output, call.rule.finish((), call.call.column, told.reach)).as_json()
            require(all(row[place] == known for row in rows), "a number that public facts give is another")
            continue
        claim, beta = told.claims[call.readings[0]][1], 1 - amount_of(told.receipt["confidence"])
        errors = {count: _error(law_of(claim), count, beta) * Fraction(claim["unit"]) for count in set(added)}
        for row, error in zip(rows, map(errors.__getitem__, added), strict=True):
            low, high, shown = (row[place][name] for name in ("low", "high", "error"))
            wide = None in (low, high) or Fraction(high) - Fraction(low) >= 2 * error
            require(wide and (shown is None or shown >= error), "an error bar is narrower than its noise")


def _error(law: Mechanism, count: int, beta: Fraction) -> int | Fraction:
    require(count <= MOST, "a total adds up more groups than any answer has")
    return error_of_sum(law, count, beta) if isinstance(law, DiscreteLaplace | DiscreteGaussian) else law.error(beta)


def _groups_added(plan: Plan, rows: list[list[Json]], catalog: Catalog | None) -> list[int]:
    """Of how many groups each row is the total: the fewest that it can be, where its columns do not tell.

    A row of a set has no value for what that set leaves out, nor for a missing key that is listed, as the catalog may
    tell; GROUPING tells which it is."""
    columns, keys = plan.source.source.columns, [
        (place, output.part.index) for place, output in enumerate(plan.outputs) if isinstance(output.part, Key)]
    marks = [(place, [one.index for one in output.part.parts if isinstance(one, Key)])
             for place, output in enumerate(plan.outputs)
             if isinstance(output.part, Apply) and output.part.op == "GROUPING"]
    table = None if catalog is None else table_of(plan, catalog)
    source = plan.source.source.source
    listed = [table is None or None in (keys_meant(one, table, source) or (None,)) for one in columns]

    def fits(row: list[Json], kept: tuple[int, ...]) -> bool:
        empty = all(row[place]["value"] is None or index in kept for place, index in keys)
        whole = all(row[place]["value"] is not None or index not in kept or listed[index] for place, index in keys)
        return empty and whole and all(
            row[place]["value"] == sum(2**bit for bit, index in enumerate(reversed(of)) if index not in kept)
            for place, of in marks)

    sizes = [(kept, math.prod(one.count or 1 for at, one in enumerate(columns) if at not in kept))
             for kept in plan.sets]
    return [min((size for kept, size in sizes if fits(row, kept)), default=1) for row in rows]


def _cell(cell: Json, way: str) -> bool:
    """Whether it is a value as its column shows them, within its interval."""
    value, ends = cell["value"], (cell["error"], cell["low"], cell["high"])
    kinds = {"whole": (int,), "number": (float,), "integer": (int,), "float": (float,), "truth": (bool,),
             "boolean": (bool,), "date": (str, int), "timestamp": (str, int)}
    if Cell(**cell).as_json() != cell or not all(end is None or type(end) is float for end in ends):
        return False
    if way not in ("whole", "number"):
        return ends == (None, None, None) and (value is None or type(value) in kinds.get(way, (str,)))
    if value is None:
        return ends[0] is None
    error, low, high = ends
    within = (low is None or low <= value) and (high is None or value <= high)
    return type(value) in kinds[way] and (within or way == "whole") and (error is None or error >= 0)


def check_beside(told: Parsed, answer: Json, catalog: Catalog | None) -> str:
    """What is printed beside an answer and its receipt is what the receipt says; `unchecked` names the rest."""
    unknown, lost = sorted(set(answer) - {*CORE, CUT, *BESIDE, WITHIN, TOTALS}), sorted({*CORE, *BESIDE} - set(answer))
    require(not unknown, f"no answer has a field {unknown[:1]}")
    require(not lost, f"the answer lacks its field {lost[:1]}")
    require(answer["receipt"] == told.receipt, "it has another receipt beside it")
    require(answer["made_up"] is False, "it says of itself that it is made up, and a receipt is of data")
    require(type(answer["repeated"]) is bool, "whether it is a repeat is not said")
    within = [[Cell(**cell).within_bar for cell in row] for row in answer["rows"]]
    require(answer.get(WITHIN, within) == within, "other values are marked as smaller than their error bars")
    currency = told.currency
    said: Json = {"currency": currency, "cost": decimal_text(told.costs[currency]) if told.charged else "0"}
    if told.charged:
        said["budget"] = decimal_text(told.budget)
        if not answer["repeated"]:
            said |= dict(zip(("spent", "left"), map(decimal_text, told.standing), strict=True))
    elif catalog is not None:
        said["budget"] = decimal_text(catalog.budget)
    for name, value in said.items():
        require(answer[name] == value, f"{name} beside the receipt is not the {value} of the receipt")
    require(all(isinstance(answer[name], str) for name in ("budget", "spent", "left")), "an amount is no text")
    return f"{', '.join(said)} beside the receipt are what it says"


def unchecked(told: Parsed, answer: Json, catalog: Catalog | None) -> list[str]:
    """What nothing here tells of a printed answer."""
    found = ["repeated (whether it had been paid for before)"]
    found += ["totals (no receipt is of them; asked again they are free)"] if TOTALS in answer else []
    if not told.charged:
        what = "a public answer" if told.public else "an answer that cost nothing"
        found += [f"spent and left (where the ledger stood when {what} was printed)"]
        values = ", and the values of a public answer" if told.public else ""
        found += [] if catalog is not None else [f"budget{values} (give the catalog)"]
    elif answer.get("repeated"):
        found += ["spent and left (where the ledger stood when it was printed again)"]
    if not told.public and any(
        output.shown in ("whole", "number") and _call_of(told.plan, output) is None for output in told.plan.outputs
    ):
        found += ["error bars of averages and of expressions (whether they are those of the noise)"]
    return found
