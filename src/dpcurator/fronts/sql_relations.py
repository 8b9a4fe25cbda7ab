"""What stands in FROM, and subqueries, from the parser's tree: each node by its class; what is not known is refused.

How deep subqueries are in each other is bounded by the text (`text.py`), so no question runs out of stack.
Checked in tests/plan/test_bind_relations.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from dpcurator.errors import Refusal
from dpcurator.fronts.sql_nodes import kind_of, known, place_of, unavailable
from dpcurator.language.question import Everything, From, Item, Name, Named, Query, Select, Syntax

_CLAUSES: Final = {"expressions", "from_", "where"}
_WORDS: Final = {
    "with_": "WITH", "distinct": "SELECT DISTINCT", "joins": "JOIN", "laterals": "LATERAL", "windows": "a window",
    "qualify": "QUALIFY", "pivots": "PIVOT", "sample": "TABLESAMPLE", "into": "INTO", "group": "GROUP BY",
    "having": "HAVING", "order": "ORDER BY", "limit": "LIMIT", "offset": "OFFSET",
}
_CURES: Final = {
    "order": "Leave it out: rows of a subquery have no order that matters.",
    "limit": "Leave it out: which rows are the first ones would depend on other people's rows.",
    "offset": "Leave it out: which rows are the first ones would depend on other people's rows.",
}


class Queries:
    """Reads subqueries; `syntax` reads an expression."""

    def __init__(self, syntax: Callable[[Any], Syntax]) -> None:
        self.syntax = syntax

    def query(self, node: Any) -> Query:
        """A SELECT inside another. Raises Refusal."""
        while kind_of(node) == "Subquery" and not node.args.get("alias"):
            known(node, "this")
            node = node.this
        if kind_of(node) != "Select":
            raise unavailable(node, f"{kind_of(node).upper()} in a subquery")
        args = {name: value for name, value in node.args.items() if value not in (None, [], False)}
        for name in sorted(set(args) - _CLAUSES):
            word = _WORDS.get(name, name.strip("_").upper())
            cure = _CURES.get(name, "It is not built yet. A subquery is SELECT columns FROM one table WHERE condition.")
            raise Refusal(f"{word} is not available in a subquery.", where=place_of(node), cure=cure)
        if "from_" not in args or not args.get("expressions"):
            raise Refusal("a subquery names no table.", where=place_of(node), cure="Write SELECT ... FROM table.")
        source = self.source(args["from_"])
        return Select(
            items=tuple(self.item(one) for one in args["expressions"]),
            source=source,
            where=self._only(args.get("where")),
        )

    def source(self, node: Any) -> From:
        """FROM and its joins. Raises Refusal."""
        known(node, "this")
        return self.relation(node.this)

    def relation(self, node: Any) -> From:
        """One table. Raises Refusal."""
        if kind_of(node) != "Table" or kind_of(node.this) != "Identifier":
            raise unavailable(node, "this in FROM")
        known(node, "this", "alias")
        alias = node.args.get("alias")
        if alias is not None:
            known(alias, "this")
        return Named(
            node.this.this, bool(node.this.args.get("quoted")), None if alias is None else name_of(alias.this),
            at=place_of(node),
        )

    def item(self, node: Any) -> Item | Everything:
        """One entry of a select list. Raises Refusal."""
        if kind_of(node) == "Star":
            known(node)
            return Everything(at=place_of(node))
        if kind_of(node) == "Column" and kind_of(node.this) == "Star":
            known(node.this)
            known(node, "this", "table")
            table = node.args["table"]
            return Everything(table.this, bool(table.args.get("quoted")), place_of(node))
        if kind_of(node) == "Alias":
            known(node, "this", "alias")
            return Item(self.syntax(node.this), name_of(node.args["alias"]), "")
        part = self.syntax(node)
        return Item(part, None, part.column if isinstance(part, Name) else node.sql(comments=False))

    def _only(self, node: Any) -> Syntax | None:
        if node is None:
            return None
        known(node, "this")
        return self.syntax(node.this)


def name_of(node: Any) -> str:
    """The name an alias gives; the parser also takes parameters and texts there."""
    if kind_of(node) != "Identifier":
        raise unavailable(node)
    return str(node.this)
