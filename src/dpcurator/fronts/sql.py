"""SQL to a Question: one SELECT, of an allow-listed syntax; everything else is refused with its place and the reason.

sqlglot reads the grammar but does not validate, so every node of its tree is matched here by class, and a node with a
clause this file does not know is refused: nothing is ever dropped. Length, tokens and nesting are checked on the text
before it is parsed (DESIGN 4), so neither the parser nor any later step can run out of stack. No text of the analyst's
reaches an engine: SQL for the engine is generated from the core plan.
Checked in tests/fronts/test_sql.py and tests/fronts/test_fuzz.py.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

from dpcurator.errors import Refusal
from dpcurator.fronts.text import guard
from dpcurator.numbers import rational
from dpcurator.plan.question import (
    Binary,
    Branch,
    Call,
    Case,
    Cast,
    Fits,
    Item,
    Literally,
    Name,
    Operator,
    Ordering,
    Question,
    Syntax,
    Unary,
    Within,
)  # fmt: skip

MAX_DEPTH: Final = 64  # of an expression's tree
_CLAUSES: Final = {"expressions", "from_", "where", "group", "having", "order", "limit", "offset"}
_CLAUSE_WORDS: Final = {
    "with_": "WITH (a common table expression)", "distinct": "SELECT DISTINCT", "joins": "JOIN", "laterals": "LATERAL",
    "windows": "a window", "qualify": "QUALIFY", "pivots": "PIVOT", "sample": "TABLESAMPLE", "into": "INTO",
    "operation_modifiers": "this modifier", "hint": "a hint", "kind": "SELECT AS", "locks": "FOR UPDATE",
}  # fmt: skip
_BINARY: Final[dict[str, Operator]] = {
    "Add": "+", "Sub": "-", "Mul": "*", "Div": "/", "Mod": "%", "DPipe": "||", "EQ": "=", "NEQ": "<>", "LT": "<",
    "LTE": "<=", "GT": ">", "GTE": ">=", "NullSafeNEQ": "IS DISTINCT FROM", "And": "AND", "Or": "OR",
}  # fmt: skip
_NAMED: Final = {"Count": "COUNT", "Sum": "SUM", "Avg": "AVG", "Round": "ROUND", "Abs": "ABS",
                 "Coalesce": "COALESCE", "Nullif": "NULLIF", "Floor": "FLOOR", "Ceil": "CEIL"}  # fmt: skip
_PARSED: Final = ("COUNT", "SUM", "AVG", "ROUND", "ABS", "COALESCE", "NULLIF")  # the parser keeps others as written
_ALSO: Final = {
    "IFNULL": "COALESCE", "NVL": "COALESCE", "CEILING": "CEIL", "POW": "POWER", "LCASE": "LOWER", "UCASE": "UPPER",
    "SUBSTR": "SUBSTRING", "LEN": "LENGTH", "CHAR_LENGTH": "LENGTH", "CHARACTER_LENGTH": "LENGTH",
    "DATEPART": "DATE_PART", "DATEDIFF": "DATE_DIFF", "DATETRUNC": "DATE_TRUNC", "IIF": "IF", "MEAN": "AVG",
}  # fmt: skip
_TYPES: Final = {
    "INT": "INTEGER", "BIGINT": "INTEGER", "DOUBLE": "DOUBLE", "FLOAT": "DOUBLE", "TEXT": "TEXT", "VARCHAR": "TEXT",
    "DATE": "DATE", "TIMESTAMP": "TIMESTAMP", "TIMESTAMPTZ": "TIMESTAMP", "BOOLEAN": "BOOLEAN",
}  # fmt: skip
_CURES: Final = {
    "Subquery": ("a subquery", "Ask of the table directly; WHERE and HAVING filter."),
    "Window": ("a window function", "Window functions return single rows; use GROUP BY."),
    "Star": ("* returns single rows, which never leave the curator, and so it", "Ask for COUNT(*) or an aggregate."),
    "Filter": ("FILTER here", "It goes with COUNT, SUM and AVG, as in COUNT(*) FILTER (WHERE age > 65)."),
    "Is": ("IS with anything but NULL, TRUE or FALSE", "Write x IS NULL, x IS TRUE or x = y."),
    "IntDiv": ("DIV", "Write FLOOR(x / y): / is always real division."),
    "BitwiseXor": ("^", "Write POWER(x, 2)."),
    "SimilarTo": ("SIMILAR TO", "Use LIKE."), "RegexpLike": ("~", "Use LIKE."), "Glob": ("GLOB", "Use LIKE."),
    "Any": ("ANY", "Join comparisons by OR."), "All": ("ALL", "Join comparisons by AND."),
    "CurrentDate": ("CURRENT_DATE", "Write the date itself: an answer would change with the clock."),
    "CurrentTimestamp": ("CURRENT_TIMESTAMP", "Write the moment itself: an answer would change with the clock."),
    "Tuple": ("a tuple", "Compare the columns one by one, joined by AND."),
    "Placeholder": ("a parameter", "Write the value in the text."),
    "Parameter": ("a parameter", "Write the value in the text."),
    "Exists": ("EXISTS", "Ask of one table; WHERE and HAVING filter."),
}  # fmt: skip


@lru_cache(maxsize=1)
def _grammar() -> Any:
    """The parser's plain grammar, with every function left as it was written: its readings of some lose an argument."""
    from sqlglot.dialects.dialect import Dialect
    from sqlglot.parser import Parser as Base

    class Written(Dialect):
        class Parser(Base):
            FUNCTIONS = {name: Base.FUNCTIONS[name] for name in _PARSED}  # noqa: RUF012 - the parser's own way

    return Written


