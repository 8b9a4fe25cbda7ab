"""Functions of bounded rows whose sensitivity follows from how they are made.

Definition  A Bounded is a function of a list of rows together with its l1, squared l2 and linf sensitivity under each
            relation, by these rules, each row's value being clamped to [L, U] first (no number, and nan, counts as L):
              count         1; with replaced rows 0 if every row is counted, else 1
              sum           max(|L|, |U|); U - L where a row is replaced
              mean          (U - L) / n where a row is replaced and n is public; else refused
              variance      (U - L)**2 (n - 1) / n**2, likewise
              smallest, largest   U - L, the whole range
              histogram     of listed keys: one cell by 1; with replaced rows two cells, if there are two
            and from these: sums and multiples, `clamp`, `map` by a function of known Lipschitz constant, `stack`.
            A truth in a row is the number 0 or 1: were it refused, one row would decide whether there is an answer.
Promise     No neighbours are farther apart. The rules above are attained; those of combinations need not be.
Proof       Variance: with m and v the mean and variance of the other n - 1 rows, that of all is (n-1)/n v + (n-1)/n**2
            (x - m)**2, and (x - m)**2 lies within [0, (U-L)**2]; all others at L, x moved from L to U, attains it.
            Sums: Minkowski, so l2 of a sum is at most the sum of the l2: squared, a + b + 2 root(ab), rounded up.
            The others are a line each.
Source      Dwork, McSherry, Nissim, Smith, TCC 2006; Minkowski's inequality.
Checked     tests/sensitivity/test_bounded.py: each rule against the enumeration of neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpcurator.errors import Refusal
from dpcurator.numbers import rational, whole
from dpcurator.numbers.coerce import real_value, unmasked
from dpcurator.numbers.rational import Spelled, at_least_0
from dpcurator.numbers.readable import readable
from dpcurator.sensitivity.exactly import holds, root, same
from dpcurator.sensitivity.neighbours import relation

Values = tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class Moves:
    """How far neighbours move a function at most, in its own unit (l2_squared in the square of it)."""

    l1: Fraction
    l2_squared: Fraction
    linf: Fraction

    __repr__ = readable

    @classmethod
    def one(cls, step: Fraction) -> Moves:
        """One number, moved by at most `step`."""
        return cls(step, step * step, step)


@dataclass(frozen=True, slots=True, eq=False)
class Bounded:
    """A function of a list of rows whose sensitivity follows from how it is made: counts, sums, means, histograms.

    Made by Bounded.count, .sum, .mean, .variance, .smallest, .largest and .histogram, each row's value being clamped to
    public bounds first, and combined by +, -, *, `clamp`, `map` and `stack`. Calling it on a list of rows gives a tuple
    of exact Fractions, which are as private as the rows; `dp.sensitivity_of` says how far neighbours move it.

    Raises Refusal for bounds that are no bounds, and for combinations whose sensitivity is not known.

    >>> import dpcurator as dp
    >>> total = dp.Bounded.sum(lower=0, upper=100)
    >>> total([30, 250, None])  # 250 counts as 100, a missing value as 0
    (Fraction(130, 1),)
    >>> dp.sensitivity_of(total, neighbours="add-remove").l1
    Fraction(100, 1)

    Source: Dwork, McSherry, Nissim, Smith 2006.
    """

    name: str
    size: int  # how many numbers it gives
    _value: Callable[[Sequence[Any]], Values]
    _moves: Callable[[str, int | None], Moves]

    __repr__ = readable

    def __call__(self, rows: Iterable[Any]) -> Values:
        """rows: a list, an array of one dimension, a Series or an iterator, taken once. Raises Refusal for what is
        none; a row that is no number is missing, and a truth is 0 or 1."""
        return self._value(_rows(rows))

    @classmethod
    def count(cls, where: Callable[[Any], bool] | None = None) -> Bounded:
        """How many rows there are, or for how many `where` is true."""

        def value(rows: Sequence[Any]) -> Values:
            return (Fraction(len(rows) if where is None else sum(holds(where(row)) for row in rows)),)

        return cls(
            "count", 1, value, lambda relate, n: Moves.one(Fraction(where is not None or relate == "add-remove"))
        )

    @classmethod
    def sum(cls, *, lower: Spelled, upper: Spelled, of: Callable[[Any], Any] | None = None) -> Bounded:
        """The sum of the rows' values (of(row), or the rows themselves), each clamped.

        Raises Refusal for bounds that are none.
        """
        low, high, read = _read(lower, upper, of)

        def moves(relate: str, n: int | None) -> Moves:
            return Moves.one(high - low if relate == "replace-one" else max(abs(low), abs(high)))

        return cls("sum", 1, lambda rows: (sum(map(read, rows), Fraction(0)),), moves)

    @classmethod
    def mean(cls, *, lower: Spelled, upper: Spelled, of: Callable[[Any], Any] | None = None) -> Bounded:
        """The mean of clamped values; of no rows the middle. Its sensitivity needs a public n.

        Raises Refusal for bounds that are none.
        """
        low, high, read = _read(lower, upper, of)

        def value(rows: Sequence[Any]) -> Values:
            return (sum(map(read, rows), Fraction(0)) / len(rows) if rows else (low + high) / 2,)

        return cls("mean", 1, value, lambda relate, n: Moves.one((high - low) / _public(relate, n, "mean")))

    @classmethod
    def variance(cls, *, lower: Spelled, upper: Spelled, of: Callable[[Any], Any] | None = None) -> Bounded:
        """The population variance of clamped values, within [0, (U - L)**2 / 4]; of no rows 0. It needs a public n.

        Raises Refusal for bounds that are none.
        """
        low, high, read = _read(lower, upper, of)

        def value(rows: Sequence[Any]) -> Values:
            if not rows:
                return (Fraction(0),)
            seen = [read(row) for row in rows]
            mean = sum(seen, Fraction(0)) / len(seen)
            return (sum(((x - mean) ** 2 for x in seen), Fraction(0)) / len(seen),)

        def moves(relate: str, n: int | None) -> Moves:
            known = _public(relate, n, "variance")
            return Moves.one((high - low) ** 2 * Fraction(known - 1, known * known))

        return cls("variance", 1, value, moves)

    @classmethod
    def smallest(cls, *, lower: Spelled, upper: Spelled, of: Callable[[Any], Any] | None = None) -> Bounded:
        """The smallest clamped value; of no rows upper. Its sensitivity is the whole range: see dp.order_statistic.

        Raises Refusal for bounds that are none.
        """
        low, high, read = _read(lower, upper, of)
        return cls(
            "smallest", 1, lambda rows: (min(map(read, rows), default=high),), lambda relate, n: Moves.one(high - low)
        )

    @classmethod
    def largest(cls, *, lower: Spelled, upper: Spelled, of: Callable[[Any], Any] | None = None) -> Bounded:
        """The largest clamped value; of no rows lower. Its sensitivity is the whole range: see dp.order_statistic.

        Raises Refusal for bounds that are none.
        """
        low, high, read = _read(lower, upper, of)
        return cls(
            "largest", 1, lambda rows: (max(map(read, rows), default=low),), lambda relate, n: Moves.one(high - low)
        )

    @classmethod
    def histogram(cls, keys: Sequence[Any], *, of: Callable[[Any], Any] | None = None) -> Bounded:
        """How many rows have each key of a public list; other rows are in no cell.

        Raises Refusal for keys that are no list of different ones.
        """
        known = list(keys)
        if not known or len(set(known)) != len(known):
            raise Refusal("keys must be a list of distinct keys.", cure='Write keys as in ["a", "b"].')

        def value(rows: Sequence[Any]) -> Values:
            seen = [row if of is None else of(row) for row in rows]
            return tuple(Fraction(sum(same(key, one) for one in seen)) for key in known)

        def moves(relate: str, n: int | None) -> Moves:
            cells = Fraction(2 if relate == "replace-one" and len(known) > 1 else 1)
            return Moves(cells, cells, Fraction(1))

        return cls("histogram", len(known), value, moves)

    def __add__(self, other: Bounded) -> Bounded:
        if not isinstance(other, Bounded) or other.size != self.size:
            raise Refusal(
                "Only functions that give equally many numbers add up.", cure="Use stack to put them together."
            )

        def moves(relate: str, n: int | None) -> Moves:
            a, b = self._moves(relate, n), other._moves(relate, n)
            square = a.l2_squared + b.l2_squared + 2 * root(a.l2_squared * b.l2_squared).hi
            return Moves(a.l1 + b.l1, square, a.linf + b.linf)

        def value(rows: Sequence[Any]) -> Values:
            return tuple(x + y for x, y in zip(self(rows), other(rows), strict=True))

        return Bounded(f"({self.name} + {other.name})", self.size, value, moves)

    def __mul__(self, factor: Spelled) -> Bounded:
        times = rational(factor, name="factor")
        return self.map(lambda x: times * x, lipschitz=abs(times), name=f"{times} * {self.name}")

    __rmul__ = __mul__

    def __sub__(self, other: Bounded) -> Bounded:
        return self + other * -1

    def clamp(self, lower: Spelled, upper: Spelled) -> Bounded:
        """Each number clamped to [lower, upper]: no farther apart than before, nor than the range.

        Raises Refusal for bounds that are none.
        """
        low, high, _ = _read(lower, upper, None)
        most = high - low

        def moves(relate: str, n: int | None) -> Moves:
            a = self._moves(relate, n)
            return Moves(min(a.l1, self.size * most), min(a.l2_squared, self.size * most**2), min(a.linf, most))

        def value(rows: Sequence[Any]) -> Values:
            return tuple(min(max(x, low), high) for x in self(rows))

        return Bounded(f"clamp({self.name})", self.size, value, moves)

    def map(self, f: Callable[[Fraction], Any], *, lipschitz: Spelled, name: str = "") -> Bounded:
        """f of each number, where |f(x) - f(y)| <= lipschitz |x - y|: believed, so check it if in doubt.

        Raises Refusal for a slope below 0.
        """
        slope = at_least_0(lipschitz, name="lipschitz", like="2, which bounds the slope of f")

        def moves(relate: str, n: int | None) -> Moves:
            a = self._moves(relate, n)
            return Moves(slope * a.l1, slope**2 * a.l2_squared, slope * a.linf)

        def value(rows: Sequence[Any]) -> Values:
            return tuple(Fraction(f(x)) for x in self(rows))

        return Bounded(name or f"map({self.name})", self.size, value, moves)

    @classmethod
    def stack(cls, *parts: Bounded) -> Bounded:
        """The numbers of all parts in one vector. Raises Refusal for what is no such function."""
        if not parts or not all(isinstance(part, Bounded) for part in parts):
            raise Refusal("stack takes functions of this kind.", cure="Write Bounded.stack(Bounded.count(), ...).")

        def moves(relate: str, n: int | None) -> Moves:
            all_moves = [part._moves(relate, n) for part in parts]
            return Moves(
                sum((one.l1 for one in all_moves), Fraction(0)),
                sum((one.l2_squared for one in all_moves), Fraction(0)),
                max(one.linf for one in all_moves),
            )

        def value(rows: Sequence[Any]) -> Values:
            return tuple(x for part in parts for x in part(rows))

        return cls(f"({', '.join(part.name for part in parts)})", sum(part.size for part in parts), value, moves)


def sensitivity_of(function: Bounded, *, neighbours: str, n: int | None = None) -> Moves:
    """The sensitivity of a function made by dp.Bounded: how far neighbours move it, in l1, l2 and linf.

    Parameters:
        function: a dp.Bounded.
        neighbours: "add-remove" (one row more or less) or "replace-one".
        n: int >= 1, the number of rows where that is public; a mean and a variance need it.

    Returns `l1`, `l2_squared` and `linf`, Fractions in the function's unit (the square of it for l2_squared). Raises
    Refusal for any other function, and where the sensitivity is not bounded for these neighbours.

    >>> import dpcurator as dp
    >>> mean = dp.Bounded.mean(lower=30, upper=150)
    >>> dp.sensitivity_of(mean, neighbours="replace-one", n=1000).l1
    Fraction(3, 25)

    Source: Dwork, McSherry, Nissim, Smith 2006.
    """
    if not isinstance(function, Bounded):
        raise Refusal(
            "The sensitivity of a function follows only from how it was made.",
            cure="Make it of dp.Bounded, or try all neighbours of a small domain with dp.check_sensitivity.",
        )
    return function._moves(relation(neighbours), None if n is None else whole(n, name="n", least=1))


def _rows(given: Any) -> list[Any]:
    """The rows as a list."""
    if isinstance(given, list):
        return given
    if isinstance(given, str | bytes | Mapping) or hasattr(given, "columns") or not isinstance(given, Iterable):
        raise Refusal(
            f"The rows are a list, and this is of type {type(given).__name__}.",
            cure='Give a list, an array or one column, as in frame["age"].',
        )
    axes = getattr(given, "ndim", 1)
    if axes != 1:  # of the container, whatever its rows are
        raise Refusal(
            f"The rows are a list, and this is an array of {axes} dimensions.",
            cure="Give one column, as in array[:, 0], or list(array) where each row is a list.",
        )
    return list(unmasked(given))


def _read(
    lower: Spelled, upper: Spelled, of: Callable[[Any], Any] | None
) -> tuple[Fraction, Fraction, Callable[[Any], Fraction]]:
    low, high = rational(lower, name="lower"), rational(upper, name="upper")
    if low > high:
        raise Refusal("lower is above upper.", cure="Write bounds as in lower=0, upper=100.")

    def value(row: Any) -> Fraction:
        raw = row if of is None else of(row)
        exact = real_value(raw)
        return low if exact is None else Fraction(min(max(exact, low), high))

    return low, high, value


def _public(relate: str, n: int | None, name: str) -> int:
    if relate == "add-remove":
        raise Refusal(
            f"Neighbours that differ in their number of rows can move a {name} by its whole range.",
            cure="Ask for a sum and a count, and divide; or use replace-one with a public n.",
        )
    if n is None:
        raise Refusal(f"The sensitivity of a {name} needs n, the public number of rows.", cure="Write n as in n=100.")
    return n
