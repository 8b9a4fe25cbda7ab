"""Mechanisms whose worst loss is known from papers, correct and broken, for audits to be tried on.

Each is a function of (data, size, rng) that returns `size` independent outputs, the first axis running over them. They
are written anew from the papers, in plain float arithmetic as there: what is broken in them is the algorithm, except in
`float_laplace`, where it is the float. None of them is for releasing anything.

Sources     SVT1 to SVT6: Lyu, Su, Li, VLDB 2017, algorithms 1 to 6. Noisy max, histograms: Ding and others, CCS 2018.
            NumericalSVT, PrefixSum: Wang and others, PLDI 2019. RAPPOR: Erlingsson, Pihur, Korolova, CCS 2014.
            Truncated geometric: Balcer, Vadhan 2018, algorithm 4.8. Snapping: Mironov, CCS 2012. The parameters and the
            published bounds: DP-Sniper, Bichsel and others, S&P 2021; StatDP is of Ding and others, run by them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

EPS = 0.1
STOPPED = -1  # a question after the last answer "above"
BELOW, UNASKED = -np.inf, np.nan  # where answers are numbers: no number, and no answer

Array = NDArray[Any]
Rng = np.random.Generator
Data = Sequence[float]
Mechanism = Callable[[Data, int, Rng], Array]


# --- noise added to numbers ------------------------------------------------------------------------------------------


def laplace(data: Data, size: int, rng: Rng, *, eps: float = EPS) -> Array:
    """One number, noise of scale 1/eps."""
    return rng.laplace(data[0], 1 / eps, size)


def float_laplace(data: Data, size: int, rng: Rng) -> Array:
    """The same by inverting the distribution function on the grid of 2**-53: few doubles can come out, and they are
    others for another centre."""
    u = rng.integers(1, 2**53, size).astype(np.float64) * 2.0**-53
    sign = rng.integers(0, 2, size) * 2.0 - 1
    return data[0] + sign * (np.log(u) / -EPS)


def snapped_laplace(data: Data, size: int, rng: Rng) -> Array:
    """Mironov's snapping: a uniform double with its full precision near 0, clamped and rounded to multiples of 16."""
    scale, step, bound = 1 / EPS, 16.0, 2.0**20
    exponent = rng.geometric(0.5, size)
    u = (1 + rng.integers(0, 2**52, size) * 2.0**-52) * np.exp2(-exponent.astype(np.float64))
    sign = rng.integers(0, 2, size) * 2.0 - 1
    noisy = np.clip(data[0], -bound, bound) + sign * scale * np.log(u)
    return np.clip(np.rint(noisy / step) * step, -bound, bound)


def parallel_laplace(data: Data, size: int, rng: Rng) -> Array:
    """Twenty answers about the same number, .005 each."""
    return rng.laplace(data[0], 1 / 0.005, (size, 20))


def one_sided(data: Data, size: int, rng: Rng) -> Array:
    """A count plus exponential noise: never below the count."""
    return data[0] + rng.exponential(1 / EPS, size)


def histogram(data: Data, size: int, rng: Rng) -> Array:
    return np.asarray(data, dtype=float) + rng.laplace(0, 1 / EPS, (size, len(data)))


def histogram_scaled_wrongly(data: Data, size: int, rng: Rng) -> Array:
    """Noise of scale eps, not 1/eps."""
    return np.asarray(data, dtype=float) + rng.laplace(0, EPS, (size, len(data)))


def prefix_sums(data: Data, size: int, rng: Rng) -> Array:
    """Sums of the first one, two, ... of noisy numbers."""
    return np.cumsum(np.asarray(data, dtype=float) + rng.laplace(0, 1 / EPS, (size, len(data))), axis=1)


def truncated_geometric(data: Data, size: int, rng: Rng) -> Array:
    """A count of 5 people with k = ceil(ln(2/eps)), where the paper has log2."""
    return np.searchsorted(geometric_table(int(data[0])), rng.integers(1, geometric_table(0)[-1] + 1, size))


