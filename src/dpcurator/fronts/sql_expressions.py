"""Expressions of an SQL text: columns, literals, operators and CASE, each node of the parser's tree by its class.

A class that no table here lists is refused. Right because a reader names the arguments it looks at (`known`), and reads
each part once, even where the part stands twice in what it means. Depth is bounded, and a chain of ANDs or ORs becomes
a balanced tree. Checked in tests/fronts/test_sql.py and tests/fronts/test_fuzz.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from dpcurator.errors import Mend, Refusal
from dpcurator.fronts.bins import MOST_BUCKETS
from dpcurator.fronts.sql_calls import (
    NAMED,
    arg,
    call,
    extract,
    filtered,
    is_function,
    substring,
    trim,
    within_group,
    zone,
)
from dpcurator.fronts.sql_nodes import CURES, kind_of, known, place_of, unavailable
from dpcurator.fronts.sql_relations import Queries
from dpcurator.fronts.sql_unnested import with_join
from dpcurator.language import question as syntax
from dpcurator.language.render import expression
from dpcurator.numbers import rational

MAX_DEPTH: Final = 64  # of an expression's tree
_BINARY: Final[dict[str, syntax.Operator]] = {
    "Add": "+", "Sub": "-", "Mul": "*", "Div": "/", "Mod": "%", "DPipe": "||", "EQ": "=", "NEQ": "<>", "LT": "<",
    "LTE": "<=", "GT": ">", "GTE": ">=", "NullSafeNEQ": "IS DISTINCT FROM", "And": "AND", "Or": "OR",
}
_TYPES: Final = {
    "INT": "INTEGER", "BIGINT": "INTEGER", "DOUBLE": "DOUBLE", "FLOAT": "DOUBLE", "TEXT": "TEXT", "VARCHAR": "TEXT",
    "DATE": "DATE", "TIMESTAMP": "TIMESTAMP", "TIMESTAMPTZ": "TIMESTAMP", "BOOLEAN": "BOOLEAN",
}


def syntax_of(node: Any, depth: int = 0) -> syntax.Syntax:
    if depth > MAX_DEPTH:
        raise Refusal(f"an expression is nested more than {MAX_DEPTH} deep.", where=place_of(node), cure="Simplify it.")

    def inner(part: Any) -> syntax.Syntax:
        return syntax_of(part, depth + 1)

    kind = kind_of(node)
    if kind in ("And", "Or"):
        return syntax.chain(_BINARY[kind], [inner(part) for part in node.flatten()])
    if kind in _BINARY:
        known(node, "this", "expression", "typed", "safe")
        return syntax.Binary(_BINARY[kind], inner(node.this), inner(node.expression))
    if kind == "NullSafeEQ":
        known(node, "this", "expression")
        return syntax.Unary("NOT", syntax.Binary("IS DISTINCT FROM", inner(node.this), inner(node.expression)))
    reader = _READERS.get(kind)
    if reader is not None:
        return reader(node, inner)
    if kind in NAMED or kind == "Anonymous":
        return call(node, inner)
    if kind not in CURES and is_function(node):
        name = "STRING_AGG" if kind == "GroupConcat" else node.sql_name()
        return syntax.Call(name, at=place_of(node))  # `bind` refuses it, naming the functions there are
    raise with_join(unavailable(node), node) if kind == "Subquery" else unavailable(node)


def _column(node: Any, inner: Callable[[Any], syntax.Syntax]) -> syntax.Syntax:
    if kind_of(node.this) != "Identifier":
        raise unavailable(node.this)
    if node.args.get("db") is not None or node.args.get("catalog") is not None:
        raise Refusal(
            "a column has at most a table before it.", where=place_of(node), cure="Write table.column.",
            mends=(Mend(node.name, node.sql()),),
        )
    known(node, "this", "table")
    table = node.args.get("table")
    return syntax.Name(
        column=node.this.this,
        quoted=bool(node.this.args.get("quoted")),
        table=table.this if table is not None else None,
        table_quoted=bool(table.args.get("quoted")) if table is not None else False,
        at=place_of(node),
    )


def _literal(node: Any, inner: Callable[[Any], syntax.Syntax]) -> syntax.Syntax:
    if node.is_string:
        return syntax.Literally(node.this)
    try:
        return syntax.Literally(rational(node.this, name="a number"))
    except Refusal as refused:
        raise Refusal(refused.what, where=place_of(node), cure=refused.cure) from None


def _paren(node: Any, inner: Callable[[Any], syntax.Syntax]) -> syntax.Syntax:
    known(node, "this")
    return inner(node.this)


def _minus(node: Any, inner: Callable[[Any], syntax.Syntax]) -> syntax.Syntax:
    part = inner(node.this)
    if isinstance(part, syntax.Literally) and not isinstance(part.value, bool | str) and part.value is not None:
        return syntax.Literally(-part.value)
    return syntax.Unary("-", part)


def _not(node: Any, inner: Callable[[Any], syntax.Syntax]) -> syntax.Syntax:
    return syntax.Unary("NOT", inner(node.this))


def _is(node: Any, inner: Callable[[Any], syntax.Syntax]) -> syntax.Syntax:
    known(node, "this", "expression")
    said = node.expression
    if kind_of(said) == "Null":
        return syntax.Unary("IS NULL", inner(node.this))
    if kind_of(said) == "Boolean":
        return syntax.Unary("IS TRUE" if said.this else "IS FALSE", inner(node.this))
    raise unavailable(node)


def _like(node: Any, inner: Callable[[Any], syntax.Syntax]) -> syntax.Syntax:
    escape = None
    if kind_of(node) == "Escape":
        known(node, "this", "expression")
        escape, node = inner(node.expression), node.this
        if kind_of(node) not in ("Like", "ILike"):
            raise unavailable(node)
    known(node, "this", "expression", "negate")
    made = syntax.Fits(inner(node.this), inner(node.expression), escape, kind_of(node) == "ILike")
    return syntax.Unary("NOT", made) if node.args.get("negate") else made


def _case(node: Any, inner: Callable[[Any], syntax.Syntax]) -> syntax.Syntax:
    """Both forms: CASE x WHEN y is CASE WHEN x = y."""
    known(node, "this", "ifs", "default")
    branches = []
    operand = None if node.this is None else inner(node.this)  # once: nested twenty deep it would be a million times
    for one in node.args["ifs"]:
        known(one, "this", "true")
        said = inner(one.this)
        condition = said if operand is None else syntax.Binary("=", operand, said)
        branches.append(syntax.Branch(condition, inner(one.args["true"])))
    otherwise = node.args.get("default")
    return syntax.Case(tuple(branches), None if otherwise is None else inner(otherwise))


def _if(node: Any, inner: Callable[[Any], syntax.Syntax]) -> syntax.Syntax:
    known(node, "this", "true", "false")
    otherwise = node.args.get("false")
    branch = syntax.Branch(inner(node.this), inner(node.args["true"]))
    return syntax.Case((branch,), None if otherwise is None else inner(otherwise))


def _interval(node: Any, inner: Callable[[Any], syntax.Syntax]) -> syntax.Syntax:
    known(node, "this", "unit")
    unit = node.args.get("unit")
    if kind_of(node.this) != "Literal" or (unit is not None and kind_of(unit) != "Var"):
        raise Refusal(
            "an interval is a literal of one unit or several.", where=place_of(node),
            cure="Write it as in INTERVAL '1 month' or INTERVAL '1 day 6 hours'.",
        )
    return syntax.Literally(str(node.this.this) + ("" if unit is None else f" {str(unit.this).lower()}"), "interval")


def _between(node: Any, inner: Callable[[Any], syntax.Syntax]) -> syntax.Syntax:
    known(node, "this", "low", "high")
    part = inner(node.this)
    above = syntax.Binary(">=", part, inner(node.args["low"]))
    return syntax.Binary("AND", above, syntax.Binary("<=", part, inner(node.args["high"])))


def _in(node: Any, inner: Callable[[Any], syntax.Syntax]) -> syntax.Syntax:
    if node.args.get("query") is not None:
        known(node, "this", "query")
        return syntax.Cohort(inner(node.this), Queries(syntax_of).query(node.args["query"]), at=place_of(node))
    named = node.args.get("field")
    if named is not None and kind_of(named) == "Column":
        part = inner(node.this)
        raise Refusal(
            "a name after IN needs its SELECT.", where=place_of(named),
            cure=f"Write {expression(part)} IN (SELECT {expression(part)} FROM {expression(inner(named))}).",
        )
    known(node, "this", "expressions")
    if not node.expressions:
        raise Refusal("the list after IN is empty.", where=place_of(node), cure="List the values after IN.")
    return syntax.Within(inner(node.this), tuple(inner(part) for part in node.expressions))


def _exists(node: Any, inner: Callable[[Any], syntax.Syntax]) -> syntax.Syntax:
    known(node, "this")
    return syntax.Cohort(None, Queries(syntax_of).query(node.this), at=place_of(node))


def _place(node: Any, inner: Callable[[Any], syntax.Syntax]) -> syntax.Syntax:
    """ROW_NUMBER() OVER (PARTITION BY ... ORDER BY ...), the only window there is."""
    name = node.this.name if kind_of(node.this) == "Anonymous" else kind_of(node.this)
    if name.upper() == "NTILE":
        raise _of_all_rows(node, inner)
    if name.upper() in ("RANK", "DENSE_RANK") and not node.this.expressions:
        raise Refusal(
            f"{name.upper()}() is not available.", where=place_of(node), mends=(Mend("ROW_NUMBER", name.upper()),),
            cure="Write ROW_NUMBER(): of rows that are equal in the order all columns decide.",
        )
    if name.upper() != "ROW_NUMBER" or node.this.expressions:
        raise with_join(unavailable(node), node)
    if node.args.get("spec") is not None:
        words = node.args["spec"].sql()
        raise Refusal("ROW_NUMBER() has no frame of rows.", where=place_of(node), cure=f"Leave out {words}.",
                      mends=(Mend("", words),))
    if node.args.get("order") is None:
        raise Refusal(
            "ROW_NUMBER() numbers the rows of one unit, in an order.", where=place_of(node),
            cure="Write ROW_NUMBER() OVER (PARTITION BY unit ORDER BY column), with columns of the table.",
        )
    known(node, "this", "partition_by", "order", "over")
    known(node.this, "this")
    known(node.args["order"], "expressions")
    order = []
    for one in node.args["order"].expressions:
        known(one, "this", "desc", "nulls_first")
        first = bool(one.args.get("nulls_first")) and bool(one.meta.get("said"))
        order.append(syntax.Ordering(inner(one.this), bool(one.args.get("desc")), first))
    return syntax.Place(tuple(inner(one) for one in node.args.get("partition_by") or ()), tuple(order), place_of(node))


def _of_all_rows(node: Any, inner: Callable[[Any], syntax.Syntax]) -> Refusal:
    """NTILE(n) OVER (ORDER BY x): which part a row is in rests on all others; buckets of equal width do not."""
    count = next((one.name for one in node.this.expressions if kind_of(one) == "Literal"), "")
    order = node.args["order"].expressions if node.args.get("order") is not None else []
    x = expression(inner(order[0].this)) if len(order) == 1 else "x"
    buckets = count if count.isdecimal() and 1 <= int(count[:4]) <= MOST_BUCKETS else "4"
    put = f"WIDTH_BUCKET({x}, 0, 100, {buckets})"
    mends = (Mend(put, node.sql(comments=False)),) if len(order) == 1 else ()
    return Refusal(
        "NTILE is not available: the part that a row is in would rest on all other rows.", where=place_of(node),
        cure=f"Write {put}, with ends from public knowledge: buckets of equal width, for a histogram.", mends=mends,
    )


def _cast(node: Any, inner: Callable[[Any], syntax.Syntax]) -> syntax.Syntax:
    """Casts, and DATE '...' and TIMESTAMP '...', which the parser reads as casts of a text."""
    known(node, "this", "to", "safe")
    name = str(node.to.this.value if hasattr(node.to.this, "value") else node.to.this)
    wanted = {"DATE": "date", "TIMESTAMP": "timestamp", "TIMESTAMPTZ": "timestamp"}.get(name, "")
    literal = node.this
    known(node.to, "this", "expressions")
    if wanted and kind_of(literal) == "Literal" and literal.is_string and not node.to.expressions:
        return syntax.Literally(literal.this, wanted)
    type = _TYPES.get(name, name[:40])
    if node.to.expressions and type != "DECIMAL":
        type = "VARCHAR(n)" if type == "TEXT" else f"{type}(n)"
    return syntax.Cast(inner(literal), type, at=place_of(node))


_READERS: dict[str, Callable[[Any, Callable[[Any], syntax.Syntax]], syntax.Syntax]] = {
    "Column": _column, "Literal": _literal, "Paren": _paren, "Neg": _minus, "Not": _not, "Is": _is,
    "Between": _between, "In": _in, "Cast": _cast, "TryCast": _cast, "Null": lambda node, inner: syntax.Literally(None),
    "Boolean": lambda node, inner: syntax.Literally(bool(node.this)), "Like": _like, "ILike": _like, "Escape": _like,
    "Case": _case, "If": _if, "Filter": filtered, "Interval": _interval, "AtTimeZone": zone, "Extract": extract,
    "Trim": trim, "Substring": substring, "Exists": _exists, "Window": _place, "ArgMin": arg, "ArgMax": arg,
    "WithinGroup": within_group,
}
