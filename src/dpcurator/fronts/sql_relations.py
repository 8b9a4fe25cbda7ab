"""What stands in FROM, and subqueries, from the parser's tree: each node by its class; what is not known is refused.

How deep subqueries are in each other is bounded by the text (`text.py`), so no question runs out of stack.
Checked in tests/plan/test_bind_relations.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from dpcurator.errors import Mend, Refusal
from dpcurator.fronts.sql_nodes import kind_of, known, place_of, unavailable
from dpcurator.language import question as syntax
from dpcurator.language.names import show

_CLAUSES: Final = {"expressions", "from_", "joins", "where", "group", "having", "qualify", "distinct", "with_"}
MOST_GIVEN: Final = 64  # names of WITH
MOST_SELECTS: Final = 64  # in each other and beside each other, a name of WITH counted where it is used
_WORDS: Final = {
    "laterals": "LATERAL", "windows": "a window",
    "pivots": "PIVOT", "sample": "TABLESAMPLE", "into": "INTO",
    "order": "ORDER BY", "limit": "LIMIT", "offset": "OFFSET",
}
_JOIN: Final = ("Write JOIN {} ON one.column = other.column: the units of two private tables, any column of a public "
                "one.")
_LEFT: Final = "Write LEFT JOIN: one side's rows are kept, and what the other has of the same unit stands beside them."
_JOINS: Final = {
    "FULL OUTER": _LEFT, "FULL": _LEFT,
    "NATURAL": "Say which columns are equal: JOIN {} USING (column), or ON one.column = other.column.",
    "SEMI": "Write WHERE unit IN (SELECT unit FROM table).",
    "ANTI": "Write WHERE unit NOT IN (SELECT unit FROM table).",
}
_CURES: Final = {
    "order": "Leave it out: rows of a subquery have no order that matters.",
    "limit": "Leave it out: which rows are the first ones would depend on other people's rows.",
    "offset": "Leave it out: which rows are the first ones would depend on other people's rows.",
}


class Queries:
    """Reads subqueries; `expression` reads an expression."""

    def __init__(self, expression: Callable[[Any], syntax.Syntax]) -> None:
        self.expression = expression

    def query(self, node: Any) -> syntax.Query:
        """A SELECT inside another. Raises Refusal."""
        while kind_of(node) == "Subquery" and not node.args.get("alias"):
            known(node, "this")
            node = node.this
        if kind_of(node) == "Union":
            return self._stacked(node)
        if kind_of(node) != "Select":
            word, cure = kind_of(node).upper(), "Write WHERE unit IN (SELECT unit FROM ...), or NOT IN."
            if word not in ("INTERSECT", "EXCEPT"):
                raise unavailable(node, f"{word} in a subquery")
            raise Refusal(f"{word} is not available in a subquery.", where=place_of(node), cure=cure)
        distinct = node.args.get("distinct")
        if distinct is not None and distinct.args.get("on") is not None:
            raise _distinct_on(node)
        args = _clauses(node, _CLAUSES)
        if "from_" not in args or not args.get("expressions"):
            raise Refusal("a subquery names no table.", where=place_of(node), cure="Write SELECT ... FROM table.")
        if "distinct" in args:
            known(args["distinct"])
        made = syntax.Select(
            items=tuple(self.item(one) for one in args["expressions"]),
            source=self.source(args["from_"], args.get("joins") or []),
            where=self._only(args.get("where")),
            group_by=self._keys(args.get("group")),
            having=self._only(args.get("having")),
            qualify=self._only(args.get("qualify")),
            distinct="distinct" in args,
        )
        weight = 1 + _below(made)
        self._weigh(weight, node)
        return replace(made, weight=weight)

    def _stacked(self, node: Any) -> syntax.Stacked:
        """SELECT ... UNION ALL SELECT ..., however many. Raises Refusal."""
        found, left, at = [], [node], place_of(node)
        while left:
            one = left.pop()
            plain = kind_of(one) == "Subquery" and not one.args.get("alias")
            if plain and kind_of(one.this) in ("Union", "Subquery"):
                known(one, "this")
                left.append(one.this)
                continue
            if kind_of(one) != "Union":
                found.append(self.query(one))
                self._weigh(sum(map(_weight, found)), node)
                continue
            _clauses(one, {"this", "expression", "with_", "distinct"})
            if one.args.get("distinct"):
                raise Refusal(
                    "UNION without ALL is not available in a subquery.", where=at,
                    cure="Write UNION ALL; and SELECT DISTINCT around it, where equal rows of a person are to be one.",
                )
            left += [one.expression, one.this]
        return syntax.Stacked(tuple(found), at)

    def _weigh(self, weight: int, node: Any) -> None:
        if weight > MOST_SELECTS:
            raise Refusal(
                f"the question has more than {MOST_SELECTS} subqueries, each counted where it is used.",
                where=place_of(node), cure="Ask in several questions, or more simply.",
            )

    def source(self, node: Any, joins: Sequence[Any] = ()) -> syntax.From:
        """FROM and its joins. Raises Refusal."""
        known(node, "this")
        found = self.relation(node.this)
        for join in joins:
            found = self._join(found, join)
        return found

    def _join(self, left: syntax.From, node: Any) -> syntax.From:
        """One JOIN. RIGHT is LEFT turned round. Raises Refusal."""
        at = place_of(node)
        side, kind, method = (str(node.args.get(name) or "").upper() for name in ("side", "kind", "method"))
        word = " ".join(one for one in (method, side, kind) if one)
        if method or side not in ("", "LEFT", "RIGHT") or kind not in ("", "INNER", "OUTER"):
            cure = _JOINS.get(word, _JOIN).format(_told(node.this))
            raise Refusal(f"{word} JOIN is not available.", where=at, cure=cure)
        known(node, "this", "side", "kind", "on", "using")
        on, using = node.args.get("on"), node.args.get("using") or []
        if on is None and not using:
            raise Refusal("a join without a condition is not available.", where=at, cure=_JOIN.format(_told(node.this)))
        names = tuple(syntax.Name(name_of(one), bool(one.args.get("quoted")), at=place_of(one)) for one in using)
        right = self.relation(node.this)
        condition = None if on is None else self.expression(on)
        one, other = (right, left) if side == "RIGHT" else (left, right)
        return syntax.Join(one, other, "LEFT" if side else "INNER", condition, names, at, turned=side == "RIGHT")

    def relation(self, node: Any) -> syntax.From:
        """A table, a name of WITH, or a subquery. Raises Refusal."""
        if kind_of(node) == "Subquery":
            known(node, "this", "alias")
            alias = _alias(node)
            if alias is None and kind_of(node.this) == "Subquery":
                return self.relation(node.this)
            return syntax.Inner(self.query(node.this), alias, place_of(node))
        if kind_of(node) != "Table" or kind_of(node.this) != "Identifier":
            cure = "FROM takes tables of the catalog, names of WITH and subqueries."
            raise Refusal("a function in FROM is not available.", where=place_of(node), cure=cure)
        if node.args.get("db") is not None or node.args.get("catalog") is not None:
            raise Refusal(
                "a table has no schema here.", where=place_of(node), cure=f"Write the table's name alone: {node.name}.",
                mends=(Mend(node.name, f"{node.args['db'].sql()}.{node.this.sql()}"),),
            )
        known(node, "this", "alias")
        alias = _alias(node)
        given = node.meta.get("given")
        if given is not None:
            return syntax.Inner(given, node.name if alias is None else alias, place_of(node))
        early = str(node.meta.get("early", ""))
        return syntax.Named(node.this.this, bool(node.this.args.get("quoted")), alias, at=place_of(node), early=early)

    def name_given(self, node: Any, given: Mapping[str, syntax.Query] | None = None) -> None:
        """Find what each name in FROM means that a WITH gives, from the outside inwards. Raises Refusal.

        A WITH's names are known to those after it and to its own SELECT; an inner one hides an outer one of its name.
        """
        known_ = dict(given or {})
        begun = node.args.get("with_")
        if begun is not None:
            if begun.args.get("recursive"):
                raise Refusal(
                    "WITH RECURSIVE is not available: a name of WITH uses those before it alone.",
                    where=place_of(begun), cure="Write WITH.", mends=(Mend("WITH", "WITH RECURSIVE"),),
                )
            known(begun, "expressions")
            own: set[str] = set()
            _note_early(begun.expressions)
            for one in begun.expressions:
                known(one, "this", "alias")
                known(one.args["alias"], "this")
                self.name_given(one.this, known_)
                name = name_of(one.args["alias"].this)
                if name.lower() in own:
                    raise Refusal(f"WITH gives the name {show(name)} twice.", where=place_of(one.args["alias"].this),
                                  cure="Give each SELECT a name of its own.")
                own.add(name.lower())
                known_.pop(name, None)  # an inner one comes after all outer ones
                known_[name] = self.query(one.this)
                if len(known_) > MOST_GIVEN:
                    raise Refusal(f"WITH gives more than {MOST_GIVEN} names.", cure="Ask in several questions.")
        left = [part for name, part in node.args.items() if name != "with_"]
        while left:
            part = left.pop()
            if isinstance(part, list):
                left += part
            elif hasattr(part, "args"):
                if part.args.get("with_") is not None:
                    self.name_given(part, known_)
                    continue
                if kind_of(part) == "Table" and kind_of(part.this) == "Identifier" and part.args.get("db") is None:
                    fits = [query for name, query in known_.items() if _same(part.this, name)]
                    part.meta.update({"given": fits[-1]} if fits else {})
                left += part.args.values()

    def _keys(self, node: Any) -> tuple[syntax.Syntax, ...]:
        if node is None:
            return ()
        known(node, "expressions")
        return tuple(self.expression(part) for part in node.expressions)

    def item(self, node: Any) -> syntax.Item | syntax.Everything:
        """One entry of a select list. Raises Refusal."""
        if kind_of(node) == "Star":
            known(node)
            return syntax.Everything(at=place_of(node))
        if kind_of(node) == "Column" and kind_of(node.this) == "Star":
            known(node.this)
            known(node, "this", "table")
            table = node.args["table"]
            return syntax.Everything(table.this, bool(table.args.get("quoted")), place_of(node))
        if kind_of(node) == "Alias":
            known(node, "this", "alias")
            return syntax.Item(self.expression(node.this), name_of(node.args["alias"]), "")
        part = self.expression(node)
        return syntax.Item(part, None, part.column if isinstance(part, syntax.Name) else node.sql(comments=False))

    def _only(self, node: Any) -> syntax.Syntax | None:
        if node is None:
            return None
        known(node, "this")
        return self.expression(node.this)


def _note_early(given: Sequence[Any]) -> None:
    """Note at each table in a WITH whose name is given there by itself, by one that uses it, or else later: if it is no
    table, that is why."""
    uses: list[list[tuple[Any, int]]] = [[
        (node, m) for node in one.this.walk() if kind_of(node) == "Table" and kind_of(node.this) == "Identifier"
        for m, other in enumerate(given) if other.args.get("alias") is not None
        and kind_of(other.args["alias"].this) == "Identifier" and _same(node.this, other.alias)
    ] for one in given]
    for n, found in enumerate(uses):
        for node, m in reversed(found):  # of two that give a name the first counts
            if m >= n:
                node.meta["early"] = "itself" if m == n else "cycle" if _reaches(uses, m, n) else "later"


def _reaches(uses: Sequence[Sequence[tuple[Any, int]]], start: int, end: int) -> bool:
    """Whether what a WITH gives first uses the other, or what uses it."""
    seen, left = {start}, [start]
    while left:
        more = {m for _, m in uses[left.pop()]} - seen
        seen |= more
        left += more
    return end in seen


def _clauses(node: Any, allowed: set[str]) -> dict[str, Any]:
    """What a SELECT or UNION ALL of a subquery says, if it says nothing else. Raises Refusal."""
    args = {name: value for name, value in node.args.items() if value not in (None, [], False)}
    for name in sorted(set(args) - allowed):
        word = _WORDS.get(name, name.strip("_").upper())
        cure = _CURES.get(name, "A subquery is SELECT columns FROM a table WHERE ... GROUP BY ... HAVING ...")
        raise Refusal(f"{word} is not available in a subquery.", where=place_of(node), cure=cure)
    return args


def _told(node: Any) -> str:
    """A side of a join as it is written in a cure."""
    return str(node.sql(comments=False)) if kind_of(node) == "Table" and kind_of(node.this) == "Identifier" else "table"


def _distinct_on(node: Any) -> Refusal:
    """SELECT DISTINCT ON (unit) ... ORDER BY x: the first row of each, which QUALIFY keeps."""
    order = node.args.get("order")
    on = ", ".join(part.sql() for one in [node.args["distinct"].args["on"]] for part in one.expressions or [one])
    along = [part.this for part in order.expressions] if order is not None else []
    keys = {part.strip() for part in on.split(",")}
    rest = [f"{part.sql()}{' DESC' if one.args.get('desc') else ''}"
            for one, part in zip(order.expressions if order is not None else [], along, strict=True)
            if part.sql() not in keys]
    place = f"ROW_NUMBER() OVER (PARTITION BY {on} ORDER BY {', '.join(rest) or 'column'}) = 1"
    return Refusal("DISTINCT ON is not available.", where=place_of(node),
                   cure=f"Leave it and ORDER BY out, and write QUALIFY {place} at the subquery's end; of a public "
                   "table, leave both out, or choose its rows in WHERE.")


def _below(made: syntax.Select) -> int:
    """SELECTs below one."""
    parts = [*(one.part for one in made.items if isinstance(one, syntax.Item)), *made.group_by]
    parts += [one for one in (made.where, made.having, made.qualify) if one is not None]
    cohorts = [one.query for part in parts for one in syntax.walk(part) if isinstance(one, syntax.Cohort)]
    return sum(_weight(one) for one in cohorts) + _in_from(made.source)


def _in_from(source: syntax.From) -> int:
    if isinstance(source, syntax.Join):
        return _in_from(source.left) + _in_from(source.right)
    return _weight(source.query) if isinstance(source, syntax.Inner) else 0


def _weight(query: syntax.Query) -> int:
    return query.weight if isinstance(query, syntax.Select) else sum(map(_weight, query.parts))


def _same(identifier: Any, name: str) -> bool:
    written = str(identifier.this)
    return written == name if identifier.args.get("quoted") else written.lower() == name.lower()


def _alias(node: Any) -> str | None:
    alias = node.args.get("alias")
    if alias is None:
        return None
    known(alias, "this")
    return name_of(alias.this)


def name_of(node: Any) -> str:
    """The name an alias gives; the parser also takes parameters and texts there."""
    if kind_of(node) != "Identifier":
        raise unavailable(node)
    return str(node.this)
