"""The question to ask instead of one number of each unit inside an expression: that number joined, as SQL text.

    cost > (SELECT AVG(w.cost) FROM visits AS w WHERE w.pid = v.pid)   and   SUM(cost) OVER (PARTITION BY pid)

are each a subquery by the unit, joined on it. Only what is sure to mean the same is rewritten: one table, one tie by =,
an aggregate; of anything else there is no text. Nothing is answered by it: it is the cure of a refusal.
Checked in tests/plan/test_relations_mended.py.
"""

from __future__ import annotations

from typing import Any, Final

from dpcurator.errors import Mend, Refusal
from dpcurator.fronts.sql_nodes import kind_of

OWN: Final = "own"  # what the joined number, and the subquery, are called
_FOLDS: Final = ("Avg", "Sum", "Min", "Max", "Count")
MOST: Final = 400  # letters of a question in a cure


def with_join(refused: Refusal, node: Any) -> Refusal:
    """The refusal of a subquery or window in an expression, with the join to write where there is one."""
    own = _alone(node)
    put = _joined(node)
    if put is None:
        return refused
    cure = f"Join the number of each: {put}" if len(put) <= MOST else refused.cure
    if own and len(put) <= MOST:
        cure = f"Where PARTITION BY names each person, join the number: {put} A number of several people together is a "
        cure += f"question of its own, whose answer is free to work on: {own}"
    return Refusal(refused.what, where=refused.where, cure=cure, mends=(Mend(put, to="question"),))


def _alone(node: Any) -> str:
    """The question for AGGREGATE(x) of each key of OVER (PARTITION BY key): the one that a release answers."""
    around = node.parent_select
    if kind_of(node) != "Window" or around is None or around.args.get("from_") is None:
        return ""
    keys = ", ".join(one.sql() for one in node.args.get("partition_by") or [])
    where = around.args.get("where")
    told = "" if where is None else f" {where.sql(comments=False)}"
    return f"SELECT {keys}, {node.this.sql()} FROM {around.args['from_'].this.sql()}{told} GROUP BY {keys}"


def _joined(node: Any) -> str | None:
    from sqlglot import exp

    node.meta["here"] = True
    whole = node.root().copy()
    here = next(one for one in whole.walk() if one.meta.get("here"))
    around = here.parent_select
    if around is None or around.args.get("from_") is None:
        return None
    if any(one.alias_or_name.lower() == OWN for one in whole.find_all(exp.Table, exp.Subquery)):
        return None
    made = _of_subquery(here) if kind_of(here) == "Subquery" else _of_window(here, around)
    if made is None:
        return None
    join, number = made
    here.replace(number)
    around.append("joins", join)
    return str(whole.sql(comments=False))


def _of_subquery(here: Any) -> tuple[Any, Any] | None:
    """The join, and the number, of (SELECT AGGREGATE(x) FROM table AS w WHERE w.pid = v.pid AND ...)."""
    from sqlglot import exp

    inner = here.this
    if not isinstance(inner, exp.Select) or len(inner.expressions) != 1 or inner.args.get("where") is None:
        return None
    said = {name for name, value in inner.args.items() if value not in (None, [], False)}
    table, fold = inner.args.get("from_"), inner.expressions[0].unalias()
    if said != {"expressions", "from_", "where"} or table is None or not isinstance(table.this, exp.Table):
        return None
    if kind_of(fold) not in _FOLDS:
        return None
    name, condition = table.this.alias_or_name, inner.args["where"].this
    leaves = list(condition.flatten()) if isinstance(condition, exp.And) else [condition]
    ties = [one for one in leaves if isinstance(one, exp.EQ) and isinstance(one.left, exp.Column)
            and isinstance(one.right, exp.Column) and one.left.table and one.right.table
            and (one.left.table == name) != (one.right.table == name)]
    rest = [one for one in leaves if one not in ties]
    if len(ties) != 1 or any(one.table not in ("", name) for part in rest for one in part.find_all(exp.Column)):
        return None
    tie: Any = ties[0]
    own, other = (tie.left, tie.right) if tie.left.table == name else (tie.right, tie.left)
    made = exp.select(own.copy(), exp.alias_(fold.copy(), OWN)).from_(table.this.copy()).group_by(own.copy())
    for one in rest:
        made = made.where(one.copy())
    on = exp.EQ(this=exp.column(own.this.copy(), table=OWN), expression=other.copy())
    number: Any = exp.column(OWN, table=OWN)
    if kind_of(fold) == "Count":  # of no rows it is 0
        number = exp.func("COALESCE", number, exp.Literal.number(0))
    return exp.Join(this=made.subquery(OWN), side="LEFT", on=on), number


def _of_window(here: Any, around: Any) -> tuple[Any, Any] | None:
    """The join, and the number, of AGGREGATE(x) OVER (PARTITION BY pid)."""
    from sqlglot import exp

    keys = here.args.get("partition_by") or []
    said = {name for name, value in here.args.items() if value not in (None, [], False)}
    whole = {name for name, value in around.args.items() if value not in (None, [], False)}
    table = around.args["from_"].this
    if said - {"over"} != {"this", "partition_by"} or kind_of(here.this) not in _FOLDS:
        return None
    if whole - {"expressions", "from_", "where"} or not isinstance(table, exp.Table):
        return None
    if not all(isinstance(one, exp.Column) and not one.table for one in keys):
        return None
    made = exp.select(*(one.copy() for one in keys), exp.alias_(here.this.copy(), OWN)).from_(table.copy())
    made = made.group_by(*(one.copy() for one in keys))
    if around.args.get("where") is not None:
        made = made.where(around.args["where"].this.copy())
    using = [one.this.copy() for one in keys]
    return exp.Join(this=made.subquery(OWN), side="LEFT", using=using), exp.column(OWN, table=OWN)
