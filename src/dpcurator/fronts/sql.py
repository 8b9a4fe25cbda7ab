"""SQL to a Question: one SELECT, of an allow-listed syntax; everything else is refused with its place and the reason.

sqlglot reads the grammar but does not validate, so every node of its tree is matched by class: clauses here,
expressions in `sql_expressions.py`, calls in `sql_calls.py`. A node with a clause they do not know is refused: nothing
is ever dropped. Length, tokens and nesting are checked on the text before it is parsed (design 4), so neither the
parser nor any later step can run out of stack. No text of the analyst's reaches an engine: SQL for the engine is
generated from the core plan. Checked in tests/fronts/test_sql.py and tests/fronts/test_fuzz.py.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from dpcurator.errors import Mend, Refusal
from dpcurator.fronts.options import without_options
from dpcurator.fronts.sql_calls import PARSED
from dpcurator.fronts.sql_expressions import MAX_DEPTH as MAX_DEPTH
from dpcurator.fronts.sql_expressions import syntax_of
from dpcurator.fronts.sql_grouping import grouping
from dpcurator.fronts.sql_nodes import kind_of, known, mark_places, unavailable
from dpcurator.fronts.sql_relations import Queries
from dpcurator.fronts.text import guard
from dpcurator.language.question import Item, Name, Named, Ordering, Question, Syntax

_CLAUSES: Final = {"expressions", "from_", "where", "group", "having", "order", "limit", "offset", "joins", "with_"}
_CLAUSE_WORDS: Final = re.compile(  # nobody means these as a name where a question cannot be read
    "SELECT|FROM|WHERE|GROUP|BY|ORDER|HAVING|LIMIT|JOIN|ON|USING|AND|OR|NOT|AS|CASE|WHEN|THEN|ELSE|END|WITH|UNION|ALL|"
    "DISTINCT|OVER|PARTITION|FILTER|QUALIFY|IN|IS|NULL|LIKE|BETWEEN|EXISTS|INTERVAL", re.IGNORECASE
)


def _syntax(error: Any, text: str) -> Refusal:
    details = (getattr(error, "errors", None) or [{}])[0]
    line, column = details.get("line"), details.get("col")
    where = f"line {line}, column {column}" if line and column else ""
    cure = 'Names that are not plain words go in double quotes, as in "net gain"; texts in single quotes.'
    mends: tuple[Mend, ...] = ()
    if "`" in text:
        cure = 'Write names in double quotes, as in "net gain", not in backticks.'
        mends = (Mend(text.replace("`", '"'), to="question"),)
    near = str(details.get("highlight") or "").strip()
    if not mends and re.fullmatch(r"[A-Za-z]\w{0,39}", near) and not _WORDS.fullmatch(near):
        cure = f'A name that is also a word of SQL goes in double quotes: "{near}".'
    shown = f" near {near!r}" if near and len(near) <= 40 and near.isprintable() else ""
    return Refusal(f"the SQL cannot be read{shown}.", where=where, cure=cure, mends=mends)


def _question(tree: Any) -> Question:
    if kind_of(tree) != "Select":
        cure = "Ask one SELECT at a time, or several from a file: `dpcurator ask --file`."
        if kind_of(tree) == "Union":
            cure = "Write it in FROM: SELECT ... FROM (SELECT ... UNION ALL SELECT ...); or ask each SELECT by itself."
        raise Refusal(f"only SELECT is answered, not {kind_of(tree).upper()}.", cure=cure)
    args = {name: value for name, value in tree.args.items() if value not in (None, [], False)}
    for name in sorted(set(args) - _CLAUSES):
        word = _CLAUSE_WORDS.get(name, name.strip("_").upper())
        cure = _CLAUSE_CURES.get(name, _ONE_SELECT)
        mends: tuple[Mend, ...] = ()
        if name == "distinct" and args.get("from_") and not args.get("group"):
            mends, cure = _grouped(tree, cure)
        raise Refusal(f"{word} is not available.", cure=cure, mends=mends)
    if not args.get("expressions"):
        raise Refusal("the question asks for nothing.", cure="Write SELECT COUNT(*) FROM table.")
    if "from_" not in args:
        raise Refusal("the question names no table.", cure="Write SELECT ... FROM table.")
    queries = Queries(syntax_of)
    queries.name_given(tree)
    source = queries.source(args["from_"], args.get("joins") or [])
    plain = source if isinstance(source, Named) else Named("")
    items = tuple(_item(part) for part in args["expressions"])
    group_by, other, sets = grouping(args["group"], syntax_of) if "group" in args else ((), False, ())
    return Question(
        items=items,
        table=plain.name,
        table_quoted=plain.quoted,
        table_alias=plain.alias,
        table_at=plain.at,
        source=None if source is plain else source,
        where=_only(args["where"]) if "where" in args else None,
        group_by=group_by,
        other=other,
        sets=sets,
        having=_only(args["having"]) if "having" in args else None,
        order_by=_order(args["order"]) if "order" in args else (),
        limit=_count(args["limit"], "LIMIT") if "limit" in args else None,
        offset=_count(args["offset"], "OFFSET") or 0 if "offset" in args else 0,
    )


def _grouped(tree: Any, cure: str) -> tuple[tuple[Mend, ...], str]:
    """SELECT DISTINCT a, b as SELECT a, b ... GROUP BY a, b, where it asks for plain columns."""
    if any(kind_of(one) != "Column" for one in tree.expressions):
        return (), cure
    plain = tree.copy()
    plain.set("distinct", None)
    put = plain.group_by(*(one.copy() for one in tree.expressions)).sql()
    return (Mend(put, to="question"),), f"Write GROUP BY: {put}" if len(put) <= 200 else cure


def _item(node: Any) -> Item:
    if kind_of(node) == "Alias":
        known(node, "this", "alias")
        return Item(syntax_of(node.this), _name(node.args["alias"]), "")
    part = syntax_of(node)  # first: what passes is not deep, so it can be spelled
    return Item(part, None, part.column if isinstance(part, Name) else node.sql(comments=False))


def _name(node: Any) -> str:
    """The name an alias gives; the parser also takes parameters and texts there."""
    if kind_of(node) != "Identifier":
        raise unavailable(node)
    return str(node.this)


def _only(node: Any) -> Syntax:
    known(node, "this")
    return syntax_of(node.this)


def _order(node: Any) -> tuple[Ordering, ...]:
    known(node, "expressions")
    return tuple(_ordering(part) for part in node.expressions)


def _ordering(node: Any) -> Ordering:
    if kind_of(node) != "Ordered":
        return Ordering(syntax_of(node), False, True)
    known(node, "this", "desc", "nulls_first")
    return Ordering(syntax_of(node.this), bool(node.args.get("desc")), bool(node.args.get("nulls_first")))


def _count(node: Any, word: str) -> int:
    if kind_of(node) not in ("Limit", "Offset"):
        raise unavailable(node)
    known(node, "expression")
    literal = node.args.get("expression")
    if literal is None or kind_of(literal) != "Literal" or literal.is_string or not literal.this.isdecimal():
        raise Refusal(f"{word} takes a whole number.", cure=f"Write it as in {word} 10.")
    return int((literal.this.lstrip("0") or "0")[:19])  # beyond 10**18 rows all are the same
