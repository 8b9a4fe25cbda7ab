"""Order statistics and trimmed means of bounded values, with their local sensitivity at every distance.

Definition  Values are rounded to the grid and clamped, row by row; sorted, x_1 <= ... <= x_n, with x_i = lower for
            i < 1 and upper for i > n. The order statistic of quantile q is x_r, r = ceil(q n), at least 1. The mean
            trimmed by a share t at each end is that of x_{m+1}, ..., x_{n-m}, m = floor(t n); t = 0 is the mean.
            Neighbours: one row is replaced (n public). The smallest and the largest value have add-remove too; then
            the smallest of no value is upper, the largest lower.
Promise     A_k, exactly, in steps of grid (an order statistic) or grid / (n - 2m) (a mean). Replace-one: with lo = r-1
            and hi = r, or lo = m and hi = n-m,  A_k = max over t = 0..k+1 of x_{hi+t} - x_{lo+t-k}.
            Add-remove, the smallest: A_k = max(x_{k+1} - lower, x_{k+2} - x_1).
Proof       k = 0. Let s be the sum of x_{lo+1}..x_{hi}. Replacing any row by another moves each order statistic within
            [x_{i-1}, x_{i+1}]; lowering one above lo to below x_lo takes x_hi away and lets x_lo in, and no lowering
            takes more; raising likewise gives x_{hi+1} - x_{lo+1}. k > 0. Of a dataset y within k rows of x,
            y_hi <= x_{hi+a} and y_lo >= x_{lo-b} where a rows were raised to above and b lowered, a + b <= k; taking
            those rows from between (there are hi - lo + k - 1 of them) attains both. So y_hi - y_lo is at most
            x_{hi+a} - x_{lo-(k-a)}, attained, t = a = 0..k; y_{hi+1} - y_{lo+1} adds t = k+1.
            Add-remove, smallest: adding a row moves min(y) by up to y_1 - lower, removing by y_2 - y_1. Within k steps
            y_1 <= x_{k+1} (remove the k smallest), and y_2 - y_1 <= x_{k+2} - x_1 (remove x_2..x_{k+1}) while
            y_1 >= x_1; with an added row below x_1 it is y_2 - y_1 <= x_{k+1} - lower, one step having gone there.
Source      Nissim, Raskhodnikova, Smith, STOC 2007, section 3 (minimum, median).
Checked     tests/sensitivity/test_windows.py: every dataset of small worlds against the definition, by enumeration.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from dpcurator.errors import Refusal
from dpcurator.numbers import rational
from dpcurator.numbers.coerce import unmasked
from dpcurator.numbers.rational import Spelled
from dpcurator.numbers.readable import readable
from dpcurator.sensitivity.function import Grid
from dpcurator.sensitivity.neighbours import relation

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SMALL = 2**61  # bounds below this have differences that int64 holds


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Made by order_statistic, trimmed_mean and bounded_mean. share: the quantile, or what is cut off at each end."""

    kind: Literal["order statistic", "trimmed mean"]
    share: Fraction
    grid: Grid
    neighbours: str = "replace-one"

    __repr__ = readable

    def rows(self, data: Sequence[Any]) -> NDArray[Any]:
        """Sorted steps of the grid, with lower before and upper after them."""
        import numpy as np

        if not hasattr(data, "__iter__"):
            raise Refusal("data must be a sequence of values.", cure="Pass a list or an array.")
        data, low, high = unmasked(data), self.grid.low, self.grid.high
        kind = np.int64 if max(abs(low), abs(high)) < _SMALL else object
        values = np.asarray(data) if isinstance(data, np.ndarray) else None
        if values is not None and values.dtype.kind == "i" and self.grid.step == 1 and kind is np.int64:
            inside = np.sort(np.clip(values.astype(np.int64).ravel(), low, high))
        else:
            inside = np.array(sorted(self.grid.place(value) for value in data), dtype=kind)
        if self.neighbours == "replace-one" and len(inside) == 0:
            raise Refusal("There are no rows.", cure="An order statistic or a mean is of one row at least.")
        return np.concatenate([np.array([low], dtype=kind), inside, np.array([high], dtype=kind)])

    def _ends(self, n: int) -> tuple[int, int]:
        if self.kind == "trimmed mean":
            cut = math.floor(self.share * n)
            return cut, n - cut
        rank = max(1, math.ceil(self.share * n))
        return rank - 1, rank

    def rank(self, n: int) -> int:
        """r of the order statistic, of n rows."""
        return self._ends(n)[1]

    def unit(self, rows: NDArray[Any]) -> Fraction:
        lo, hi = self._ends(len(rows) - 2)
        return self.grid.step / (hi - lo)

    def answer(self, rows: NDArray[Any]) -> int:
        n = len(rows) - 2
        if self.neighbours == "add-remove" and n == 0:
            return self.grid.high if self.share == 0 else self.grid.low
        lo, hi = self._ends(n)
        return sum(rows[lo + 1 : hi + 1].tolist())

    def local_sensitivity_at(self, rows: NDArray[Any], k: int) -> int:
        import numpy as np

        n = len(rows) - 2
        if self.neighbours == "add-remove":
            return self._extreme(rows, n, k)
        lo, hi = self._ends(n)
        k = min(k, n)
        t = np.arange(k + 2)
        return int((rows[np.minimum(hi + t, n + 1)] - rows[np.clip(lo - k + t, 0, n + 1)]).max())

    def _extreme(self, rows: NDArray[Any], n: int, k: int) -> int:
        def x(i: int) -> int:
            return int(rows[min(i, n + 1)])

        if self.share == 0:
            return max(x(k + 1) - self.grid.low, x(k + 2) - x(1))

        def down(i: int) -> int:  # the i-th from the top
            return int(rows[max(n + 1 - i, 0)])

        return max(self.grid.high - down(k + 1), down(1) - down(k + 2))

    def greatest(self, rows: NDArray[Any]) -> int:
        return self.grid.high - self.grid.low

    def farthest(self, rows: NDArray[Any]) -> int:
        return len(rows) - 2


