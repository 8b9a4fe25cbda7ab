"""Columns, choices and aggregates: the words that begin an expression of Python, and what the steps of a frame take.

    dp.col("age") > 65        (dp.col("city") == "Leeds") & ~dp.col("age").is_missing()
    dp.mean("age")            (dp.sum("cost") / dp.count()).round(2)

Each makes the syntax that the SQL front makes of the same words (`language/question.py`), so one binding gives both
their meaning. Names are exact, as if quoted. An aggregate looks at single rows: one inside another is refused, where it
is written. Checked in tests/fronts/test_columns.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from dpcurator.aggregates import functions
from dpcurator.errors import Refusal
from dpcurator.fronts.expressions import Expression as Expression
from dpcurator.fronts.expressions import literal
from dpcurator.fronts.values import shown, text
from dpcurator.language.names import show
from dpcurator.language.question import Branch, Call, Case, Literally, Name, Syntax, inside, walk
from dpcurator.numbers import whole
from dpcurator.numbers.rational import from_0_to_1

UNITS: Final = Call("COUNT", distinct=True)  # COUNT(DISTINCT unit), as long as no table says which column that is


def col(name: str) -> Expression:
    """A column, by its exact name, to build questions of data frames with.

    In `having` and `order_by` it may also be a column of the answer. name: as the catalog spells it. Raises Refusal if
    the name is no text; that there is no such column is told by the table it is used with.

    >>> import dpcurator as dp
    >>> (dp.col("age") > 65) & dp.col("city").isin(["Leeds"])
    "age" > 65 AND "city" IN ('Leeds')
    """
    return Expression(named(name))


def count(column: str | Expression | None = None) -> Expression:
    """Counts rows: SQL's COUNT(*); with a column, the rows where it is present.

    column: a name, or an expression of rows; None for all rows. Raises Refusal if it is neither.

    >>> import dpcurator as dp
    >>> dp.count()
    COUNT(*)
    """
    return Expression(Call("COUNT", star=True)) if column is None else aggregate("COUNT", column)


def count_if(condition: Expression) -> Expression:
    """Counts the rows where a condition is true: SQL's COUNT_IF(condition).

    It is COUNT(*) FILTER (WHERE condition), one noisy query, as a count is. Rows where the condition is false or
    unknown are not counted. condition: as `dp.col("age") > 65`. Raises Refusal if it is no condition.

    >>> import dpcurator as dp
    >>> dp.count_if(dp.col("age") > 65) / dp.count()
    COUNT(CASE WHEN "age" > 65 THEN 1 END) / COUNT(*)
    """
    if not isinstance(condition, Expression):
        raise Refusal("count_if takes a condition.", cure='Write dp.count_if(dp.col("age") > 65).')
    return aggregate("COUNT", when(condition).then(1).otherwise())


def count_units() -> Expression:
    """Counts the protected units: SQL's COUNT(DISTINCT unit), each once a group.

    Raises Refusal where it is used with a table whose unit is each row.

    >>> import dpcurator as dp
    >>> (dp.count() / dp.count_units()).round(1)
    ROUND(COUNT(*) / COUNT(DISTINCT ), 1)
    """
    return Expression(UNITS)


def sum_of(column: str | Expression) -> Expression:
    """Sums a column, or an expression of rows, whose bounds are known: SQL's SUM.

    Each value is clamped to the bounds; missing ones are left out. column: a name, or an expression. Raises Refusal if
    it is neither; without bounds the question is refused.

    >>> import dpcurator as dp
    >>> dp.sum(dp.col("cost").clip(0, 500))
    SUM(CLIP("cost", 0, 500))
    """
    return aggregate("SUM", column)


def mean(column: str | Expression) -> Expression:
    """Averages a column, or an expression of rows, whose bounds are known: SQL's AVG.

    It pays for two noisy queries, a sum and a count. column: a name, or an expression. Raises Refusal if it is neither;
    without bounds the question is refused.

    >>> import dpcurator as dp
    >>> dp.mean("age")
    AVG("age")
    """
    return aggregate("AVG", column)


def count_distinct(column: str | Expression) -> Expression:
    """Counts the different values of a column, or of each unit's rows in `per_unit`: SQL's COUNT(DISTINCT x).

    It is one noisy query, of each unit as many values as its caps allow; missing is no value. column: a name, or an
    expression of rows, that is a text, a whole number, a date or a time. Raises Refusal if it is neither; fractions are
    refused where it is used, but for `per_unit`. The protected units are counted by `dp.count_units()`.

    >>> import dpcurator as dp
    >>> dp.count_distinct("city")
    COUNT(DISTINCT "city")
    """
    made = aggregate("COUNT", column).syntax
    assert isinstance(made, Call)
    return Expression(replace(made, distinct=True))


def min_of(column: str | Expression) -> Expression:
    """The least value of each unit's rows, in `per_unit`: SQL's MIN, exact, since it is not shown.

    Texts are compared by code point; missing values are left out. column: a name, or an expression of rows. Raises
    Refusal if it is neither.

    >>> import dpcurator as dp
    >>> dp.min("day")
    MIN("day")
    """
    return aggregate("MIN", column)


def max_of(column: str | Expression) -> Expression:
    """The greatest value of each unit's rows, in `per_unit`: SQL's MAX, exact, since it is not shown.

    column: a name, or an expression of rows. Raises Refusal if it is neither.

    >>> import dpcurator as dp
    >>> dp.max("day")
    MAX("day")
    """
    return aggregate("MAX", column)


def arg_min(column: str | Expression, by: str | Expression) -> Expression:
    """The value where another one is least, among each unit's rows, in `per_unit`: SQL's ARG_MIN(x, y).

    Of several values there it is the smallest, whatever order rows have. column, by: names, or expressions of rows.
    Raises Refusal if one is neither.

    >>> import dpcurator as dp
    >>> dp.arg_min("city", "day")
    ARG_MIN("city", "day")
    """
    return aggregate("ARG_MIN", column, by)


def arg_max(column: str | Expression, by: str | Expression) -> Expression:
    """The value where another one is greatest, among each unit's rows, in `per_unit`: SQL's ARG_MAX(x, y).

    Of several values there it is the smallest, whatever order rows have. column, by: names, or expressions of rows.
    Raises Refusal if one is neither.

    >>> import dpcurator as dp
    >>> dp.arg_max("city", "day")
    ARG_MAX("city", "day")
    """
    return aggregate("ARG_MAX", column, by)


def any_of(condition: str | Expression) -> Expression:
    """Whether a condition is true of any of each unit's rows, in `per_unit`: SQL's BOOL_OR.

    Missing where it is unknown in all of them. condition: a column of booleans, or an expression. Raises Refusal if it
    is neither.

    >>> import dpcurator as dp
    >>> dp.any(dp.col("code") == "E11")
    BOOL_OR("code" = 'E11')
    """
    return aggregate("BOOL_OR", condition)


def all_of(condition: str | Expression) -> Expression:
    """Whether a condition is true of all of each unit's rows where it is known, in `per_unit`: SQL's BOOL_AND.

    condition: a column of booleans, or an expression. Raises Refusal if it is neither.

    >>> import dpcurator as dp
    >>> dp.all(dp.col("cost") < 100)
    BOOL_AND("cost" < 100)
    """
    return aggregate("BOOL_AND", condition)


def variance(column: str | Expression, *, population: bool = False) -> Expression:
    """The variance of a column, or of an expression of rows, whose bounds are known: SQL's VAR_SAMP.

    It pays for three noisy queries, a sum, a sum of squares and a count, of which `dp.mean` shares two. column: a name,
    or an expression. population: whether to divide by n and not by n - 1, as VAR_POP does. Raises Refusal as `dp.mean`
    does.

    >>> import dpcurator as dp
    >>> dp.variance("age")
    VAR_SAMP("age")
    """
    return aggregate("VAR_POP" if population else "VAR_SAMP", column)


def stddev(column: str | Expression, *, population: bool = False) -> Expression:
    """The standard deviation, the root of `dp.variance`: SQL's STDDEV_SAMP.

    column: a name, or an expression. population: whether to divide by n and not by n - 1, as STDDEV_POP does. Raises
    Refusal as `dp.mean` does.

    >>> import dpcurator as dp
    >>> dp.stddev(dp.col("cost").clip(0, 500))
    STDDEV_SAMP(CLIP("cost", 0, 500))
    """
    return aggregate("STDDEV_POP" if population else "STDDEV_SAMP", column)


def covariance(y: str | Expression, x: str | Expression, *, population: bool = False) -> Expression:
    """The covariance of two columns, over the rows where both are present: SQL's COVAR_SAMP.

    It pays for four noisy queries. y, x: names, or expressions of rows whose bounds are known. population: whether to
    divide by n and not by n - 1, as COVAR_POP does. Raises Refusal as `dp.mean` does.

    >>> import dpcurator as dp
    >>> dp.covariance("cost", "age", population=True)
    COVAR_POP("cost", "age")
    """
    return aggregate("COVAR_POP" if population else "COVAR_SAMP", y, x)


def correlation(y: str | Expression, x: str | Expression) -> Expression:
    """The correlation of two columns, over the rows where both are present: SQL's CORR.

    It pays for six noisy queries, which `dp.regression` shares. y, x: names, or expressions of rows whose bounds are
    known. Raises Refusal as `dp.mean` does.

    >>> import dpcurator as dp
    >>> dp.correlation("cost", "age")
    CORR("cost", "age")
    """
    return aggregate("CORR", y, x)


def regression(what: str, y: str | Expression, x: str | Expression) -> Expression:
    """Of the line that fits y best, from x: SQL's REGR_SLOPE and the like, over the rows where both are present.

    what: "slope", "intercept", "r2" (the part of y's variance that it explains), "count", "avgx" or "avgy". y, x:
    names, or expressions of rows whose bounds are known. Raises Refusal for another word, and as `dp.mean` does.

    >>> import dpcurator as dp
    >>> dp.regression("slope", "cost", "age")
    REGR_SLOPE("cost", "age")
    """
    function = f"REGR_{what.upper()}" if isinstance(what, str) else ""
    if function not in functions():
        raise Refusal(
            f"{shown(what)} is nothing of a line.", cure='Write "slope", "intercept", "r2", "count", "avgx" or "avgy".'
        )
    return aggregate(function, y, x)


def median(column: str | Expression) -> Expression:
    """The median of a column, or of an expression of rows, whose bounds are known: SQL's MEDIAN.

    It is one of public candidates between the bounds, chosen by how many rows it misses the median by; its error bar is
    in rank, in rows. Numbers, dates and moments have one. column: a name, or an expression. Raises Refusal as `dp.mean`
    does.

    >>> import dpcurator as dp
    >>> dp.median("age")
    QUANTILE("age", 0.5)
    """
    return quantile(column, Fraction(1, 2))


def quantile(column: str | Expression, q: str | float | Fraction) -> Expression:
    """A quantile of a column, or of an expression of rows, whose bounds are known: SQL's QUANTILE(x, q).

    As `dp.median`, but for the value that a part q of the rows is at or below. column: a name, or an expression. q:
    from 0 to 1, with at most six decimal places, as .25 or "0.25". Raises Refusal for another q, and as `dp.mean` does.

    >>> import dpcurator as dp
    >>> dp.quantile("age", 0.9)
    QUANTILE("age", 0.9)
    """
    made = aggregate("QUANTILE", column).syntax
    assert isinstance(made, Call)
    return Expression(replace(made, arguments=(*made.arguments, Literally(from_0_to_1(q, name="q")))))


def mode(column: str | Expression) -> Expression:
    """The most frequent value of a column, or of an expression of rows, with listed keys: SQL's MODE.

    It is named without its count, as `dp.top_k` names several. column: a name, or an expression. Raises Refusal as
    `dp.mean` does.

    >>> import dpcurator as dp
    >>> dp.mode("city")
    TOP_K("city", 1)
    """
    return top_k(column, 1)


def top_k(column: str | Expression, k: int) -> Expression:
    """The k most frequent values of a column, or of an expression of rows, with listed keys: SQL's TOP_K(x, k).

    The answer has k rows, the most frequent first; within `group_by` so many for each group. They are chosen by their
    counts, of which nothing is released. It is asked for by itself, as the one column of `agg`. column: a name, or an
    expression. k: at least 1. Raises Refusal as `dp.mean` does, and for another k.

    >>> import dpcurator as dp
    >>> dp.top_k("city", 3)
    TOP_K("city", 3)
    """
    made = aggregate("TOP_K", column).syntax
    assert isinstance(made, Call)
    return Expression(replace(made, arguments=(*made.arguments, Literally(Fraction(whole(k, name="k", least=1))))))


def when(condition: Expression) -> Choice:
    """Chooses a value by conditions: SQL's CASE WHEN.

    condition: as `dp.col("age") < 18`. Go on with `.then(value)`, further `.when(...)`, and `.otherwise(value)`. Raises
    Refusal if it is no condition.

    >>> import dpcurator as dp
    >>> dp.when(dp.col("age") < 18).then("child").otherwise("adult")
    CASE WHEN "age" < 18 THEN 'child' ELSE 'adult' END
    """
    return Choice().when(condition)


@dataclass(frozen=True, slots=True)
class Choice:
    """`dp.when(condition).then(value)`, with further `.when(...).then(...)`; ends in `.otherwise(value)`."""

    branches: tuple[Branch, ...] = ()
    condition: Syntax | None = None

    def __repr__(self) -> str:
        made = f": {Expression(Case(self.branches, None))!r}" if self.branches else ""
        return f"<a choice, not yet whole{made}>"

    def when(self, condition: Expression) -> Choice:
        """The next condition."""
        if self.condition is not None or not isinstance(condition, Expression):
            raise Refusal(
                "when takes a condition, and then a value.", cure='Write dp.when(dp.col("age") > 65).then(1).'
            )
        return Choice(self.branches, condition.syntax)

    def then(self, value: object) -> Choice:
        """The value where the condition is true and none before it was."""
        if self.condition is None:
            raise Refusal("then comes after when.", cure='Write dp.when(dp.col("age") > 65).then(1).')
        return Choice((*self.branches, Branch(self.condition, _or_missing(value))))

    def otherwise(self, value: object = None) -> Expression:
        """The value where no condition is true; None for missing."""
        if self.condition is not None or not self.branches:
            raise Refusal("otherwise comes after then.", cure='Write dp.when(dp.col("age") > 65).then(1).otherwise(0).')
        return Expression(Case(self.branches, None if value is None else _or_missing(value)))


def _or_missing(value: object) -> Syntax:
    return Literally(None) if value is None else literal(value, "then")


def named(name: object, what: str = "a column") -> Name:
    """The exact name of a column. Raises Refusal."""
    if isinstance(name, Expression) and isinstance(name.syntax, Name):
        return name.syntax
    if not isinstance(name, str):
        raise Refusal(f"{what} is given by its name, not by {shown(name)}.", cure='Write it as in "age".')
    return Name(text(name), quoted=True)


def known_aggregates() -> dict[str, str]:
    """The SQL names of aggregates, those of `per_unit` too, each with the function of this package that makes it."""
    return {"MIN": "dp.min", "MAX": "dp.max", "ARG_MIN": "dp.arg_min", "ARG_MAX": "dp.arg_max", "BOOL_OR": "dp.any",
            "BOOL_AND": "dp.all"} | functions()


def aggregate(function: str, *columns: str | Expression) -> Expression:
    """An aggregate of a column, or of an expression of rows, by its SQL name. Raises Refusal."""
    python = known_aggregates()[function]
    parts: list[Syntax] = []
    for column in columns:
        if not isinstance(column, Expression) or isinstance(column.syntax, Name):
            parts.append(named(column, f"the column of {python}"))
            continue
        inner = next(iter(aggregates(column.syntax)), None)
        if inner is not None:
            raise Refusal(
                f"{python} looks at single rows, and this holds the aggregate {inner}.",
                cure=f'Write it as in {python}("age") or {python}(dp.col("age") * 2).',
            )
        parts.append(column.syntax)
    return Expression(Call(function, tuple(parts)))


def outside(part: Syntax) -> Iterator[Syntax]:
    """Every part of an expression, but for what is inside its aggregates; without recursion."""
    left, known = [part], known_aggregates()
    while left:
        one = left.pop()
        yield one
        if not (isinstance(one, Call) and one.function in known):
            left += reversed(inside(one))


def measured(part: Syntax) -> Iterator[Name]:
    """The columns that the aggregates of an expression are of."""
    known = known_aggregates()
    for one in outside(part):
        if isinstance(one, Call) and one.function in known:
            yield from (column for argument in one.arguments for column in walk(argument) if isinstance(column, Name))


def aggregates(part: Syntax) -> Iterator[str]:
    """The aggregates of an expression, as Python spells them."""
    known = known_aggregates()
    for one in outside(part):
        if one == UNITS:
            yield "dp.count_units()"
        elif isinstance(one, Call) and one.function in known:
            column = one.arguments[0] if one.arguments else None
            said = show(column.column) if isinstance(column, Name) else "" if column is None else "..."
            yield f"{known[one.function]}({said})"
