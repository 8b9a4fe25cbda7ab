"""How much work a question is for the curator itself, counted from public facts, so that too much is a Refusal.

Two things grow with more than a question's length. Naming the keys of an expression computes it in Python once for each
combination of its columns' values, before the charge. And after the charge every key has its own noise and its own
cells, and what lies at each candidate of a quantile, so a failure there, out of memory say, would close the curator.
Both are counted here, never in seconds: a step is about half a microsecond of the first kind, ten of the second.
Checked in tests/plan/test_limits.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from dpcurator.catalog.model import Table
from dpcurator.errors import Refusal
from dpcurator.language.limits import KEY_LETTERS
from dpcurator.plan.candidates import candidates
from dpcurator.plan.nodes import Apply, Given, Key, Plan, Post
from dpcurator.plan.ruled_out import keys_meant
from dpcurator.plan.sets import rows_of

MOST_CELLS: Final = 5_000_000  # keys times what is computed for each: noise, cells, parts of expressions
WIDTH: Final = 2**62  # of (U - L) max_rows, where whole numbers U and L are the ends of what is added up
DEPTH: Final = 2**100  # of |L| and |U|
UNLISTED: Final = 50_000  # as many keys are reckoned with where nobody listed them: how many there are is private


@dataclass(frozen=True, slots=True)
class Finishing:
    """What follows the noise: `cells` in all, and `letters` of texts in the answer."""

    cells: int
    letters: int


def finishing(plan: Plan, table: Table) -> Finishing:
    """The work after the charge."""
    grouped = plan.source.source
    keys = (rows_of(grouped, plan.sets) if plan.sets else grouped.keys) if grouped.listed else UNLISTED
    posts = [*(output.part for output in plan.outputs), *(order.part for order in plan.order)]
    posts += [] if plan.having is None else [plan.having]
    parts = sum(_parts(post) for post in posts)
    shown = [text for output in plan.outputs for text in _texts(output.part)]
    letters = 0
    for number, column in enumerate(grouped.columns):
        listed = keys_meant(column, table, grouped.source) or ()
        total = sum(len(key) for key in listed if isinstance(key, str))
        each = keys * total // max(1, len(listed))
        letters += each * (1 + sum(text == number for text in shown))
    letters += keys * sum(len(text) for text in shown if isinstance(text, str))
    added = grouped.keys * len(plan.sets) * (1 + 6 * len(plan.calls)) if plan.sets and grouped.listed else 0
    return Finishing(keys * (parts + 2 * len(plan.outputs) + 2 * len(plan.calls)) + added + _lying(plan), letters)


def _lying(plan: Plan) -> int:
    """What the histograms of quantiles take, of each column one, as if something lay at every candidate: half a step
    each, in time and in memory. Of unknown groups as much comes as some unit has values, as with the groups."""
    grouped = plan.source.source
    if not grouped.listed or not grouped.keys:
        return 0
    columns = {call.column: None for call in plan.calls if call.q is not None and call.column is not None}
    ranked = [column for column in columns if column.kind != "text" and column.lower != column.upper]
    return sum(-(-grouped.keys * candidates(column, grouped.keys).count // 2) for column in ranked)


def fits(lower: int, upper: int, max_rows: int) -> bool:
    """Whether an engine's integers hold every sum of whole numbers between these ends (`engines/limits.py`)."""
    return (upper - lower) * max_rows <= WIDTH and max(abs(lower), abs(upper)) <= DEPTH


def check(found: Finishing) -> None:
    """Raises Refusal where it is too much."""
    if found.cells > MOST_CELLS:
        raise Refusal(
            f"the answer would have too many keys for what is asked of each: {found.cells:,} steps, and the limit is "
            f"{MOST_CELLS:,}.", cure="Ask for fewer columns, group by fewer keys, or ask in several questions.",
        )
    if found.letters > KEY_LETTERS:
        raise Refusal(
            f"the texts of the answer would have {found.letters:,} letters; the limit is {KEY_LETTERS:,}.",
            cure="Group by shorter texts, or by fewer keys.",
        )


def _parts(post: Post) -> int:
    return 1 + sum(map(_parts, post.parts)) if isinstance(post, Apply) else 1


def _texts(post: Post) -> Iterator[str | int]:
    """The texts an output may show: constants, and keys by their number."""
    match post:
        case Key(index):
            yield index
        case Given(str() as value):
            yield value
        case Apply(_, parts):
            for part in parts:
                yield from _texts(part)