def trees(text: str) -> list[Any]:
    """The statements of a text, parsed. Raises what the parser raises."""
    import sqlglot

    return [one for one in sqlglot.parse(text, read=_grammar()) if one is not None]


def parse(text: str) -> Question:
    """The question that an SQL text asks. Raises Refusal with the place and the cure."""
    guard(text)
    from sqlglot.errors import SqlglotError

    try:
        statements = trees(text)
    except SqlglotError as error:
        raise _syntax(error, text) from None
    except Exception:  # whatever a parser stumbles over, stack included, the text is at fault, and it is public
        raise _unreadable() from None
    found = [statement for statement in statements if _kind(statement) != "Semicolon"]
    if len(found) != 1:
        what = "there is more than one statement" if found else "the question is empty"
        raise Refusal(f"{what}.", cure="Ask one SELECT at a time.")
    try:
        return question_of(found[0], text)
    except (AttributeError, KeyError, TypeError, ValueError, IndexError):  # a tree of a shape no test has met
        raise _unreadable() from None


def question_of(tree: Any, text: str) -> Question:
    """The question a parsed statement asks. Raises Refusal."""
    _place(tree, text)
    return _question(tree)


def _unreadable() -> Refusal:
    return Refusal("this is not SQL that can be read.", cure="Write one SELECT ... FROM table.")


def _syntax(error: Any, text: str) -> Refusal:
    details = (getattr(error, "errors", None) or [{}])[0]
    line, column = details.get("line"), details.get("col")
    where = f"line {line}, column {column}" if line and column else ""
    cure = 'Names that are not plain words go in double quotes, as in "net gain"; texts in single quotes.'
    if "`" in text:
        cure = 'Write names in double quotes, as in "net gain", not in backticks.'
    near = str(details.get("highlight") or "").strip()
    shown = f" near {near!r}" if near and len(near) <= 40 and near.isprintable() else ""
    return Refusal(f"the SQL cannot be read{shown}.", where=where, cure=cure)