def geometric_table(count: int, people: int = 5, k: int = ceil(log(2 / EPS))) -> list[int]:
    """F(0), ..., F(people), of which the last is the number of equally likely draws; all whole."""
    two, whole = 2**k, (2 ** (k + 1) + 1) * (2**k + 1) ** (people - 1)
    low = [two ** (count - z) * (two + 1) ** (people - (count - z)) for z in range(count)]
    high = [whole - two ** (z - count + 1) * (two + 1) ** (people - 1 - (z - count)) for z in range(count, people)]
    return [*low, *high, whole]


# --- averages; values between 0 and 1, one person more or less -------------------------------------------------------


def mean(data: Data, size: int, rng: Rng) -> Array:
    """A noisy sum over a noisy count, eps/2 each."""
    count = np.maximum(len(data) + rng.laplace(0, 2 / EPS, size), 1)
    return (sum(data) + rng.laplace(0, 2 / EPS, size)) / count


def mean_noise_by_noisy_count(data: Data, size: int, rng: Rng) -> Array:
    """The exact sum over a noisy count, plus noise divided by the same noisy count: `mean` in other words."""
    count = np.maximum(len(data) + rng.laplace(0, 2 / EPS, size), 1)
    return sum(data) / count + rng.laplace(0, 1, size) * (2 / EPS) / count


def mean_exact_count(data: Data, size: int, rng: Rng) -> Array:
    """A noisy sum over the exact count."""
    return (sum(data) + rng.laplace(0, 1 / EPS, size)) / len(data)


def mean_noise_by_exact_count(data: Data, size: int, rng: Rng) -> Array:
    """The exact sum over a noisy count, plus noise divided by the exact count."""
    count = np.maximum(len(data) + rng.laplace(0, 2 / EPS, size), 1)
    return sum(data) / count + rng.laplace(0, 2 / EPS / len(data), size)


# --- choices ---------------------------------------------------------------------------------------------------------


def noisy_max(data: Data, size: int, rng: Rng) -> Array:
    return np.argmax(np.asarray(data) + rng.laplace(0, 2 / EPS, (size, len(data))), axis=1)


def noisy_max_exponential(data: Data, size: int, rng: Rng) -> Array:
    return np.argmax(np.asarray(data) + rng.exponential(2 / EPS, (size, len(data))), axis=1)


def noisy_max_value(data: Data, size: int, rng: Rng) -> Array:
    """The greatest noisy number itself."""
    return np.max(np.asarray(data) + rng.laplace(0, 2 / EPS, (size, len(data))), axis=1)


def noisy_max_exponential_value(data: Data, size: int, rng: Rng) -> Array:
    return np.max(np.asarray(data) + rng.exponential(2 / EPS, (size, len(data))), axis=1)


def gumbel_max(data: Data, size: int, rng: Rng) -> Array:
    """The exponential mechanism by Gumbel noise of scale 2/eps."""
    return np.argmax(np.asarray(data) + rng.gumbel(0, 2 / EPS, (size, len(data))), axis=1)


def gumbel_max_without_two(data: Data, size: int, rng: Rng) -> Array:
    """Scale 1/eps, for scores that do not all move one way."""
    return np.argmax(np.asarray(data) + rng.gumbel(0, 1 / EPS, (size, len(data))), axis=1)


def permute_and_flip(data: Data, size: int, rng: Rng, *, eps: float = 1.0) -> Array:
    """By exponential noise of scale 2/eps (mechanisms/choice/permute_and_flip.py says why that is the same)."""
    return np.argmax(np.asarray(data) + rng.exponential(2 / eps, (size, len(data))), axis=1)


def threshold_kept(data: Data, size: int, rng: Rng, *, eps: float = 1.0, threshold: int = 6) -> Array:
    """Is the key shown? It is if it has rows, and their number plus two-sided geometric noise is at least 6."""
    if not data[0]:
        return np.zeros(size, dtype=np.int8)
    p = 1 - np.exp(-eps)
    return (data[0] + rng.geometric(p, size) - rng.geometric(p, size) >= threshold).astype(np.int8)


# --- sparse vector: eps/2 for the threshold, unless said; stops after c answers "above" -------------------------------


