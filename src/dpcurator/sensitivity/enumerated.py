"""Any symmetric function of a few rows of a finite domain, with its local sensitivities found by enumeration.

Definition  f of n rows of `domain`, rational (a float is the dyadic it is); neighbours replace one row. LS of every
            multiset is found by trying its neighbours; A_k by spreading the greatest LS over k steps.
Promise     Exact, so smooth noise and propose-test-release may use it. Rows outside the domain count as its first row.
            `check_local` tries, on every pair of neighbours of a small domain, what a hand-written function promises.
Source      Nissim, Raskhodnikova, Smith, STOC 2007, section 3, taken literally.
Checked     tests/sensitivity/test_enumerated.py.
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dpcurator.errors import Refusal
from dpcurator.numbers import rational, whole
from dpcurator.numbers.rational import Spelled
from dpcurator.numbers.readable import readable
from dpcurator.sensitivity.exactly import finite, same
from dpcurator.sensitivity.function import Function, Grid
from dpcurator.sensitivity.neighbours import Index, bases, how_many

_MOST = 200_000


@dataclass(frozen=True, slots=True, eq=False)
class Enumerated:
    """Made by `enumerated`."""

    name: str
    domain: tuple[Any, ...]
    n: int
    grid: Grid
    step: Fraction  # what one step of an answer is worth
    values: dict[Index, int] = field(repr=False)
    reached: tuple[dict[Index, int], ...] = field(repr=False)  # A_k of every dataset, for k = 0, 1, ... until constant
    neighbours: str = "replace-one"

    __repr__ = readable

    def rows(self, data: Sequence[Any]) -> Index:
        """The data as a multiset of positions in the domain. n is public, so another number of rows is a Refusal."""
        if len(data) != self.n:
            raise Refusal(f"{self.name} is of {self.n} rows.", cure="The number of rows is public: declare it right.")
        return tuple(sorted(map(self._place, data)))

    def _place(self, row: Any) -> int:
        return next((place for place, one in enumerate(self.domain) if same(one, row)), 0)

    def unit(self, rows: Index) -> Fraction:
        return self.step

    def answer(self, rows: Index) -> int:
        return self.values[rows]

    def local_sensitivity_at(self, rows: Index, k: int) -> int:
        return self.reached[min(k, self.n, len(self.reached) - 1)][rows]

    def greatest(self, rows: Index) -> int:
        return max(self.reached[0].values())

    def farthest(self, rows: Index) -> int:
        return len(self.reached) - 1


def enumerated(
    f: Callable[[tuple[Any, ...]], Any],
    *,
    domain: Sequence[Any],
    n: int,
    lower: Spelled,
    upper: Spelled,
    grid: Spelled,
) -> Enumerated:
    """A function of a few rows, with its local sensitivity at every distance found by trying all datasets.

    For dp.Smooth and dp.ProposeTestRelease, where a function is none of the known ones. One row is replaced, and the
    number of rows is public.

    Parameters:
        f: of a tuple of rows, symmetric, giving one rational number.
        domain: the rows that a dataset may be made of. n: int >= 1, the number of rows.
        lower, upper: numbers, public bounds to which values are clamped, multiples of `grid`.
        grid: number > 0, the public step to which values and answers are rounded.

    Raises Refusal for what is no such function, and for more than 200,000 datasets.

    >>> import dpcurator as dp
    >>> spread = dp.enumerated(lambda rows: max(rows) - min(rows), domain=[0, 1, 5], n=3, lower=0, upper=5, grid=1)
    >>> dp.Smooth(function=spread, epsilon=1).release([0, 1, 5]) in range(6)
    True

    Source: Nissim, Raskhodnikova, Smith 2007.
    """
    rows, size = tuple(domain), whole(n, name="n", least=1)
    public = Grid(rational(lower, name="lower"), rational(upper, name="upper"), rational(grid, name="grid"))
    count = how_many(size, len(rows), ordered=False)
    if not rows or count > _MOST:
        raise Refusal(
            f"There are {count:,} datasets to try.", cure=f"Take a domain and an n of 1 to {_MOST:,} of them."
        )
    exact: dict[Index, Fraction] = {}
    for index in bases(size, len(rows), ordered=False):
        try:
            found = finite(f(tuple(rows[place] for place in index)))
        except Refusal:
            raise
        except Exception:
            found = None
        if found is None or len(found) != 1 or not isinstance(found[0], int | Fraction):
            raise Refusal("f has no rational value on some dataset.", cure="dp.check_sensitivity shows on which.")
        exact[index] = Fraction(found[0])
    step = Fraction(1, math.lcm(*(value.denominator for value in exact.values())))
    values = {index: int(value / step) for index, value in exact.items()}
    around = {index: tuple(_replaced(index, len(rows))) for index in values}
    now = {index: max(abs(values[index] - values[other]) for other in near) for index, near in around.items()}
    reached = [now]
    while True:
        now = {index: max(reached[-1][other] for other in near) for index, near in around.items()}
        if now == reached[-1]:
            break
        reached.append(now)
    name = getattr(f, "__name__", type(f).__name__)
    return Enumerated(name, rows, size, public, step, values, tuple(reached))


def _replaced(index: Index, rows: int) -> Iterator[Index]:
    """Itself, and every multiset that differs in one row."""
    yield index
    for place in range(len(index)):
        rest = [*index[:place], *index[place + 1 :]]
        for row in range(rows):
            if row != index[place]:
                moved = rest.copy()
                insort(moved, row)
                yield tuple(moved)


def check_local(function: Function, *, domain: Sequence[Any], n: int) -> None:
    """Checks what a function claims of its own local sensitivity, on all neighbours of n rows of a domain.

    Parameters:
        function: as made by dp.order_statistic, or one of your own with the same methods.
        domain: the rows that a dataset may be made of. n: int >= 1, the number of rows.

    Gives None where every claim holds for these datasets. Raises Refusal where one is false, with the dataset.

    >>> import dpcurator as dp
    >>> median = dp.order_statistic("1/2", lower=0, upper=4, grid=1)
    >>> dp.check_local(median, domain=[0, 1, 4], n=3)

    Source: Nissim, Raskhodnikova, Smith 2007, definition 2.1.
    """
    rows, size = tuple(domain), whole(n, name="n", least=1)

    def read(index: Index) -> Any:
        return function.rows([rows[place] for place in index])

    for index in bases(size, len(rows), ordered=False):
        x = read(index)
        local = [function.local_sensitivity_at(x, k) for k in range(size + 2)]
        wrong = sorted(local) != local or local[-1] > function.greatest(x)
        for other in _replaced(index, len(rows)):
            y = read(other)
            wrong = wrong or abs(function.answer(x) - function.answer(y)) > local[0]
            wrong = wrong or any(local[k] > function.local_sensitivity_at(y, k + 1) for k in range(size + 1))
        if wrong:
            shown = tuple(rows[place] for place in index)
            raise Refusal(f"What the function promises of itself is false at {shown!r} or a neighbour of it.")
