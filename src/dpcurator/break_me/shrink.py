"""The smallest rows of two worlds, and question, that still show something: a witness that can be read.

Definition  Greedy: parts of the question are left out one by one, then rows that both tables have (by halves, then one
            by one), then rows of the unit that differs, as long as something is still found.
Promise     What is returned was found to fail itself. Leaving out a row of both, or of the one unit, keeps neighbours
            neighbours. Not the least of all: nothing that is left can be left out alone, within `tries`.
Checked     tests/break_me/test_break_me.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from dpcurator.break_me.questions import Question
from dpcurator.break_me.worst_case_tables import Row, Rows

Placed = tuple[str, Row]  # beside the name of its table
Fails = Callable[[Question, Rows, Rows], bool]


def smallest(question: Question, one: Rows, other: Rows, fails: Fails, *, unit_rows: bool = True, tries: int = 400) -> (
    tuple[Question, Rows, Rows]
):
    """The question and two tables, smaller where that still fails. unit_rows: may the differing unit lose rows?"""
    left = tries

    def still(asked: Question, both: list[Placed], mine: list[Placed], theirs: list[Placed]) -> bool:
        nonlocal left
        left -= 1
        return left > 0 and fails(asked, (*both, *mine), (*both, *theirs))

    both, mine, theirs = _split(one, other)
    if not still(question, both, mine, theirs):
        return question, one, other
    changed = True
    while changed and left > 0:
        changed = False
        for less in question.smaller():
            if still(less, both, mine, theirs):
                question, changed = less, True
                break
    both = _fewer(both, lambda rows: still(question, rows, mine, theirs))
    if unit_rows:
        mine = _fewer(mine, lambda rows: bool(rows or theirs) and still(question, both, rows, theirs))
        theirs = _fewer(theirs, lambda rows: bool(rows or mine) and still(question, both, mine, rows))
    return question, (*both, *mine), (*both, *theirs)


def _split(one: Rows, other: Rows) -> tuple[list[Placed], list[Placed], list[Placed]]:
    """Rows of both, of the one alone, of the other alone. By their printed form: nan is no equal of itself."""
    left, right = Counter(map(repr, one)), Counter(map(repr, other))
    shared = left & right
    found: list[list[Placed]] = [[], [], []]
    for place, rows in ((1, one), (2, other)):
        common = Counter(shared)
        for row in rows:
            if common[repr(row)] > 0:
                common[repr(row)] -= 1
                if place == 1:
                    found[0].append(row)
            else:
                found[place].append(row)
    return found[0], found[1], found[2]


def _fewer(rows: list[Placed], still: Callable[[list[Placed]], bool]) -> list[Placed]:
    size = len(rows)
    while size:
        start = 0
        while start < len(rows):
            less = rows[:start] + rows[start + size :]
            if still(less):
                rows = less
            else:
                start += size
        size //= 2
    return rows