def order_statistic(
    at: Spelled, *, lower: Spelled, upper: Spelled, grid: Spelled, neighbours: str = "replace-one"
) -> Window:
    """A quantile of bounded values, with its local sensitivities: for dp.Smooth and the like.

    Parameters:
        at: number in [0, 1]: 0 the smallest value, "1/2" the (lower) median, 1 the largest.
        lower, upper: numbers, public bounds to which values are clamped, multiples of `grid`.
        grid: number > 0, the public step to which values and answers are rounded.
        neighbours: "replace-one", with a public number of rows; "add-remove" for at=0 and at=1 alone, since other ranks
            depend on the number of rows.

    Raises Refusal for any other value.

    >>> import dpcurator as dp
    >>> median = dp.order_statistic("1/2", lower=0, upper=100, grid=1)
    >>> 0 <= dp.InverseSensitivity(function=median, epsilon=1).release([34, 41, 29]) <= 100
    True

    Source: Nissim, Raskhodnikova, Smith 2007, section 3.
    """
    share, relate = rational(at, name="at"), relation(neighbours)
    if not 0 <= share <= 1:
        raise Refusal("at must lie between 0 and 1.", cure='Write at="1/2" for the median.')
    if relate == "add-remove" and 0 < share < 1:
        raise Refusal(
            "The rank of a quantile depends on the number of rows, which add-remove neighbours do not share.",
            cure='Write neighbours="replace-one" if the number of rows is public; at=0 and at=1 take either.',
        )
    return Window(kind="order statistic", share=share, grid=_grid(lower, upper, grid), neighbours=relate)


def trimmed_mean(cut: Spelled, *, lower: Spelled, upper: Spelled, grid: Spelled) -> Window:
    """A trimmed mean of bounded values, with its local sensitivities: for dp.Smooth and the like.

    The mean of what is left when a share `cut` of the sorted values is cut off at each end. Neighbours replace one row,
    and the number of rows is public.

    Parameters:
        cut: number in [0, 1/2).
        lower, upper: numbers, public bounds to which values are clamped, multiples of `grid`.
        grid: number > 0, the public step to which values and answers are rounded.

    Raises Refusal for any other value.

    >>> import dpcurator as dp
    >>> mean = dp.trimmed_mean("1/10", lower=0, upper=100, grid=1)
    >>> 0 <= dp.Smooth(function=mean, epsilon=1).release([34, 41, 29, 56, 38]) <= 100
    True

    Source: Nissim, Raskhodnikova, Smith 2007; Bun, Steinke 2019.
    """
    share = rational(cut, name="cut")
    if not 0 <= share < Fraction(1, 2):
        raise Refusal("cut must be at least 0 and below 1/2.", cure='Write cut="1/10" to leave out a fifth in all.')
    return Window(kind="trimmed mean", share=share, grid=_grid(lower, upper, grid))


def bounded_mean(*, lower: Spelled, upper: Spelled, grid: Spelled) -> Window:
    """A mean of bounded values, with its local sensitivities: for dp.Smooth and the like.

    The mean of the values clamped to [lower, upper]. Neighbours replace one row, and the number of rows is public.

    Parameters:
        lower, upper: numbers, public bounds to which values are clamped, multiples of `grid`.
        grid: number > 0, the public step to which values and answers are rounded.

    Raises Refusal for any other value.

    >>> import dpcurator as dp
    >>> mean = dp.bounded_mean(lower=0, upper=100, grid=1)
    >>> dp.ProposeTestRelease(function=mean, bound=20, epsilon=2, delta="1e-6").error("0.05", n=5) > 0
    True

    Source: Nissim, Raskhodnikova, Smith 2007.
    """
    return trimmed_mean(0, lower=lower, upper=upper, grid=grid)


def _grid(lower: object, upper: object, step: object) -> Grid:
    return Grid(rational(lower, name="lower"), rational(upper, name="upper"), rational(step, name="grid"))
