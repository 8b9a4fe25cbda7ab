"""Calls in an SQL text: aggregates and functions under their standard names, and syntax that is a call in other words.

The parser gives classes to the functions of `PARSED` only and leaves all others as they were written, so no argument is
lost to its readings. Other spellings of one function become one name here; `bind` refuses a name that is none. What
means a CASE (IF, COUNT_IF, FILTER) becomes that CASE, which then has the one meaning.
Checked in tests/fronts/test_sql.py and tests/fronts/test_fuzz.py.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

from dpcurator.aggregates import functions
from dpcurator.errors import Refusal
from dpcurator.fronts.bins import bin_of, width_bucket
from dpcurator.fronts.sql_nodes import kind_of, known, place_of, unavailable
from dpcurator.language.functions import ALSO
from dpcurator.language.question import Branch, Call, Case, Literally, Syntax
from dpcurator.plan.folding import INNER

NAMED: Final = {"Count": "COUNT", "Sum": "SUM", "Avg": "AVG", "Round": "ROUND", "Abs": "ABS",
                 "Coalesce": "COALESCE", "Nullif": "NULLIF", "Floor": "FLOOR", "Ceil": "CEIL"}
PARSED: Final = ("COUNT", "SUM", "AVG", "ROUND", "ABS", "COALESCE", "NULLIF")  # the parser keeps others as written
_ALSO: Final = {**ALSO, "IIF": "IF", "MEAN": "AVG", "VARIANCE": "VAR_SAMP", "STDDEV": "STDDEV_SAMP",
                "MIN_BY": "ARG_MIN", "MAX_BY": "ARG_MAX", "EVERY": "BOOL_AND",
                "LOGICAL_AND": "BOOL_AND", "LOGICAL_OR": "BOOL_OR",
                "QUANTILE_DISC": "QUANTILE", "QUANTILE_CONT": "QUANTILE", "APPROX_QUANTILE": "QUANTILE",
                "APPROX_TOP_K": "TOP_K"}


def is_function(node: Any) -> bool:
    from sqlglot import exp

    return isinstance(node, exp.Func) and not isinstance(node, exp.Binary)


def call(node: Any, inner: Callable[[Any], Syntax]) -> Syntax:
    kind, at = kind_of(node), place_of(node)
    if kind == "Anonymous":
        return _written(node, inner)
    name = NAMED[kind]
    known(node, "this", "expressions", "decimals", "expression", "big_int")
    first = node.this
    if kind_of(first) == "Star":
        known(first)
        known(node, "this", "big_int")
        return Call(name, star=True, at=at)
    if kind_of(first) == "Distinct":
        known(first, "expressions")
        return Call(name, tuple(inner(part) for part in first.expressions), distinct=True, at=at)
    rest = [node.args.get("decimals"), node.args.get("expression"), *(node.args.get("expressions") or [])]
    parts = [part for part in (first, *rest) if part is not None]
    return Call(name, tuple(inner(part) for part in parts), at=at)


def _written(node: Any, inner: Callable[[Any], Syntax]) -> Syntax:
    """A function as it was written; `bind` refuses one that is not there, naming those that are."""
    known(node, "this", "expressions")
    written, at = str(node.this).upper()[:40], place_of(node)
    name = _ALSO.get(written, written)
    if any(kind_of(part) in ("Star", "Distinct") for part in node.expressions):
        if name in ("COUNT_IF", "COUNTIF"):
            raise Refusal("COUNT_IF takes one condition.", where=at, cure="Write it as in COUNT_IF(age > 65).")
        return Call("TOP_K" if name == "MODE" else name, star=True, at=at)
    parts = tuple(inner(part) for part in node.expressions)
    if name == "IF" and len(parts) == 3:
        return Case((Branch(parts[0], parts[1]),), parts[2])
    if name == "BIN":
        return bin_of(parts, at)
    if name == "WIDTH_BUCKET":
        return width_bucket(parts, at)
    if name == "MEDIAN" and len(parts) == 1:
        return Call("QUANTILE", (*parts, Literally(Fraction(1, 2))), at=at)
    if name == "MODE":  # of no value, or of several, as TOP_K that is refused; or MODE() WITHIN GROUP
        return Call("TOP_K", (*parts, Literally(Fraction(1))) if len(parts) == 1 else (), at=at)
    if name in ("COUNT_IF", "COUNTIF"):
        if len(parts) != 1:
            raise Refusal("COUNT_IF takes one condition.", where=at, cure="Write it as in COUNT_IF(age > 65).")
        return Call("COUNT", (Case((Branch(parts[0], Literally(Fraction(1))),)),), at=at)
    return Call(name, parts, at=at)


def filtered(node: Any, inner: Callable[[Any], Syntax]) -> Syntax:
    """SUM(x) FILTER (WHERE c) is SUM(CASE WHEN c THEN x END); COUNT(*) counts 1 there."""
    known(node, "this", "expression")
    known(node.expression, "this")
    made = inner(node.this)
    if not isinstance(made, Call) or made.function not in (*functions(), *INNER):
        raise unavailable(node)
    if made.distinct and (len(made.arguments) != 1 or made.star):
        raise unavailable(node)
    if made.function == "TOP_K":
        raise Refusal("names of the most frequent take no FILTER.", where=made.at, cure="Put the condition in WHERE.")
    *first, last = (Literally(Fraction(1)),) if made.star or not made.arguments else made.arguments
    if made.function == "QUANTILE" and first:
        condition = Case((Branch(inner(node.expression.this), first[0]),))
        return Call(made.function, (condition, *first[1:], last), at=made.at)
    kept = Case((Branch(inner(node.expression.this), last),))
    return Call(made.function, (*first, kept), made.distinct, at=made.at)


def within_group(node: Any, inner: Callable[[Any], Syntax]) -> Syntax:
    """PERCENTILE_CONT(q) or PERCENTILE_DISC(q) WITHIN GROUP (ORDER BY x); of x DESC, the 1 - q of x. MODE() as well."""
    known(node, "this", "expression")
    made, order = inner(node.this), node.expression
    if isinstance(made, Call) and (made.function, made.arguments) == ("TOP_K", ()) and len(order.expressions) == 1:
        known(order, "expressions")
        return Call("TOP_K", (inner(order.expressions[0].this), Literally(Fraction(1))), at=made.at)
    if not isinstance(made, Call) or made.function not in ("PERCENTILE_CONT", "PERCENTILE_DISC"):
        raise unavailable(node)
    known(order, "expressions")
    (one, *more), (q, *others) = order.expressions, made.arguments or (Literally(None),)
    value = q.value if isinstance(q, Literally) else None
    if more or others or kind_of(one) != "Ordered" or isinstance(value, bool | str) or value is None:
        raise Refusal(
            f"{made.function} takes one number, and one value to order by.", where=made.at,
            cure=f"Write it as in {made.function}(0.5) WITHIN GROUP (ORDER BY age).",
        )
    known(one, "this", "desc", "nulls_first")
    q = Literally(1 - value) if one.args.get("desc") else q
    return Call("QUANTILE", (inner(one.this), q), at=made.at)


def arg(node: Any, inner: Callable[[Any], Syntax]) -> Syntax:
    """ARG_MIN(x, y) and ARG_MAX(x, y)."""
    known(node, "this", "expression")
    parts = [part for part in (node.this, node.args.get("expression")) if part is not None]
    return Call("ARG_MIN" if kind_of(node) == "ArgMin" else "ARG_MAX", tuple(map(inner, parts)), at=place_of(node))


def zone(node: Any, inner: Callable[[Any], Syntax]) -> Syntax:
    known(node, "this", "zone")
    return Call("TIMEZONE", (inner(node.args["zone"]), inner(node.this)), at=place_of(node))


def extract(node: Any, inner: Callable[[Any], Syntax]) -> Syntax:
    known(node, "this", "expression")
    if kind_of(node.this) not in ("Var", "Literal"):
        raise unavailable(node)
    return Call("DATE_PART", (Literally(str(node.this.this).lower()), inner(node.expression)), at=place_of(node))


def trim(node: Any, inner: Callable[[Any], Syntax]) -> Syntax:
    known(node, "this", "expression", "position")
    letters = node.args.get("expression")
    if letters is not None:
        raise Refusal(
            "TRIM takes spaces off only.", where=place_of(node), cure="Write TRIM(x), LTRIM(x) or REPLACE(x, 'a', '')."
        )
    name = {"LEADING": "LTRIM", "TRAILING": "RTRIM"}.get(str(node.args.get("position") or "").upper(), "TRIM")
    return Call(name, (inner(node.this),), at=place_of(node))


def substring(node: Any, inner: Callable[[Any], Syntax]) -> Syntax:
    known(node, "this", "start", "length")
    parts = [node.this, node.args.get("start"), node.args.get("length")]
    return Call("SUBSTRING", tuple(inner(one) for one in parts if one is not None), at=place_of(node))
