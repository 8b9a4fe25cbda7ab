"""A question of an inner question, as one SELECT: the cure where WITH or a subquery in FROM only narrows rows.

Definition  WITH o AS (SELECT * FROM t WHERE a) SELECT ... FROM o WHERE b, and SELECT ... FROM (SELECT * FROM t WHERE a)
            AS o WHERE b, are SELECT ... FROM t WHERE a AND b. So are inner lists of plain columns, where the outer
            question names no other; nothing else is rewritten.
Checked in tests/plans/test_cures.py.
"""

from __future__ import annotations

from typing import Any

from dpcurator.errors import Mend


def mends_of(tree: Any) -> tuple[Mend, ...]:
    """The whole question without its inner one; nothing where that is not the same."""
    from sqlglot import exp

    if not isinstance(tree, exp.Select) or tree.args.get("joins"):
        return ()
    tree = tree.copy()
    begun, source = tree.args.get("with_"), tree.args["from_"].this if tree.args.get("from_") else None
    if begun is not None:
        given = {one.alias for one in begun.expressions}
        if len(begun.expressions) != 1 or not isinstance(source, exp.Table) or source.name not in given:
            return ()
        inner, names = begun.expressions[0].this, {source.name, source.alias}
    elif isinstance(source, exp.Subquery):
        inner, names = source.this, {source.alias}
    else:
        return ()
    if not _narrows(inner, exp) or any(one is not tree for one in tree.find_all(exp.Select) if one is not inner):
        return ()
    kept = {one.name for one in inner.expressions}
    own = [one for one in tree.find_all(exp.Column) if one.find_ancestor(exp.Select) is tree]
    titles = {one.alias for one in tree.expressions if one.alias}
    if "*" not in kept and not {one.name for one in own} <= kept | titles:
        return ()
    for one in own:
        if one.table in names:
            one.set("table", None)
    both = [one.this for one in (inner.args.get("where"), tree.args.get("where")) if one is not None]
    tree.set("with_", None)
    tree.set("from_", inner.args["from_"])
    tree.set("where", exp.Where(this=exp.and_(*both)) if both else None)
    return (Mend(tree.sql(), to="question"),)


def _narrows(inner: Any, exp: Any) -> bool:
    """Whether it is SELECT * or plain columns FROM one table WHERE a condition, and no more."""
    given = {name for name, value in inner.args.items() if value not in (None, [], False)}
    return (
        isinstance(inner, exp.Select)
        and {"from_"} <= given <= {"expressions", "from_", "where"}
        and isinstance(inner.args["from_"].this, exp.Table)
        and not inner.args["from_"].this.alias
        and all(isinstance(one, exp.Star | exp.Column) for one in inner.expressions)
        and not any(one.table for one in inner.find_all(exp.Column))
    )