def _question(tree: Any) -> Question:
    if _kind(tree) != "Select":
        raise Refusal(f"only SELECT is answered, not {_kind(tree).upper()}.", cure="Write SELECT ... FROM table.")
    args = {name: value for name, value in tree.args.items() if value not in (None, [], False)}
    for name in sorted(set(args) - _CLAUSES):
        word = _CLAUSE_WORDS.get(name, name.strip("_").upper())
        raise Refusal(
            f"{word} is not available.",
            cure="A question is SELECT aggregates FROM one table WHERE ... GROUP BY ... HAVING ... ORDER BY ... LIMIT.",
        )
    if not args.get("expressions"):
        raise Refusal("the question asks for nothing.", cure="Write SELECT COUNT(*) FROM table.")
    if "from_" not in args:
        raise Refusal("the question names no table.", cure="Write SELECT ... FROM table.")
    table, quoted, alias = _table(args["from_"])
    table_at = _at(args["from_"].this.this)
    items = tuple(_item(part) for part in args["expressions"])
    group_by, other = _group(args["group"]) if "group" in args else ((), False)
    return Question(
        items=items,
        table=table,
        table_quoted=quoted,
        table_alias=alias,
        table_at=table_at,
        where=_only(args["where"]) if "where" in args else None,
        group_by=group_by,
        other=other,
        having=_only(args["having"]) if "having" in args else None,
        order_by=_order(args["order"]) if "order" in args else (),
        limit=_count(args["limit"], "LIMIT") if "limit" in args else None,
        offset=_count(args["offset"], "OFFSET") or 0 if "offset" in args else 0,
    )


def _kind(node: Any) -> str:
    return type(node).__name__


def _known(node: Any, *allowed: str) -> None:
    """Refuse a node that carries anything besides the named arguments."""
    extra = [name for name, value in node.args.items() if value not in (None, [], False) and name not in allowed]
    if extra:
        raise _unavailable(node, extra[0].strip("_").upper() + " here")


def _unavailable(node: Any, word: str | None = None) -> Refusal:
    what, cure = _CURES.get(_kind(node), (_kind(node).upper(), "Use columns, numbers, texts and aggregates."))
    return Refusal(f"{word or what} is not available.", where=_at(node), cure=cure)


def _at(node: Any) -> str:
    """Where a node starts, as far as the parser kept it."""
    from sqlglot import exp

    for part in node.find_all(exp.Identifier, exp.Column, exp.Func, bfs=True):
        if "place" in part.meta:
            return str(part.meta["place"])
    return ""


def _place(tree: Any, text: str) -> None:
    """Note where each node starts in the text: the parser counts lines and columns at a token's end."""
    starts = [0, *(number + 1 for number, letter in enumerate(text) if letter == "\n")]
    for node in tree.walk():
        start = node.meta.get("start")
        if start is not None:
            line = bisect_right(starts, start)
            node.meta["place"] = f"line {line}, column {start - starts[line - 1] + 1}"


def _table(source: Any) -> tuple[str, bool, str | None]:
    _known(source, "this")
    table = source.this
    if _kind(table) != "Table" or _kind(table.this) != "Identifier":
        word = "a subquery in FROM" if _kind(table) == "Subquery" else "a function in FROM"
        raise Refusal(f"{word} is not available.", cure="FROM takes the name of one table of the catalog.")
    if table.args.get("db") is not None or table.args.get("catalog") is not None:
        raise Refusal("a table has no schema here.", where=_at(table), cure="Write the table's name alone.")
    if table.args.get("joins"):
        raise Refusal("JOIN is not available.", where=_at(table), cure="Ask of one table.")
    _known(table, "this", "alias")
    alias = table.args.get("alias")
    if alias is not None:
        _known(alias, "this")
    return table.this.this, bool(table.this.args.get("quoted")), _name(alias.this) if alias is not None else None


def _item(node: Any) -> Item:
    if _kind(node) == "Alias":
        _known(node, "this", "alias")
        return Item(_syntax_of(node.this), _name(node.args["alias"]), "")
    part = _syntax_of(node)  # first: what passes is not deep, so it can be spelled
    return Item(part, None, part.column if isinstance(part, Name) else node.sql(comments=False))


def _name(node: Any) -> str:
    """The name an alias gives; the parser also takes parameters and texts there."""
    if _kind(node) != "Identifier":
        raise _unavailable(node)
    return str(node.this)


def _only(node: Any) -> Syntax:
    _known(node, "this")
    return _syntax_of(node.this)


def _group(node: Any) -> tuple[tuple[Syntax, ...], bool]:
    """What is grouped by, and whether it is written WITH_OTHER(...)."""
    _known(node, "expressions")
    parts = node.expressions
    other = len(parts) == 1 and _kind(parts[0]) == "Anonymous" and str(parts[0].this).upper() == "WITH_OTHER"
    if other:
        _known(parts[0], "this", "expressions")
        parts = parts[0].expressions
    if not parts:
        raise Refusal("GROUP BY names nothing.", cure="Write it as in GROUP BY city.")
    return tuple(_syntax_of(part) for part in parts), other


