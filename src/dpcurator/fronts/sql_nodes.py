"""A node of the parser's tree: its class, its place in the text, and the refusal of what is not known of it.

`known` is what lets nothing be dropped: the reader of a class that can carry more than its operands names the arguments
it looks at, and a node that carries any other is refused, also one that a later parser adds.
Checked in tests/fronts/test_sql.py (the table of refusals, with places) and tests/fronts/test_fuzz.py.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, Final

from dpcurator.errors import Mend, Refusal

_SHARE: Final = "a share of the whole is AVG(CASE WHEN age > 65 THEN 1 ELSE 0 END)"
CURES: Final = {
    "Subquery": ("a subquery", "It stands in FROM, or after IN. One number of each person's rows is joined: JOIN "
                 "(SELECT unit, MIN(x) AS least FROM table GROUP BY unit) AS own USING (unit). One number of all rows "
                 f"is a question of its own: ask it, and write its answer here; {_SHARE}."),
    "Window": ("a window function", f"Use GROUP BY; ROW_NUMBER() OVER (PARTITION BY unit ORDER BY x) is available in a "
               f"subquery; {_SHARE}, or each group's COUNT(*) over the sum of the answer's."),
    "Star": ("* returns single rows, which never leave the curator, and so it", "Ask for COUNT(*) or an aggregate."),
    "Filter": ("FILTER here", "It goes with an aggregate, as in COUNT(*) FILTER (WHERE age > 65)."),
    "Is": ("IS with anything but NULL, TRUE or FALSE", "Write x IS NULL, x IS TRUE or x = y."),
    "IntDiv": ("DIV", "Write FLOOR(x / y): / is always real division."),
    "BitwiseXor": ("^", "Write POWER(x, 2)."),
    "SimilarTo": ("SIMILAR TO", "Use LIKE."), "RegexpLike": ("~", "Use LIKE."), "Glob": ("GLOB", "Use LIKE."),
    "Order": ("ORDER BY in an aggregate", "Write ARG_MIN(x, y), the x of the least y, or ARG_MAX(x, y)."),
    "TableSample": ("TABLESAMPLE", "Leave it out: which rows it took would depend on other people's rows."),
    "Any": ("ANY", "Write IN (SELECT ...), or join comparisons by OR."), "All": ("ALL", "Join comparisons by AND."),
    "CurrentDate": ("CURRENT_DATE", "Write the date itself: an answer would change with the clock."),
    "CurrentTimestamp": ("CURRENT_TIMESTAMP", "Write the moment itself: an answer would change with the clock."),
    "Tuple": ("a tuple", "Compare the columns one by one, joined by AND."),
    "Placeholder": ("a parameter", "Write the value in the text."),
    "Parameter": ("a parameter", "Write the value in the text."),
}


def kind_of(node: Any) -> str:
    return type(node).__name__


def known(node: Any, *allowed: str) -> None:
    """Refuse a node that carries anything besides the named arguments."""
    extra = [name for name, value in node.args.items() if value not in (None, [], False) and name not in allowed]
    if extra and kind_of(node.args[extra[0]]) in CURES:
        raise unavailable(node.args[extra[0]])
    if extra:
        raise unavailable(node, extra[0].strip("_").upper() + " here")


def unavailable(node: Any, word: str | None = None) -> Refusal:
    what, cure = CURES.get(kind_of(node), (kind_of(node).upper(), "Use columns, numbers, texts and aggregates."))
    mends = (Mend("COUNT(*)", "*"),) if kind_of(node) == "Star" else ()
    if kind_of(node) == "Star" and _of_a_subquery(node.parent):  # as tools write that show the first rows of an answer
        cure = "Ask the SELECT in FROM by itself, if it has the aggregates, with LIMIT at its own end; or for COUNT(*)."
    return Refusal(f"{word or what} is not available.", where=place_of(node), cure=cure, mends=mends)


def _of_a_subquery(select: Any) -> bool:
    """Whether this is SELECT ... FROM (SELECT ...)."""
    source = select and (select.args.get("from_") or select.args.get("from"))
    return bool(source) and kind_of(source.this) == "Subquery"


def place_of(node: Any) -> str:
    """Where a node starts, as far as the parser kept it."""
    from sqlglot import exp

    for part in node.find_all(exp.Identifier, exp.Column, exp.Func, bfs=True):
        if "place" in part.meta:
            return str(part.meta["place"])
    return ""


def mark_places(tree: Any, text: str) -> None:
    """Note where each node starts in the text: the parser counts lines and columns at a token's end."""
    starts = [0, *(number + 1 for number, letter in enumerate(text) if letter == "\n")]
    for node in tree.walk():
        start = node.meta.get("start")
        if start is not None:
            line = bisect_right(starts, start)
            node.meta["place"] = f"line {line}, column {start - starts[line - 1] + 1}"
