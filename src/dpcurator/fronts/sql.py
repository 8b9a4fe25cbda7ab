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
from dpcurator.fronts.bounded import bounded
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
_CLAUSE_WORDS: Final = {
    "distinct": "SELECT DISTINCT", "laterals": "LATERAL",
    "windows": "a window", "qualify": "QUALIFY", "pivots": "PIVOT", "sample": "TABLESAMPLE", "into": "INTO",
    "operation_modifiers": "this modifier", "hint": "a hint", "kind": "SELECT AS", "locks": "FOR UPDATE",
}


_ONE_SELECT: Final = (
    "A question is SELECT aggregates FROM a table WHERE ... GROUP BY ... HAVING ... ORDER BY ... LIMIT."
)
_CLAUSE_CURES: Final = {
    "distinct": "Write GROUP BY with the same columns, as in SELECT city, COUNT(*) FROM visits GROUP BY city.",
    "qualify": "Use HAVING; the first row of each person is what QUALIFY in a subquery keeps, in FROM.",
    "sample": "Ask of all rows: a price buys the same error however many there are.",
}


@lru_cache(maxsize=1)
def _grammar() -> Any:
    """The parser's plain grammar, with every function left as it was written: its readings of some lose an argument."""
    from sqlglot.dialects.dialect import Dialect
    from sqlglot.parser import Parser as Base

    class Written(Dialect):
        STRICT_JSON_PATH_SYNTAX = False  # else it logs what it reads after ->>

        class Parser(bounded(Base)):  # type: ignore[misc]
            FUNCTIONS = {name: Base.FUNCTIONS[name] for name in PARSED}  # noqa: RUF012 - the parser's own way

            def _parse_ordered(self, parse_method: Any = None) -> Any:
                """With whether NULLS FIRST or LAST is written: the parser puts its own in where it is not."""
                found = super()._parse_ordered(parse_method)
                words = [token.text.upper() for token in self._tokens[max(0, self._index - 2) : self._index]]
                if found is not None and words in (["NULLS", "FIRST"], ["NULLS", "LAST"]):
                    found.meta["said"] = True
                return found

    return Written


def trees(text: str) -> list[Any]:
    """The statements of a text, parsed. Raises what the parser raises."""
    import sqlglot

    return [one for one in sqlglot.parse(text, read=_grammar()) if one is not None]


def parse(text: str) -> Question:
    """The question that an SQL text asks. Raises Refusal with the place and the cure."""
    guard(text)
    whole, (text, options) = text, without_options(text)
    from sqlglot.errors import SqlglotError

    try:
        statements = trees(text)
    except SqlglotError as error:
        raise _syntax(error, whole) from None
    except Refusal:
        raise
    except Exception:  # whatever a parser stumbles over, stack included, the text is at fault, and it is public
        raise _unreadable() from None
    found = [statement for statement in statements if kind_of(statement) != "Semicolon"]
    if len(found) != 1:
        what = "there is more than one statement" if found else "the question is empty"
        raise Refusal(f"{what}.", cure="Ask one SELECT at a time.")
    try:
        return replace(question_of(found[0], text), caps=options.caps, price=options.price)
    except Refusal as refused:
        if text == whole or all(mend.to != "question" for mend in refused.mends):
            raise
        raise Refusal(refused.what, where=refused.where, cure=refused.cure) from None  # its own options would be lost
    except (AttributeError, KeyError, TypeError, ValueError, IndexError):  # a tree of a shape no test has met
        raise _unreadable() from None


def question_of(tree: Any, text: str) -> Question:
    """The question a parsed statement asks. Raises Refusal."""
    mark_places(tree, text)
    return _question(tree)


def _unreadable() -> Refusal:
    return Refusal("this is not SQL that can be read.", cure="Write one SELECT ... FROM table.")


_NO_NAMES: Final = re.compile(  # nobody means these as a name where a question cannot be read
    "SELECT|FROM|WHERE|GROUP|BY|ORDER|HAVING|LIMIT|JOIN|ON|USING|AND|OR|NOT|AS|CASE|WHEN|THEN|ELSE|END|WITH|UNION|ALL|"
    "DISTINCT|OVER|PARTITION|FILTER|QUALIFY|IN|IS|NULL|LIKE|BETWEEN|EXISTS|INTERVAL", re.IGNORECASE
)


_TWO_WORDS: Final = re.compile(r"(\w+|\)) +(\w+)\s*\($")
_SIGN: Final = re.compile(r"(//|\*\*)\s*\w*$")
_CLAUSE: Final = re.compile("FROM|WHERE|GROUP|ORDER|HAVING|LIMIT", re.IGNORECASE)
_TEXTS: Final = re.compile("'[^']*'|\"[^\"]*\"")


def _before(text: str, line: Any, column: Any) -> str:
    """The text up to and with the word that cannot be read; all of it where that is not told."""
    if not isinstance(line, int) or not isinstance(column, int):
        return text
    lines = text.split("\n")
    return "\n".join([*lines[: line - 1], lines[line - 1][:column]])[-10_000:] if line <= len(lines) else text


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
    if not mends and re.fullmatch(r"[A-Za-z]\w{0,39}", near) and not _NO_NAMES.fullmatch(near):
        cure = f'A name that is also a word of SQL goes in double quotes: "{near}".'
    before = _before(text, line, column)
    open_ = _TEXTS.sub("", before).count("(") - _TEXTS.sub("", before).count(")")
    if (sign := _SIGN.search(before)) is not None:
        cure = f"Write {'FLOOR(x / y)' if sign[1] == '//' else 'POWER(x, y)'} in the place of x {sign[1]} y."
    elif open_ < 0 or (open_ > 0 and _CLAUSE.fullmatch(near)):
        cure = "A parenthesis is closed that was not opened." if open_ < 0 else "A parenthesis before it is not closed."
    elif (pair := _TWO_WORDS.search(before)) is not None and not any(map(_NO_NAMES.fullmatch, pair.groups())):
        put = f"{pair[1]}, {pair[2]}"
        cure, mends = f"A comma may be missing: {put}.", (Mend(put, f"{pair[1]} {pair[2]}", "all words"),)
    elif near and not text[len(before):].strip():
        cure = "The question ends there, unfinished."
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