def _order(node: Any) -> tuple[Ordering, ...]:
    _known(node, "expressions")
    return tuple(_ordering(part) for part in node.expressions)


def _ordering(node: Any) -> Ordering:
    if _kind(node) != "Ordered":
        return Ordering(_syntax_of(node), False, True)
    _known(node, "this", "desc", "nulls_first")
    return Ordering(_syntax_of(node.this), bool(node.args.get("desc")), bool(node.args.get("nulls_first")))


def _count(node: Any, word: str) -> int:
    if _kind(node) not in ("Limit", "Offset"):
        raise _unavailable(node)
    _known(node, "expression")
    literal = node.args.get("expression")
    if literal is None or _kind(literal) != "Literal" or literal.is_string or not literal.this.isdecimal():
        raise Refusal(f"{word} takes a whole number.", cure=f"Write it as in {word} 10.")
    return int((literal.this.lstrip("0") or "0")[:19])  # beyond 10**18 rows all are the same


def _syntax_of(node: Any, depth: int = 0) -> Syntax:
    if depth > MAX_DEPTH:
        raise Refusal(f"an expression is nested more than {MAX_DEPTH} deep.", where=_at(node), cure="Simplify it.")

    def inner(part: Any) -> Syntax:
        return _syntax_of(part, depth + 1)

    kind = _kind(node)
    if kind in ("And", "Or"):
        return _chain(_BINARY[kind], [inner(part) for part in node.flatten()])
    if kind in _BINARY:
        _known(node, "this", "expression", "typed", "safe")
        return Binary(_BINARY[kind], inner(node.this), inner(node.expression))
    if kind == "NullSafeEQ":
        _known(node, "this", "expression")
        return Unary("NOT", Binary("IS DISTINCT FROM", inner(node.this), inner(node.expression)))
    reader = _READERS.get(kind)
    if reader is not None:
        return reader(node, inner)
    if kind in _NAMED or kind == "Anonymous":
        return _call(node, inner)
    if kind not in _CURES and _is_function(node):
        return Call(node.sql_name(), at=_at(node))  # `bind` refuses it, naming the functions there are
    raise _unavailable(node)


def _is_function(node: Any) -> bool:
    from sqlglot import exp

    return isinstance(node, exp.Func) and not isinstance(node, exp.Binary)