def svt1(data: Data, size: int, rng: Rng) -> Array:
    """Algorithm 1, the correct one: noise 2/eps on the threshold (here 0.5), 4c/eps on each question."""
    above = _asked(data, size, rng, 4 / EPS) >= 0.5 + rng.laplace(0, 2 / EPS, (size, 1))
    return _until(above, 1)


def svt2(data: Data, size: int, rng: Rng) -> Array:
    """Algorithm 2: the threshold is drawn anew, of scale 2c/eps, after each "above"."""
    above = _asked(data, size, rng, 4 / EPS) >= 1 + rng.laplace(0, 2 / EPS, (size, 1))
    return _until(above, 1)  # c = 1: it stops where it would draw anew


def svt3(data: Data, size: int, rng: Rng, *, c: int = 1) -> Array:
    """Algorithm 3: shows the noisy number that was compared."""
    asked = _asked(data, size, rng, 2 * c / EPS)
    answers = _until(asked >= 1 + rng.laplace(0, 2 / EPS, (size, 1)), c)
    return np.where(answers == 1, asked, np.where(answers == 0, BELOW, UNASKED))


def svt4(data: Data, size: int, rng: Rng, *, c: int = 1) -> Array:
    """Algorithm 4: eps/4 for the threshold, and noise on questions that forgets 2 and c."""
    above = _asked(data, size, rng, 4 / (3 * EPS)) >= 1 + rng.laplace(0, 4 / EPS, (size, 1))
    return _until(above, c)


def svt5(data: Data, size: int, rng: Rng) -> Array:
    """Algorithm 5: no noise on questions, no limit."""
    return (np.asarray(data) >= 1 + rng.laplace(0, 2 / EPS, (size, 1))).astype(np.int8)


def svt6(data: Data, size: int, rng: Rng) -> Array:
    """Algorithm 6: no limit."""
    return (_asked(data, size, rng, 2 / EPS) >= 1 + rng.laplace(0, 2 / EPS, (size, 1))).astype(np.int8)


def svt3_and_svt4(data: Data, size: int, rng: Rng) -> Array:
    """Both of the same questions, c = 2 each."""
    return np.concatenate([svt3(data, size, rng, c=2), svt4(data, size, rng, c=2)], axis=1)


def numerical_svt(data: Data, size: int, rng: Rng, *, c: int = 2) -> Array:
    """A third of eps each for the threshold, the comparisons, and numbers measured anew."""
    above = _asked(data, size, rng, 6 * c / EPS) >= 1 + rng.laplace(0, 3 / EPS, (size, 1))
    answers, fresh = _until(above, c), _asked(data, size, rng, 3 * c / EPS)
    return np.where(answers == 1, fresh, np.where(answers == 0, BELOW, UNASKED))


def _asked(data: Data, size: int, rng: Rng, scale: float) -> Array:
    return np.asarray(data, dtype=float) + rng.laplace(0, scale, (size, len(data)))


def _until(above: Array, c: int) -> Array:
    """1 and 0 for "above" and "below"; STOPPED after the c-th "above"."""
    before = np.cumsum(above, axis=1, dtype=np.int8) - above
    return np.where(before < c, above, STOPPED).astype(np.int8)


# --- local reports of a value, 0 or 1 --------------------------------------------------------------------------------


def rappor(data: Data, size: int, rng: Rng, *, f: float = 0.75, p: float = 0.45, q: float = 0.55) -> Array:
    """Permanent and instantaneous answers on 20 bits of which a value sets 4; here different values set different ones,
    which no hash can make worse."""
    kept = one_time_rappor(data, size, rng, f=f)
    return (rng.random((size, 20), dtype=np.float32) < np.where(kept, q, p)).astype(np.int8)


def one_time_rappor(data: Data, size: int, rng: Rng, *, f: float = 0.95) -> Array:
    """Each bit is replaced by a fair coin with chance f."""
    bits = np.zeros(20, dtype=np.int8)
    bits[4 * int(data[0]) : 4 * int(data[0]) + 4] = 1
    u = rng.random((size, 20), dtype=np.float32)
    return np.where(u < f / 2, 1, np.where(u < f, 0, bits)).astype(np.int8)
