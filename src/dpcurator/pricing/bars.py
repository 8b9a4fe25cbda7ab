"""Error bars before paying: what the parameters alone imply (semantics 7.1).

A count or a sum has an error bar that no data can change. An average has one only 'in a group of N rows':
|C'/(2n') - C/(2n)| <= (e_C + W e_n)/(2(N - e_n)) when the noise of C and n stays within e_C and e_n, the group has at
least N rows and |C| <= W n. Sums, differences and fixed multiples of these follow; anything else depends on the data,
and its bar is None until the answer. Checked in tests/pricing/test_bars.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpcurator.aggregates import rule_of
from dpcurator.numbers import decimal_text
from dpcurator.numbers.display import nearest_double
from dpcurator.plan.nodes import AggregateCall, Apply, Given, Key, Output, Post, Result
from dpcurator.pricing.quote import Priced, Quote


@dataclass(frozen=True, slots=True)
class Bar:
    """A column's error bar: `error` in its unit, or None when it depends on the data; `rows`: true for groups of N."""

    title: str
    error: Fraction | None
    rows: int | None

    def as_json(self) -> dict[str, Any]:
        error = None if self.error is None else nearest_double(self.error)
        exact = None if self.error is None else str(self.error)
        return {"column": self.title, "error": error, "exact": exact, "group_of": self.rows}


def bars(quote: Quote, rows: int = 10_000) -> tuple[Bar, ...]:
    """One bar per column of the answer that is not a key."""
    return tuple(bar(quote, output, rows) for output in quote.plan.outputs if results(output.part))


def bar(quote: Quote, output: Output, rows: int) -> Bar:
    """The bar of one column; the chance that any noise it rests on passes its share is 1 - confidence in all."""
    used = readings_of(quote, output.part)
    beta = (1 - quote.confidence) / max(1, len(used))
    spread = _spread(output.part, quote, beta, Fraction(rows))
    if spread is not None and output.shown == "whole" and any(one.reading.unit != 1 for one in used):
        spread += Fraction(1, 2)  # a noisy count is shown as the nearest whole number
    needs_rows = any(_rests_on_count(quote, quote.plan.calls[i]) for i in results(output.part))
    return Bar(output.title, spread, rows if needs_rows and spread is not None else None)


def results(part: Post) -> tuple[int, ...]:
    """The aggregate calls an expression rests on."""
    if isinstance(part, Result):
        return (part.index,)
    if isinstance(part, Apply):
        return tuple(dict.fromkeys(i for inner in part.parts for i in results(inner)))
    return ()


def readings_of(quote: Quote, part: Post) -> tuple[Priced, ...]:
    """The paid readings an expression rests on, each once."""
    calls = [quote.plan.calls[i] for i in results(part)]
    asks = {ask for call in calls for ask in rule_of(call).asks(call.column, quote.reach)}
    return tuple(one for one in quote.priced if one.ask in asks)


def _spread(part: Post, quote: Quote, beta: Fraction, rows: Fraction) -> Fraction | None:
    match part:
        case Given() | Key():
            return Fraction(0)
        case Result(index):
            return _call_spread(quote.plan.calls[index], quote, beta, rows)
        case Apply("NEG" | "ABS", (inner,)):
            return _spread(inner, quote, beta, rows)
        case Apply("+" | "-", (left, right)):
            one, other = _spread(left, quote, beta, rows), _spread(right, quote, beta, rows)
            return None if one is None or other is None else one + other
        case Apply("*", (Given(Fraction() as factor), inner) | (inner, Given(Fraction() as factor))):
            spread = _spread(inner, quote, beta, rows)
            return None if spread is None else abs(factor) * spread
        case Apply("/", (inner, Given(Fraction() as divisor))) if divisor:
            spread = _spread(inner, quote, beta, rows)
            return None if spread is None else spread / abs(divisor)
        case Apply("ROUND", (inner, *places)):
            spread = _spread(inner, quote, beta, rows)
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


def _rests_on_count(quote: Quote, call: AggregateCall) -> bool:
    """Whether it is an average divided by a noisy count, not by a public n."""
    return call.function == "AVG" and len(rule_of(call).asks(call.column, quote.reach)) == 2


def _call_spread(call: AggregateCall, quote: Quote, beta: Fraction, rows: Fraction) -> Fraction | None:
    paid = {one.ask: one for one in quote.priced}
    asks = [ask for ask in rule_of(call).asks(call.column, quote.reach) if ask in paid]
    if not asks:
        return Fraction(0)
    errors = {ask: paid[ask].error(beta) for ask in asks}
    if call.function != "AVG" or call.column is None or call.column.lower is None or call.column.upper is None:
        return sum((errors[ask] for ask in asks), Fraction(0))
    measured = paid[asks[0]].steps  # rounding to the grid may widen the bounds by a step
    width = max(call.column.upper - call.column.lower, measured.width())
    if not _rests_on_count(quote, call):
        divisor = (quote.reach.units or 1) * (2 if asks[0].what == "centred" else 1)
        return min(width, errors[asks[0]] / divisor)
    centred, count = (errors[ask] for ask in asks)
    if rows <= count:
        return width
    return min(width, (centred + width * count) / (2 * (rows - count)))


def describe(found: Bar) -> str:
    """'+-360', or '+-9.9 in a group of 10,000 rows', or 'depends on the data'."""
    from dpcurator.numbers.display import error_text

    if found.error is None:
        return "depends on the data"
    group = f" in a group of {found.rows:,} rows" if found.rows is not None else ""
    return f"±{error_text(found.error)}{group}"


__all__ = ["Bar", "bar", "bars", "decimal_text", "describe", "readings_of", "results"]