def _chain(op: Operator, parts: list[Syntax]) -> Syntax:
    """a AND b AND c ..., balanced, so that a long chain is not a deep one."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return Binary(op, _chain(op, parts[:half]), _chain(op, parts[half:]))


def _column(node: Any, inner: Callable[[Any], Syntax]) -> Syntax:
    if _kind(node.this) != "Identifier":
        raise _unavailable(node.this)
    if node.args.get("db") is not None or node.args.get("catalog") is not None:
        raise Refusal("a column has at most a table before it.", where=_at(node), cure="Write table.column.")
    _known(node, "this", "table")
    table = node.args.get("table")
    return Name(
        column=node.this.this,
        quoted=bool(node.this.args.get("quoted")),
        table=table.this if table is not None else None,
        table_quoted=bool(table.args.get("quoted")) if table is not None else False,
        at=_at(node),
    )


def _literal(node: Any, inner: Callable[[Any], Syntax]) -> Syntax:
    if node.is_string:
        return Literally(node.this)
    try:
        return Literally(rational(node.this, name="a number"))
    except Refusal as refused:
        raise Refusal(refused.what, where=_at(node), cure=refused.cure) from None


def _paren(node: Any, inner: Callable[[Any], Syntax]) -> Syntax:
    _known(node, "this")
    return inner(node.this)


def _minus(node: Any, inner: Callable[[Any], Syntax]) -> Syntax:
    part = inner(node.this)
    if isinstance(part, Literally) and not isinstance(part.value, bool | str) and part.value is not None:
        return Literally(-part.value)
    return Unary("-", part)


def _not(node: Any, inner: Callable[[Any], Syntax]) -> Syntax:
    return Unary("NOT", inner(node.this))


def _is(node: Any, inner: Callable[[Any], Syntax]) -> Syntax:
    _known(node, "this", "expression")
    said = node.expression
    if _kind(said) == "Null":
        return Unary("IS NULL", inner(node.this))
    if _kind(said) == "Boolean":
        return Unary("IS TRUE" if said.this else "IS FALSE", inner(node.this))
    raise _unavailable(node)


def _like(node: Any, inner: Callable[[Any], Syntax]) -> Syntax:
    escape = None
    if _kind(node) == "Escape":
        _known(node, "this", "expression")
        escape, node = inner(node.expression), node.this
        if _kind(node) not in ("Like", "ILike"):
            raise _unavailable(node)
    _known(node, "this", "expression", "negate")
    made = Fits(inner(node.this), inner(node.expression), escape, _kind(node) == "ILike")
    return Unary("NOT", made) if node.args.get("negate") else made


def _case(node: Any, inner: Callable[[Any], Syntax]) -> Syntax:
    """Both forms: CASE x WHEN y is CASE WHEN x = y."""
    _known(node, "this", "ifs", "default")
    branches = []
    operand = None if node.this is None else inner(node.this)  # once: nested twenty deep it would be a million times
    for one in node.args["ifs"]:
        _known(one, "this", "true")
        said = inner(one.this)
        condition = said if operand is None else Binary("=", operand, said)
        branches.append(Branch(condition, inner(one.args["true"])))
    otherwise = node.args.get("default")
    return Case(tuple(branches), None if otherwise is None else inner(otherwise))


def _if(node: Any, inner: Callable[[Any], Syntax]) -> Syntax:
    _known(node, "this", "true", "false")
    otherwise = node.args.get("false")
    return Case((Branch(inner(node.this), inner(node.args["true"])),), None if otherwise is None else inner(otherwise))


def _filter(node: Any, inner: Callable[[Any], Syntax]) -> Syntax:
    """SUM(x) FILTER (WHERE c) is SUM(CASE WHEN c THEN x END); COUNT(*) counts 1 there."""
    _known(node, "this", "expression")
    _known(node.expression, "this")
    made = inner(node.this)
    if not isinstance(made, Call) or made.function not in ("COUNT", "SUM", "AVG") or made.distinct:
        raise _unavailable(node)
    kept: Syntax = Literally(Fraction(1)) if made.star else made.arguments[0]
    return Call(made.function, (Case((Branch(inner(node.expression.this), kept),)),), at=made.at)


def _interval(node: Any, inner: Callable[[Any], Syntax]) -> Syntax:
    _known(node, "this", "unit")
    unit = node.args.get("unit")
    if _kind(node.this) != "Literal" or (unit is not None and _kind(unit) != "Var"):
        raise Refusal(
            "an interval is a literal of one unit or several.", where=_at(node),
            cure="Write it as in INTERVAL '1 month' or INTERVAL '1 day 6 hours'.",
        )  # fmt: skip
    return Literally(str(node.this.this) + ("" if unit is None else f" {str(unit.this).lower()}"), "interval")


def _zone(node: Any, inner: Callable[[Any], Syntax]) -> Syntax:
    _known(node, "this", "zone")
    return Call("TIMEZONE", (inner(node.args["zone"]), inner(node.this)), at=_at(node))


def _extract(node: Any, inner: Callable[[Any], Syntax]) -> Syntax:
    _known(node, "this", "expression")
    if _kind(node.this) not in ("Var", "Literal"):
        raise _unavailable(node)
    return Call("DATE_PART", (Literally(str(node.this.this).lower()), inner(node.expression)), at=_at(node))


def _trim(node: Any, inner: Callable[[Any], Syntax]) -> Syntax:
    _known(node, "this", "expression", "position")
    letters = node.args.get("expression")
    if letters is not None:
        raise Refusal(
            "TRIM takes spaces off only.", where=_at(node), cure="Write TRIM(x), LTRIM(x) or REPLACE(x, 'a', '')."
        )
    name = {"LEADING": "LTRIM", "TRAILING": "RTRIM"}.get(str(node.args.get("position") or "").upper(), "TRIM")
    return Call(name, (inner(node.this),), at=_at(node))


def _substring(node: Any, inner: Callable[[Any], Syntax]) -> Syntax:
    _known(node, "this", "start", "length")
    parts = [node.this, node.args.get("start"), node.args.get("length")]
    return Call("SUBSTRING", tuple(inner(one) for one in parts if one is not None), at=_at(node))


def _between(node: Any, inner: Callable[[Any], Syntax]) -> Syntax:
    _known(node, "this", "low", "high")
    part = inner(node.this)
    return Binary("AND", Binary(">=", part, inner(node.args["low"])), Binary("<=", part, inner(node.args["high"])))


def _in(node: Any, inner: Callable[[Any], Syntax]) -> Syntax:
    if node.args.get("query") is not None:
        raise Refusal("a subquery is not available.", where=_at(node), cure="List the values after IN.")
    _known(node, "this", "expressions")
    if not node.expressions:
        raise Refusal("the list after IN is empty.", where=_at(node), cure="List the values after IN.")
    return Within(inner(node.this), tuple(inner(part) for part in node.expressions))


def _cast(node: Any, inner: Callable[[Any], Syntax]) -> Syntax:
    """Casts, and DATE '...' and TIMESTAMP '...', which the parser reads as casts of a text."""
    _known(node, "this", "to", "safe")
    name = str(node.to.this.value if hasattr(node.to.this, "value") else node.to.this)
    wanted = {"DATE": "date", "TIMESTAMP": "timestamp", "TIMESTAMPTZ": "timestamp"}.get(name, "")
    literal = node.this
    _known(node.to, "this", "expressions")
    if wanted and _kind(literal) == "Literal" and literal.is_string and not node.to.expressions:
        return Literally(literal.this, wanted)
    type = _TYPES.get(name, name[:40])
    if node.to.expressions and type != "DECIMAL":
        type = "VARCHAR(n)" if type == "TEXT" else f"{type}(n)"
    return Cast(inner(literal), type, at=_at(node))


_READERS: dict[str, Callable[[Any, Callable[[Any], Syntax]], Syntax]] = {
    "Column": _column, "Literal": _literal, "Paren": _paren, "Neg": _minus, "Not": _not, "Is": _is,
    "Between": _between, "In": _in, "Cast": _cast, "TryCast": _cast, "Null": lambda node, inner: Literally(None),
    "Boolean": lambda node, inner: Literally(bool(node.this)), "Like": _like, "ILike": _like, "Escape": _like,
    "Case": _case, "If": _if, "Filter": _filter, "Interval": _interval, "AtTimeZone": _zone, "Extract": _extract,
    "Trim": _trim, "Substring": _substring,
}  # fmt: skip


def _call(node: Any, inner: Callable[[Any], Syntax]) -> Syntax:
    kind, at = _kind(node), _at(node)
    if kind == "Anonymous":
        return _written(node, inner)
    name = _NAMED[kind]
    _known(node, "this", "expressions", "decimals", "expression", "big_int")
    first = node.this
    if _kind(first) == "Star":
        _known(first)
        _known(node, "this", "big_int")
        return Call(name, star=True, at=at)
    if _kind(first) == "Distinct":
        _known(first, "expressions")
        return Call(name, tuple(inner(part) for part in first.expressions), distinct=True, at=at)
    rest = [node.args.get("decimals"), node.args.get("expression"), *(node.args.get("expressions") or [])]
    parts = [part for part in (first, *rest) if part is not None]
    return Call(name, tuple(inner(part) for part in parts), at=at)


def _written(node: Any, inner: Callable[[Any], Syntax]) -> Syntax:
    """A function as it was written; `bind` refuses one that is not there, naming those that are."""
    _known(node, "this", "expressions")
    written, at = str(node.this).upper()[:40], _at(node)
    name = _ALSO.get(written, written)
    if any(_kind(part) in ("Star", "Distinct") for part in node.expressions):
        return Call(name, star=True, at=at)
    parts = tuple(inner(part) for part in node.expressions)
    if name == "IF" and len(parts) == 3:
        return Case((Branch(parts[0], parts[1]),), parts[2])
    if name in ("COUNT_IF", "COUNTIF") and len(parts) == 1:
        return Call("COUNT", (Case((Branch(parts[0], Literally(Fraction(1))),)),), at=at)
    return Call(name, parts, at=at)
