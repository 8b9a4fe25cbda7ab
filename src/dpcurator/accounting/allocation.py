"""Random allocation (balls and bins): each row is in one step of a pass, drawn by itself and evenly among all steps.

Definition  With t steps, Gaussian noise of standard deviation s on each sum, shifts of at most 1, and z_i independent
            standard normal, W = (w_1 + ... + w_t)/t, w_i = exp(z_i/s - 1/(2 s**2)). The pair is Q, the law of W, and P
            of density W to Q: so a row removed has delta E (W - e**eps)+, a row added E (1 - e**eps W)+.
Promise     The loss distribution that is returned dominates all steps of a pass together, each of which may depend on
            what earlier ones gave. Of each pass one Gaussian release of multiplier s sqrt(t) is attained, of which
            lower bounds are. Where its delta at 0 is no less than that of one Gaussian
            release, which dominates too, or the grid gives too much away, that is returned.
Proof       Fix where the other rows are. With the row in step i the density of all outputs to those without it is
            exp(<v_i, y_i>/s**2 - |v_i|**2/(2 s**2)), y_i the noise and v_i the shift, which is a function of the past
            alone; so the ratio of the two laws is the mean of these. A divergence is the mean of a convex function of
            it. From the last step back: given the past, the factor of a step is lognormal of mean 1, enters linearly,
            and a longer v_i makes it greater in convex order; so the mean does not fall when |v_i| = 1 takes its place,
            and then the rest does not depend on the past. So the pair above dominates (Blackwell; Zhu, Dong, Wang
            2022).
            Grid: a cell of w of masses q under Q and p = E w under P is spread to its two ends so that both stay, which
            is greater in convex order (Jensen). What is above the grid is given away for removing; for adding it is
            moved down to the last point, as (1 - e**eps W)+ falls with w. t of these are added in whole numbers,
            floored, and spread again to fewer points; ln W is rounded up for removing, -ln W for adding. What is
            floored, cut off or at W = 0 is missing, and so infinite. Each direction is bounded by itself.
            Attained: where the row's gradient is 1 and all others are 0, the t sums of a pass add up to N(1, t s**2),
            and without the row to N(0, t s**2), whichever step it is in; to add up is post-processing.
Source      Chua et al. 2024 (arXiv 2412.16802, balls and bins); Feldman, Shenfeld 2025 (arXiv 2502.08202); 2026 (arXiv
            2602.17284, its loss distribution).
Checked     tests/accounting/test_allocation.py.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

from dpcurator.accounting.pld.discretise import floored
from dpcurator.accounting.pld.kronecker import Row, power
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.privacy.loss import Loss

_BITS = 128  # of masses
_WORK = 192  # of balls
_MOST = 1 << 15  # points of one step
_KEPT = 3000  # points of the loss
_FARS = (8.2, 7.2, 6.4)  # deviations of a step on a grid for removing; beyond the last lies 8e-11, given away
_FAR_ADDING = 4.9  # for adding, where what lies beyond is moved to the last point
_NEAR, _ROUGH = 1e-4, 1e-2  # of the variance of w, which a grid may add: as is wanted, and before less far is taken
_FEW = 32  # steps of so few the mean may be 0 on a grid, unless it is as fine as can be
_TRIM = 1e-20
_LOST = Fraction(1, 10**9)  # of losses that are infinite for the grid's sake, more than which is of no use
_UNIT = 2**60  # parts to which losses are rounded up
Masses = dict[int, int]  # by place


@lru_cache(maxsize=8)
def allocated(multiplier: Fraction, steps: int) -> Loss:
    """The loss of one pass. multiplier: s; steps: t >= 1."""
    plain = Loss("gaussian", {"variance": multiplier**2, "shift": Fraction(1)})
    if steps == 1:
        return plain
    given: dict[str, Any] = {}
    for way, adding in (("", False), ("back_", True)):
        step, masses = _one_step(multiplier, adding=adding, fine=adding and steps < _FEW)
        row = power(Row.of(0, masses, _BITS), steps, _TRIM / steps)
        found = _losses(_fewer(row), step / steps, adding=adding)
        for i, x in enumerate(sorted(found)):
            given[f"{way}loss{i}"], given[f"{way}mass{i}"] = x, found[x]
        if sum(found.values()) < 1 - _LOST:
            return plain
    loss = Loss("allocated_pass", given | {"mu_squared": 1 / (steps * multiplier**2)})
    return plain if loss.delta(0).hi >= plain.delta(0).lo else loss


def _grid(multiplier: Fraction, far: float, *, fine: bool) -> tuple[Fraction, int, float]:
    """The distance of two points, how many steps of it, and what part of the variance of w it adds."""
    mu = float(1 / multiplier)
    top, spread = math.exp(min(mu * (mu / 2 + far), 300.0)), math.expm1(min(mu * mu, 600.0))
    wanted = top / _MOST if fine else max(top / _MOST, min(math.sqrt(6 * _NEAR * spread), top / 64))
    step = Fraction(math.ceil(wanted * 2**16), 2**16)
    return step, min(math.ceil(top / step), _MOST), float(step) ** 2 / 6 / spread


def _one_step(multiplier: Fraction, *, adding: bool, fine: bool = False) -> tuple[Fraction, list[int]]:
    """The distance of two points and the masses of w under Q from 0 on, in 2**-_BITS, rounded down."""
    grids = [_grid(multiplier, far, fine=fine) for far in ((_FAR_ADDING,) if adding else _FARS)]
    step, count, _ = next((grid for grid in grids if grid[2] <= _ROUGH), grids[-1])
    masses = [0] * (count + 1)
    with precision(_WORK):
        shift, root = ball(1 / multiplier), ball(2).sqrt()
        above: tuple[Ball, Ball] = ball(1), ball(1)
        for i in range(count):
            x = ball((i + 1) * step).log() / shift + shift / 2
            beyond = (x / root).erfc() / 2, ((x - shift) / root).erfc() / 2
            q, p = above[0] - beyond[0], above[1] - beyond[1]
            up = (p - ball(i * step) * q) / ball(step)
            masses[i] += floored(q - up, _BITS)
            masses[i + 1] += floored(up, _BITS)
            above = beyond
        if adding:
            masses[count] += floored(above[0], _BITS)
    return step, masses


def _fewer(row: Row) -> Masses:
    """The same law on fewer places, with the same mean but for what is floored."""
    masses = row.ints()
    first, last = row.start, row.start + len(masses) - 1
    low = max(first, 1)
    ends = {round(low * (max(last, low) / low) ** (k / _KEPT)) for k in range(_KEPT + 1)} | {first, low, last}
    places = sorted(place for place in ends if first <= place <= last)
    found, at = dict.fromkeys(places, 0), 0
    for i, mass in enumerate(masses, start=first):
        while at + 1 < len(places) and i >= places[at + 1]:
            at += 1
        left = places[at]
        if i == left:
            found[left] += mass
        else:
            right = places[at + 1]
            found[right] += mass * (i - left) // (right - left)
            found[left] += mass * (right - i) // (right - left)
    return found


def _losses(masses: Masses, step: Fraction, *, adding: bool) -> dict[Fraction, Fraction]:
    """The masses of the losses, rounded up, where W is place * step: of ln W under P, or of -ln W under Q."""
    found: dict[Fraction, Fraction] = {}
    with precision(_WORK):
        for place, mass in masses.items():
            if place and mass:
                ends = bracket(ball(place * step).log())
                loss = Fraction(math.ceil((-ends.lo if adding else ends.hi) * _UNIT), _UNIT)
                share = mass if adding else int(mass * place * step)
                found[loss] = found.get(loss, Fraction(0)) + Fraction(share, 2**_BITS)
    return found
