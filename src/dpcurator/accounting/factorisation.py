"""The privacy loss of a matrix mechanism with Gaussian noise: DP-FTRL, tree aggregation, prefix sums.

Definition  A stream of clipped vectors g_1, ..., g_n (norm at most 1, in units of the clipping norm) is shown as
            B (C G + Z): C, the factor, encodes, independent Gaussian noise of standard deviation noise_multiplier is
            put on each row of C G, B decodes. A row of the data takes part in some of the n steps: at most
            `participations` of them, any two at least `separation` apart; neighbours have it, or zero in its place.
            "tree": C has a row for each node of the binary tree over the steps, 1 where the node covers the step.
            "root": C is the square root of the matrix of prefix sums, lower triangular, with entries c_(i-j),
            c_0 = 1, c_k = c_(k-1) (2k-1) / (2k).
Promise     The run is one Gaussian release of shift s and standard deviation noise_multiplier, s**2 the sensitivity, a
            rational that is never too small (exact, but for the entries of "root", rounded up by under 2**-76): also
            when each g_t depends on what was shown before. B is free.
Proof       With X = C' C, a row that takes part in the steps of a pattern p moves C G by sum over i in p of c_i u_i',
            u_i of norm at most 1, of squared norm sum of X_ij <u_i, u_j> <= sum over i, j in p of |X_ij|
            <= sum over i in p of w_i, where w_i is the greatest sum over j in q of |X_ij|, q a pattern with i. Both
            maxima are found by going through the steps in order, exactly. One participation: the largest X_ii, which
            is attained. Where X_ij = 0 for all steps at least `separation` apart, w_i = X_ii and the bound is attained.
            Adaptive streams: Denisov, McMahan, Rush, Smith, Thakurta 2022, theorem 2.1, for Gaussian noise.
Source      Kairouz et al. 2021 (DP-FTRL); Denisov et al. 2022 (arXiv 2202.08312); Choquette-Choo et al. 2023 (arXiv
            2211.06530, several participations); Fichtenberger, Henzinger, Upadhyay 2023 (the square root).
Checked     tests/accounting/test_factorisation.py.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dpcurator.accounting.composition import Composition
from dpcurator.errors import Refusal, closest
from dpcurator.numbers import positive, rational, whole
from dpcurator.privacy.loss import Loss

if TYPE_CHECKING:
    from dpcurator.numbers.rational import Spelled

_MOST = 4096  # steps of a factor that is written out, or of several participations
_ONE = 2**96
_LONGEST = 2**20  # steps of a tree or a root, one participation


def dpftrl(
    *,
    noise_multiplier: Spelled,
    steps: int | None = None,
    factor: str | Sequence[Sequence[Spelled]] = "tree",
    participations: int = 1,
    separation: int = 1,
) -> Composition:
    """The privacy loss of DP-FTRL, tree aggregation or any matrix mechanism with Gaussian noise: one Gaussian release.

    The encoded stream C G gets independent Gaussian noise of standard deviation noise_multiplier in each entry, in
    units of the clipping norm; decoding is free. The sensitivity is that of the factor C for the steps a row is in.

    Promise: the composition dominates the whole run, also for adaptive streams; the squared sensitivity is never
    too small. Neighbours have a row, or zero in the place of its gradients.

    Parameters:
        noise_multiplier: number > 0.
        steps: int >= 1; not needed beside a matrix.
        factor: "tree" (a node for each dyadic range of steps), "root" (the square root of prefix sums), or the matrix
            C, a list of rows of numbers, with one column for each step; at most 4,096 steps.
        participations: int >= 1, in how many steps a row may be.
        separation: int >= 1, how far apart any two of them are at least; batches in a fixed order of b steps a pass
            have separation b.

    Returns a dp.Composition of one Gaussian loss. Raises Refusal if a parameter is out of its range.

    >>> import dpcurator as dp
    >>> run = dp.dpftrl(noise_multiplier=4, steps=1023, factor="tree")  # a leaf is in ten nodes
    >>> float(run.parts[0][0].rho())  # 10 / (2 * 16)
    0.3125
    >>> dp.dpftrl(noise_multiplier=4, factor=[[1, 0], [1, 1]], participations=2).parts[0][0].rho()
    Fraction(5, 32)

    Source: Kairouz et al. 2021; Denisov et al. 2022; Choquette-Choo et al. 2023.
    """
    variance = positive(noise_multiplier, name="noise_multiplier") ** 2
    times = whole(participations, name="participations", least=1)
    apart = whole(separation, name="separation", least=1)
    square = _of_named(factor, steps, times, apart) if isinstance(factor, str) else _of_matrix(
        factor, steps, times, apart
    )
    if square == 0:
        raise Refusal("No column of the factor has anything in it.", cure="Give the matrix that encodes the stream.")
    square = Fraction(math.ceil(square * _ONE), _ONE) if square.denominator > _ONE else square
    return Composition(((Loss("gaussian", {"variance": variance / square, "shift": Fraction(1)}), 1),))


def _of_named(factor: str, steps: object, times: int, apart: int) -> Fraction:
    if factor not in ("tree", "root"):
        near = closest(factor, ["tree", "root"])
        cure = f'Write factor="{near[0]}".' if near else 'Write factor="tree" or "root", or give the matrix.'
        raise Refusal(f"factor is {factor[:40]!r}, which is no factor known here.", cure=cure)
    n = _steps(steps, _LONGEST if times == 1 else _MOST)
    if times == 1:
        return Fraction(n.bit_length() if factor == "tree" else sum(one * one for one in _root(n)), _scale(factor) ** 2)
    if factor == "tree":
        return _sensitivity(lambda i: _common(i, n), n, times, apart)
    coefficients = _root(n)

    totals = [_running(coefficients, lag) for lag in range(n)]

    def products(i: int) -> list[int]:
        """Over j the sum over t >= max(i, j) of c_(t-i) c_(t-j)."""
        return [totals[abs(i - j)][n - max(i, j) - 1] for j in range(n)]

    return _sensitivity(products, n, times, apart) / _scale(factor) ** 2


def _running(coefficients: list[int], lag: int) -> list[int]:
    """c_0 c_lag, c_0 c_lag + c_1 c_(1+lag), and so on."""
    return list(itertools.accumulate(map(operator.mul, coefficients, coefficients[lag:])))


def _scale(factor: str) -> int:
    """What 1 is, in the integers of a factor."""
    return _ONE if factor == "root" else 1


def _steps(steps: object, most: int) -> int:
    if steps is None:
        raise Refusal("How many steps there are is not told.", cure='Write dpftrl(..., steps=1000, factor="tree").')
    n = whole(steps, name="steps", least=1)
    if n > most:
        raise Refusal(f"steps is {n:,}, more than {most:,}.", cure="Account for parts of the run, and compose them.")
    return n


def _root(n: int) -> list[int]:
    """c_0, ..., c_(n-1) in units of 2**-96, each rounded up: as all are above 0, so is what is made of them."""
    found = [_ONE]
    for k in range(1, n):
        found.append(-(-found[-1] * (2 * k - 1) // (2 * k)))
    return found


def _common(i: int, n: int) -> list[int]:
    """Over j: how many dyadic ranges that end within the n steps hold both i and j. Those that hold i lie in each
    other, so the lowest ones end within the steps."""
    ended = sum(((i >> level) + 1) << level <= n for level in range(n.bit_length()))
    return [max(0, ended - (i ^ j).bit_length()) for j in range(n)]


def _of_matrix(factor: Any, steps: object, times: int, apart: int) -> Fraction:
    try:
        rows = [[rational(value, name="an entry of the factor") for value in row] for row in factor]
    except TypeError:
        rows = []
    n = len(rows[0]) if rows else 0
    if not n or any(len(row) != n for row in rows) or n > _MOST or len(rows) > 2 * _MOST:
        raise Refusal(
            f"A factor is a list of rows of numbers, of equal length, with at most {_MOST:,} columns.",
            cure="Write factor=[[1, 0], [1, 1]].",
        )
    if steps is not None and whole(steps, name="steps", least=1) != n:
        raise Refusal(f"The factor has {n} columns, not one for each of {steps} steps.", cure="Leave steps out.")
    scale = math.lcm(*(value.denominator for row in rows for value in row))
    columns = [[int(row[j] * scale) for row in rows] for j in range(n)]
    if times == 1:
        return Fraction(max(sum(value * value for value in column) for column in columns), scale**2)

    def products(i: int) -> list[int]:
        return [abs(sum(one * other for one, other in zip(columns[i], columns[j], strict=True))) for j in range(n)]

    return _sensitivity(products, n, times, apart) / scale**2


def _sensitivity(products: Any, n: int, times: int, apart: int) -> Fraction:
    """At least the greatest sum of |X_ij| over a pattern. products: of i, the list of |X_ij| over j."""
    worth = []
    for i in range(n):
        row = products(i)
        before = _best(row[: max(0, i - apart + 1)], times - 1, apart)
        after = _best(row[i + apart :], times - 1, apart)
        worth.append(row[i] + max(before[k] + after[times - 1 - k] for k in range(times)))
    return Fraction(_best(worth, times, apart)[times])


def _best(values: Sequence[Any], times: int, apart: int) -> list[Any]:
    """best[k]: the greatest sum of at most k of these values (>= 0), any two at least `apart` places apart."""
    best: list[Any] = [0]
    ended: list[Any] = []
    for k in range(1, times + 1):
        earlier = itertools.chain(itertools.repeat(0, apart), ended) if ended else itertools.repeat(0)
        ended = list(itertools.accumulate(map(operator.add, values, earlier), max))
        best.append(ended[-1] if ended else 0)
        if k * apart > len(values) + apart:  # no more fit
            best += [best[-1]] * (times - k)
            break
    return best
