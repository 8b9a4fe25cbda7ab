"""An answer beside its receipt: the one whose hash was signed, with values that its plan can have.

The hash alone would hold any answer that was signed; columns, notes, rows and intervals follow from the plan.
Checked in tests/receipts/test_verify.py and tests/attacks/test_adversary_surface.py.
"""

from __future__ import annotations

from dpcurator.plan.canonical import plan_of
from dpcurator.plan.nodes import Key, Plan
from dpcurator.plan.stability import stability
from dpcurator.receipts.receipt import sha
from dpcurator.receipts.spelling import amount_of
from dpcurator.receipts.steps import require
from dpcurator.release.notes import notes
from dpcurator.values import Cell, Json


def check_answer(receipt: Json, answer: Json) -> str:
    """It is the answer whose hash was signed; its columns, confidence, notes and rows are such as its plan has."""
    require(sha(answer) == receipt["answer_sha256"], "the answer's values differ from what the receipt says")
    plan = plan_of(receipt["plan"])
    titles, ways = [output.title for output in plan.outputs], [output.shown for output in plan.outputs]
    require((answer["columns"], answer["shown"]) == (titles, ways), "the answer has other columns than the plan")
    require(answer["confidence"] == receipt["confidence"], "the answer has another confidence than was paid for")
    told = list(notes(plan, stability(plan.source), amount_of(receipt["confidence"])))
    require(answer["notes"] == told, "the answer's notes are not those of its plan")
    rows, source = answer["rows"], plan.source.source
    require(plan.limit is None or len(rows) <= plan.limit, "the answer has more rows than LIMIT lets through")
    if source.listed:
        most = max(0, source.keys - plan.offset)
        most = most if plan.limit is None else min(most, plan.limit)
        require(len(rows) == most or (plan.having is not None and len(rows) < most), "the answer has other rows")
    for row in rows:
        require(len(row) == len(titles) and all(map(_cell, row, ways)), "a value of the answer is malformed")
    _others(plan, rows)
    return "the answer's values are those of the receipt"


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


def _cell(cell: Json, way: str) -> bool:
    """Whether it is a value as its column shows them, within its interval."""
    value, ends = cell["value"], (cell["error"], cell["low"], cell["high"])
    kinds = {"whole": (int,), "number": (float,), "integer": (int,), "float": (float,), "truth": (bool,),
             "boolean": (bool,), "date": (str, int), "timestamp": (str, int)}  # fmt: skip
    if Cell(**cell).as_json() != cell or not all(end is None or type(end) is float for end in ends):
        return False
    if way not in ("whole", "number"):
        return ends == (None, None, None) and (value is None or type(value) in kinds.get(way, (str,)))
    if value is None:
        return ends[0] is None
    error, low, high = ends
    within = (low is None or low <= value) and (high is None or value <= high)
    return type(value) in kinds[way] and (within or way == "whole") and (error is None or error >= 0)
