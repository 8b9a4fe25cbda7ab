"""Error bars before paying: what the parameters alone imply (semantics 7.1).

Each aggregate says how far noise can move its value (`aggregates/aggregate.py`). For a count or a sum no data changes
that; for an average it holds 'in a group of N rows' only. Sums, differences and fixed multiples of these follow;
anything else depends on the data, and its bar is None until the answer. Of an answer with totals it is the widest that
a value of the column has. Checked in tests/pricing/test_bars.py and tests/curator/test_sets.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from dpcurator.numbers.display import nearest_double
from dpcurator.numbers.readable import readable
from dpcurator.plan.most_common import names_of, sorted_by_counts
from dpcurator.plan.nodes import Apply, Given, Key, Output, Plan, Post, Result
from dpcurator.plan.relation_facts import rows_known
from dpcurator.plan.sets import most_added
from dpcurator.pricing.resolve import PricedCall, Resolved

if TYPE_CHECKING:
    from dpcurator.catalog.model import Catalog
    from dpcurator.pricing.priced import Priced
    from dpcurator.pricing.quote import Quote


ROWS: Final = 10_000  # of a group, where neither the catalog nor the analyst says how many


@dataclass(frozen=True, slots=True)
class Bar:
    """A column's error bar: `error` in its unit, or None when it depends on the data; `rows`: true for groups of N.

    rank: of a quantile, by how many rows its candidate may miss it, in place of `error`."""

    title: str
    error: Fraction | None
    rows: int | None
    rank: Fraction | None = None

    __repr__ = readable

    def as_json(self) -> dict[str, Any]:
        error = None if self.error is None else nearest_double(self.error)
        exact = None if self.error is None else str(self.error)
        told = {"column": self.title, "error": error, "exact": exact, "group_of": self.rows}
        return told if self.rank is None else told | {"rank": nearest_double(self.rank), "rank_exact": str(self.rank)}


def expected_rows(plan: Plan, catalog: Catalog) -> int:
    """A public guess of the rows of a group, for averages; ROWS where the catalog says none."""
    return rows_known(plan, catalog) or ROWS


def bars(quote: Quote, rows: int | None = None) -> tuple[Bar, ...]:
    """One bar per column of the answer that is not a key. rows: of a group, for averages; None: as the quote's analyst
    assumed, or else as the catalog says to expect."""
    of = rows or quote.rows or expected_rows(quote.plan, quote.catalog)
    return tuple(bar(quote, output, of) for output in quote.plan.outputs
                 if results(output.part) or _is_name(quote, output))


def bar(quote: Quote, output: Output, rows: int) -> Bar:
    """The bar of one column; the probability that any noise it rests on passes its share is 1 - confidence in all."""
    if _is_name(quote, output):
        return Bar(output.title, None, None, rank_of(quote, output, {}))
    used, errors = readings_of(quote, output.part), errors_of(quote, output.part)
    of = Resolved(quote.reach, tuple(one.ask for one in quote.priced), quote.calls)
    widths = tuple(one.steps.width() for one in quote.priced)
    spread, needed = spread_of(output.part, of, widths, errors, None), None
    if spread is None:
        spread, needed = spread_of(output.part, of, widths, errors, Fraction(rows)), rows
    if spread is None:
        return Bar(output.title, None, None, rank_of(quote, output, errors))
    if output.shown == "whole" and any(one.reading.unit != 1 for one in used):
        spread += Fraction(1, 2)  # a noisy count is shown as the nearest whole number
    return Bar(output.title, spread, needed)


def rank_of(quote: Quote, output: Output, errors: Mapping[int, Fraction]) -> Fraction | None:
    """Of a column that is a quantile itself, and no expression of one: the error of its one choice, in rows. Of names
    of the greatest: how many rows a group that is not named may have more, for all of them at once."""
    if _is_name(quote, output):
        return next(one.error(1 - quote.confidence) for one in quote.priced if one.ask.top is not None)
    if not isinstance(output.part, Result) or not quote.calls[output.part.index].rule.ranked:
        return None
    places = quote.calls[output.part.index].readings
    return errors[places[0]] if places else None


def _is_name(quote: Quote, output: Output) -> bool:
    named = isinstance(output.part, Key) and output.part.index in names_of(quote.plan)
    return named and any(one.ask.top is not None for one in quote.priced)


def results(part: Post) -> tuple[int, ...]:
    """The aggregate calls an expression rests on."""
    if isinstance(part, Result):
        return (part.index,)
    if isinstance(part, Apply):
        return tuple(dict.fromkeys(i for inner in part.parts for i in results(inner)))
    return ()


def readings_of(quote: Quote, part: Post) -> tuple[Priced, ...]:
    """The paid readings an expression rests on, each once."""
    return tuple(quote.priced[place] for place in places_of(quote.calls, part))


def places_of(calls: Sequence[PricedCall], part: Post) -> tuple[int, ...]:
    """Their numbers, in order."""
    return tuple(sorted({place for index in results(part) for place in calls[index].readings}))


def beta_of(quote: Quote, part: Post) -> Fraction:
    """The probability that the noise of one of these readings may pass its error: an equal share of 1 - confidence."""
    return (1 - quote.confidence) / max(1, len(readings_of(quote, part)))


def errors_of(quote: Quote, part: Post) -> dict[int, Fraction]:
    """Of each paid reading that an expression rests on, by its number: what its noise passes with that probability;
    where the answer has totals, that of the total of most groups."""
    used, beta = places_of(quote.calls, part), beta_of(quote, part)
    added = most_added(quote.plan) if quote.plan.sets else 1
    return {place: quote.priced[place].error(beta, added=added) for place in used}


def spread_of(
    part: Post, of: Resolved, widths: Sequence[Fraction], errors: Mapping[int, Fraction], rows: Fraction | None
) -> Fraction | None:
    """How far an expression moves when each reading moves by at most its error; None where the data decides.

    widths: of each reading, U - L of what it adds up as it is measured.
    """

    def inside(inner: Post) -> Fraction | None:
        return spread_of(inner, of, widths, errors, rows)

    match part:
        case Given() | Key():
            return Fraction(0)
        case Result(index):
            return _call_spread(of.calls[index], of, widths, errors, rows)
        case Apply("NEG" | "ABS", (inner,)):
            return inside(inner)
        case Apply("+" | "-", (left, right)):
            one, other = inside(left), inside(right)
            return None if one is None or other is None else one + other
        case Apply("*", (Given(Fraction() as factor), inner) | (inner, Given(Fraction() as factor))):
            spread = inside(inner)
            return None if spread is None else abs(factor) * spread
        case Apply("/", (inner, Given(Fraction() as divisor))) if divisor:
            spread = inside(inner)
            return None if spread is None else spread / abs(divisor)
        case Apply("ROUND", (inner, *places)):
            spread = inside(inner)
            return _rounded(spread, Fraction(10) ** -_places(places)) if spread else spread
    return None


def _rounded(spread: Fraction, unit: Fraction) -> Fraction:
    """How far two numbers within `spread` can be once both are rounded to multiples of `unit`: 0.4 and 0.6 are 1."""
    return (spread // unit + 1) * unit


def _places(places: list[Post]) -> int:
    given = places[0] if places else Given(Fraction(0))
    match given:
        case Given(Fraction() as value):
            return int(value)
        case Apply("NEG", (Given(Fraction() as value),)):
            return -int(value)
    return 0


def _call_spread(
    one: PricedCall, of: Resolved, widths: Sequence[Fraction], errors: Mapping[int, Fraction], rows: Fraction | None
) -> Fraction | None:
    if not one.readings:
        return Fraction(0)
    own = tuple(widths[place] for place in one.readings)
    return one.rule.bar(tuple(errors[place] for place in one.readings), own, one.call.column, of.reach, rows)


def describe(found: Bar) -> str:
    """'+-360', or '+-9.9 in a group of 10,000 rows', or 'depends on the data'."""
    from dpcurator.numbers.display import error_text

    if found.rank is not None:
        return f"rank ±{error_text(found.rank)}"
    if found.error is None:
        return "depends on the data"
    group = f" in a group of {found.rows:,} rows" if found.rows is not None else ""
    return f"±{error_text(found.error)}{group}"


def told_of_names(quote: Quote) -> str | None:
    """How the names of the most frequent are found, and why so: from public facts. None where none are asked for."""
    from dpcurator.numbers.display import error_text

    error = next((one.error(1 - quote.confidence) for one in quote.priced if one.ask.top is not None), None)
    if error is not None:
        return ("names are chosen by the counts without releasing them, which has less noise than to count every "
                f"group: a group that is not named may have up to {error_text(error)} more rows than one that is")
    if not sorted_by_counts(quote.plan) or not quote.priced:
        return None
    call = quote.plan.order[0].part
    assert isinstance(call, Result)
    counted = quote.priced[quote.calls[call.index].readings[0]]
    how = f"the order is that of noisy counts of all groups, ±{error_text(counted.error(1 - quote.confidence))} each"
    if quote.held is not None and quote.held.all:
        return f"{how}, which were paid before"
    if quote.reach.chosen:
        return (f"groups are not listed: those that exist are found first, by their number of "
                f"{quote.catalog.protects}; {how}")
    return f"{how}: naming so many without their counts would have more noise"
