"""The estimate of large compositions: a contour integral through the saddle point, in doubles. It bounds nothing.

Definition  With K(z) = E e**(z L), the sum over all losses of count * ln K is a closed function, and for any c > 0
                delta(eps) = 1/(2 pi i) * integral over c + i t of exp(sum - z eps) / (z (z+1)) dz,
            which is taken by the trapezoid rule at c near the saddle point, where the integrand is a bump about as wide
            as 1/(the tilted deviation) and hardly turns. Where all losses lie on one lattice of step g, K repeats
            itself, and 1/(z (z+1)) is replaced by what one period sums up to.
Rule        Used where the bump is all there is: where |K(c + it)|, as the families bound it from some t on, has fallen
            below 1e-10 of the whole after at most 2**15 nodes (2**21 over all losses). An atom does not fall (Laplace's
            |K| comes back to 1/(1 + a/2) or so, for ever), so few losses with atoms, and lattices that do not fit
            together, are left to the transform of estimate.py, which is what `Contour` being None means.
Limits      Rounding is about 1e-15 times the count or the sum of losses, relative to delta. Every other node must say
            the same to 1e-7, or None.
Source      Alghamdi et al. 2022 (arXiv 2208.09595); quadrature through a saddle point: Rice 1980, Helstrom 1983.
Checked     tests/accounting/test_contour.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpcurator.accounting.pld.lattice import shape
from dpcurator.privacy.families import FAMILIES
from dpcurator.privacy.families.family import MomentFunction, Moments
from dpcurator.privacy.loss import Loss

_NODES, _WORK = 1 << 15, 1 << 21
_TAIL = math.log(1e-10)  # of delta, left out
_AGREE = 1e-7
_TILTS = (1e-6, 1e6, 160)  # where the saddle point is looked for, and how many


@dataclass(frozen=True, slots=True)
class Contour:
    """nodes: z; logs: the sum of count * ln K there; step: between nodes; eps: about the middle of what it is good for.
    lattice: the step of all losses and a point of theirs, or None."""

    nodes: Any
    logs: Any
    step: float
    weights: Any
    eps: float
    lattice: tuple[float, float] | None

    def log_delta(self, eps: float) -> float | None:
        """ln delta, or None where the nodes are too few."""
        import numpy as np

        power = self.logs - self.nodes * eps
        top = float(power[0].real)
        terms = self.weights * (np.exp(power - top) * self._kernel(eps)).real
        fine, rough = float(terms.sum()), 2 * float(terms[::2].sum())
        if not (fine > 0 and abs(rough - fine) <= _AGREE * fine):
            return None
        return top + math.log(fine * self.step / math.pi)

    def _kernel(self, eps: float) -> Any:
        import numpy as np

        z = self.nodes
        if self.lattice is None:
            return 1 / (z * (z + 1))
        gap, point = self.lattice
        ahead = point - gap * (math.ceil((point - eps) / gap - 1e-9) - 1) - eps  # to the first loss above eps
        first = np.exp(-z * ahead) / -np.expm1(-gap * z)
        return gap * (first - np.exp(-(z + 1) * ahead) / -np.expm1(-gap * (z + 1)))

    def epsilon(self, log_delta: float) -> float | None:
        """Where delta is this, by false position; negative where that of 0 is less. None where it is not found."""
        low = high = self.eps
        wide = 0.5 / float(self.nodes[0].real)
        below = above = self.log_delta(self.eps)
        for _ in range(40):
            if below is None or above is None:
                return None
            if below < log_delta:
                low, wide = low - wide, 2 * wide
                below = self.log_delta(low)
            elif above > log_delta:
                high, wide = high + wide, 2 * wide
                above = self.log_delta(high)
            else:
                break
        if below is None or above is None:
            return None
        over, under, side = below - log_delta, above - log_delta, 0
        for _ in range(80):
            if high - low <= 1e-13 * max(abs(high), wide) or over == under:
                break
            guess = (low * under - high * over) / (under - over)
            found = self.log_delta(guess)
            if found is None:
                return None
            if abs(found - log_delta) < 1e-13:
                return guess
            if found > log_delta:
                low, over, under, side = guess, found - log_delta, under / 2 if side == 1 else under, 1
            else:
                high, under, over, side = guess, found - log_delta, over / 2 if side == -1 else over, -1
        return (low + high) / 2


def contour(parts: list[tuple[Loss, int]], quantity: str, at: float) -> Contour | None:
    """For "epsilon" at ln delta, or "delta" at epsilon; parts as `shape.reduced` has them. None: use the transform."""
    import numpy as np

    laws = _laws(parts)
    if laws is None:
        return None

    def sums(z: Any) -> Any:
        return sum(counts @ law.log(z) for law, counts in laws)

    def mean(s: Any) -> Any:
        away = 1e-6 * s
        return sums(s + 1j * away).imag / away

    tilts = np.geomspace(*_TILTS)
    means = mean(tilts)
    eps = means - 1 / tilts - 1 / (1 + tilts)
    bends = np.maximum(np.gradient(means, tilts), 0) + 1 / tilts**2 + 1 / (1 + tilts) ** 2
    if quantity == "epsilon":
        guesses = sums(tilts + 0j).real - tilts * eps - np.log(tilts * (1 + tilts) * np.sqrt(2 * math.pi * bends))
        rising, wanted = -guesses, -at
    else:
        rising, wanted = eps, at
    above = int(np.argmax(rising > wanted))
    if above == 0 or not np.isfinite(rising[above - 1]):
        return None
    share = (wanted - rising[above - 1]) / (rising[above] - rising[above - 1])
    c = float(tilts[above - 1] * (tilts[above] / tilts[above - 1]) ** share)
    near, far = mean(np.array([c * (1 - 1e-4), c * (1 + 1e-4)]))
    spread = math.sqrt(max(float(far - near), 0.0) / (2e-4 * c))
    bend = spread**2 + 1 / c**2 + 1 / (1 + c) ** 2

    lattice = _lattice(parts)
    end = math.inf if lattice is None else math.pi / lattice[0]
    width = 2 * (9 * spread + 30 / c + 2 * max(float(law.reach.max()) for law, _ in laws))
    share_of = math.log(c * (c + 1) * math.sqrt(2 * bend / math.pi))
    last = 8 / math.sqrt(bend)
    most = min(_NODES, _WORK // len(parts))
    while last < end:
        left = sum(float(counts @ np.minimum(law.falls(c, last, end), 0)) for law, counts in laws)
        if left + share_of - math.log(last) < _TAIL:
            break
        last *= 1.4
        if last * width > 2 * math.pi * most:
            return None
    last = min(last, end)
    count = 2 * max(8, math.ceil(last * width / (4 * math.pi)))
    if count > most:
        return None
    nodes = c + 1j * np.linspace(0, last, count + 1)
    weights = np.ones(count + 1)
    weights[0] = weights[-1] = 0.5
    made = float(means[above - 1] + share * (means[above] - means[above - 1])) - 1 / c - 1 / (1 + c)
    return Contour(nodes, sums(nodes), last / count, weights, at if quantity == "delta" else made, lattice)


def _laws(parts: list[tuple[Loss, int]]) -> list[tuple[Moments, Any]] | None:
    """Each moment function, of all its losses at once, with their counts; None where a loss has none."""
    import numpy as np

    kinds: dict[MomentFunction, list[tuple[tuple[float, ...], int]]] = {}
    for loss, count in parts:
        function = FAMILIES[loss.family].moments
        numbers = None if function is None else function.numbers(loss.given)
        if function is None or numbers is None:
            return None
        kinds.setdefault(function, []).append((numbers, count))
    laws = []
    for function, found in kinds.items():
        columns = zip(*(numbers for numbers, _ in found), strict=True)
        laws.append(
            (
                function.of(*(np.array(column)[:, None] for column in columns)),
                np.array([float(count) for _, count in found]),
            )
        )
    return laws


def _lattice(parts: list[tuple[Loss, int]]) -> tuple[float, float] | None:
    """The greatest step of which all losses' differences are multiples, and a sum that is attained."""
    gaps, point = list[Fraction](), 0.0
    for loss, count in parts:
        seen = shape(loss)
        if seen.gap is None or seen.anchor is None:
            return None
        gaps.append(seen.gap)
        point += count * float(seen.anchor)
    bottom = math.lcm(*(gap.denominator for gap in gaps))
    gap = Fraction(math.gcd(*(int(gap * bottom) for gap in gaps)), bottom)
    return (float(gap), point) if gap > Fraction(1, 10**9) else None
