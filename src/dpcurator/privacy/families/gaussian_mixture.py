"""Gaussian noise around a random shift: groups of rows on Poisson samples, and a row replaced on a Poisson sample.

Definition  P is N(s_j, v) with chance c_j, Q is N(-r_i, v) with chance d_i, all shifts at least 0. "gaussian_mixture"
            has these lists; "poisson_replaced_gaussian" has P = (1-q) N(0, v) + q N(s, v) and Q the same with -s.
Promise     gaussian_mixture, with Q = N(0, v): it dominates Gaussian noise on a sum that moves, on the larger of two
            tables, by a vector whose length is at most s_j with chance c_j, independent of all else, towards adding
            and removing what moves it. For a group of k rows on a Poisson sample of rate q the chances are those of a
            binomial of k and q. poisson_replaced_gaussian dominates Gaussian noise on a sum over a Poisson sample
            where a row, which moves it by at most s, is replaced.
Proof       The sample of all other rows has one law on both tables; it is fixed, and divergences are jointly convex.
            For an event A of chance a under N(u, v), and z the normal quantile of a, N(u + w, v) gives A at most
            Phi(z + |w|/sigma) and at least Phi(z - |w|/sigma) (Neyman, Pearson), with equality for half-spaces along w.
            Mixture: with the shift w of chance c(w), sum of c(w) N(w)(A) - E N(0)(A) is at most sum of c_j Phi(z +
            s_j/sigma) - E Phi(z), which the pair has for the half-line of that z; so for every E, and with P and Q
            exchanged by the lower bounds. Longer shifts are worse, so chances may be moved to greater ones.
            Replaced: for E >= 1 and E' = 1 + (E-1)/q, (1-q) K(A) + q N(A) - E ((1-q) K(A) + q O(A)) = q (N(A) -
            (E'-1)(1-q) K(A) - E O(A)), where K has no such row, N one and O the other; K is at most s from N and O at
            most 2s. With z that of N(A), it is at most q (Phi(z) - (E'-1)(1-q) Phi(z - s/sigma) - E Phi(z -
            2s/sigma)), which the pair has for a half-line. E < 1 is the same with the tables exchanged, and the pair is
            symmetric. Such pairs compose (Zhu, Dong, Wang 2022, theorem 10).
            L = ln P/Q rises with y, as the numerator does and the denominator falls; P(L > x) is P(y > t) where L(t) =
            x, and t is enclosed by an interval Newton step. rho: no divergence of mixtures is above the greatest of
            their parts, so (greatest s_j + greatest r_i)**2 / 2v.
Source      Choquette-Choo, Ganesh, Steinke, Thakurta 2023 (arXiv 2310.15526, mixtures of Gaussians); Charles et al.
            2024 (arXiv 2407.07737, user level); Lebeda, Regehr, Kamath, Steinke 2024 (arXiv 2405.20769, substitution).
Checked     tests/privacy/test_gaussian_mixture.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure, decimal_text, positive
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.numbers.rational import at_least_0, between_0_and_1, from_0_to_1
from dpcurator.privacy.distribution import ZERO, Distribution
from dpcurator.privacy.families.divergence_integrals import of_mixtures
from dpcurator.privacy.families.family import Family, FloatTails, Given, Lattice, Named, Pair, Slow, Tails
from dpcurator.privacy.families.finite import numbered, series
from dpcurator.privacy.narrow import enclosed

_MOST = 200  # parts of a mixture
_FINE = 4_000  # points at which L is made in doubles, to be turned round
_LARGEST_GROUP = 64
_ROUNDED = 2**256  # parts of 1 to which the chances of a large group are rounded, towards greater shifts
Mixture = list[tuple[Fraction, Fraction]]  # shift and chance, shift rising
_STILL: Mixture = [(Fraction(0), Fraction(1))]


def binomial(shift: Fraction, rate: Fraction, k: int) -> Mixture:
    """j shifts with the chance that j of k rows are taken; exact, or moved to the next greater one by under 2**-250."""
    found, carried = [], Fraction(0)
    exact = k * rate.denominator.bit_length() <= 256
    for j in range(k + 1):
        chance = math.comb(k, j) * rate**j * (1 - rate) ** (k - j) + carried
        kept = chance if exact or j == k else Fraction(math.floor(chance * _ROUNDED), _ROUNDED)
        carried = chance - kept
        found.append((j * shift, kept))
    return found


def group_on_poisson(given: Given, k: int, *, backward: bool) -> Named | None:
    """The group of k of a Gaussian loss on a Poisson sample; None where it is too large."""
    if k > _LARGEST_GROUP:
        return None
    made, none = binomial(given["shift"], given["rate"], k), _STILL
    first, second = (none, made) if backward else (made, none)
    return "gaussian_mixture", _named(given["variance"], first, second)


def _named(variance: Fraction, first: Mixture, second: Mixture) -> dict[str, Fraction]:
    found = {"variance": variance}
    for way, parts in (("", first), ("other_", second)):
        found |= numbered(f"{way}shift", [shift for shift, _ in parts])
        found |= numbered(f"{way}chance", [chance for _, chance in parts])
    return found


def _parts(given: Given, way: str = "") -> Mixture:
    return list(zip(series(given, f"{way}shift"), series(given, f"{way}chance"), strict=True))


class Noise:
    """P, Q and the losses between them."""

    def __init__(self, variance: Fraction, first: Mixture, second: Mixture) -> None:
        self.variance = variance
        self.first = [(shift, chance) for shift, chance in first if chance]
        self.second = [(-shift, chance) for shift, chance in second if chance]
        self._balls: dict[int, list[list[tuple[Ball, Ball, Ball]]]] = {}

    def _terms(self) -> list[list[tuple[Ball, Ball, Ball]]]:
        """Of P and of Q, for each part: c, s/v and s**2/2v, at the working precision."""
        from flint import ctx

        if ctx.prec not in self._balls:
            self._balls[ctx.prec] = [
                [(ball(c), ball(s / self.variance), ball(s * s / (2 * self.variance))) for s, c in parts]
                for parts in (self.first, self.second)
            ]
        return self._balls[ctx.prec]

    def value(self, y: Ball) -> tuple[Ball, Ball]:
        """L(y) and its derivative, at the working precision."""
        found = []
        for parts in self._terms():
            total, slope = ball(0), ball(0)
            for chance, steep, half in parts:
                term = chance * (steep * y - half).exp()
                total, slope = total + term, slope + steep * term
            found.append((total.log(), slope / total))
        return found[0][0] - found[1][0], found[0][1] - found[1][1]

    def limit(self, side: int) -> Fraction | None:
        """e**L where y goes to one end, or its inverse to the other: None where L has no end there."""
        low, high = min(shift for shift, _ in self.first), max(shift for shift, _ in self.second)
        if side < 0:
            flat = low == 0 and all(shift == 0 for shift, _ in self.second)
            return sum((chance for shift, chance in self.first if shift == 0), Fraction(0)) if flat else None
        flat = high == 0 and all(shift == 0 for shift, _ in self.first)
        return sum((chance for shift, chance in self.second if shift == 0), Fraction(0)) if flat else None

    def beyond(self, x: Fraction) -> int:
        """-1 where every loss is above x, 1 where none is, else 0."""
        for side in (-1, 1):
            end = self.limit(side)
            if end is not None and _past(-side * x, end):
                return side
        return 0

    def threshold(self, x: Fraction, bits: int, start: float | None = None) -> Ball:
        """y with L(y) = x, in a ball that holds it."""
        from flint import arb

        from_here = self._in_doubles(float(x)) if start is None else start
        with precision(bits):
            y, target = arb(from_here), ball(x)
            for _ in range(bits.bit_length() + 8):
                value, slope = self.value(y)
                step = ((value - target) / slope).mid()
                y = (y - step).mid()
                if abs(step) <= (1 + abs(y)) * arb(2) ** (-2 * bits // 3):
                    break
            value, slope = self.value(y)
            radius = abs((value - target) / slope).upper() * 4 + (1 + abs(y)) * arb(2) ** (16 - bits)
            for _ in range(40):
                around = arb(y, radius)
                inside = y - (value - target) / self.value(around)[1]
                if around.contains_interior(inside):
                    return inside
                radius = radius * 4
        raise _flat()

    def tails_at(self, y: Ball) -> Tails:
        """P and Q of what is above y."""
        spread = ball(2 * self.variance).sqrt()
        first, second = (
            sum((ball(chance) * ((y - ball(shift)) / spread).erfc() / 2 for shift, chance in parts), ball(0))
            for parts in (self.first, self.second)
        )
        return first, second

    def tails(self, x: Fraction, bits: int, start: float | None = None) -> Tails:
        side = self.beyond(x)
        if side:
            return (ball(1), ball(1)) if side < 0 else (ball(0), ball(0))
        return self.tails_at(self.threshold(x, bits, start))

    def delta(self, eps: Fraction) -> Enclosure:
        side = self.beyond(eps)
        if side > 0 or (eps == 0 and self.nothing):
            return ZERO

        def gap(bits: int) -> Ball:
            first, second = self.tails(eps, bits)
            return first - ball(eps).exp() * second

        return enclosed(gap, most=Fraction(1))

    @property
    def nothing(self) -> bool:
        return all(shift == 0 for shift, _ in (*self.first, *self.second))

    def losses(self, y: Any) -> tuple[Any, Any]:
        """L and its derivative in doubles."""
        import numpy as np

        found = []
        for parts in (self.first, self.second):
            shift = np.array([float(shift) for shift, _ in parts])[:, None]
            log = np.log(np.array([float(chance) for _, chance in parts]))[:, None]
            power = log + shift * (y - shift / 2) / float(self.variance)
            top = power.max(axis=0)
            weight = np.exp(power - top)
            total = weight.sum(axis=0)
            found.append((top + np.log(total), (weight * shift).sum(axis=0) / total / float(self.variance)))
        return found[0][0] - found[1][0], found[0][1] - found[1][1]

    def _in_doubles(self, x: float) -> float:
        import numpy as np

        return float(self.inverse(np.array([x]))[0])

    def inverse(self, x: Any) -> Any:
        """y of L(y) = x, in doubles."""
        import numpy as np

        spread = math.sqrt(float(self.variance))
        reach = float(self.first[-1][0]) - min(float(shift) for shift, _ in self.second)
        far = 60 * spread + 2 * reach + 2 * float(self.variance) * float(np.max(np.abs(x), initial=0)) / (reach or 1)
        grid = np.linspace(-far, far, _FINE)
        levels = np.maximum.accumulate(self.losses(grid)[0])
        at = np.clip(np.searchsorted(levels, x) - 1, 0, _FINE - 2)
        low, high = grid[at], grid[at + 1]
        y = (low + high) / 2
        with np.errstate(all="ignore"):
            for _ in range(60):
                value, slope = self.losses(y)
                low, high = np.where(value <= x, y, low), np.where(value > x, y, high)
                newton = y - (value - x) / slope
                before, y = y, np.where((newton > low) & (newton < high), newton, (low + high) / 2)
                if np.all(np.abs(y - before) <= 1e-14 * (1 + np.abs(y))):
                    break
        return y

    def float_tails(self, x: Any) -> tuple[Any, Any]:
        import numpy as np

        y, spread = self.inverse(x), math.sqrt(2 * float(self.variance))
        erfc = np.vectorize(math.erfc, otypes=[float])
        found = []
        for parts in (self.first, self.second):
            found.append(sum(float(chance) * erfc((y - float(shift)) / spread) / 2 for shift, chance in parts))
        for side in (-1, 1):
            end = self.limit(side)
            if end is not None:
                beyond = side * x >= -math.log(float(end)) if side > 0 else x <= math.log(float(end))
                found = [np.where(beyond, 0.0 if side > 0 else 1.0, tail) for tail in found]
        return found[0], found[1]

    def points(self, log_tail: float, count: int) -> Any:
        """Rising losses at equally spaced y, between which all but such a tail lies."""
        import numpy as np

        spread = math.sqrt(float(self.variance))
        ends = [float(shift) + spread * math.sqrt(max(-2 * (log_tail - min(math.log(float(chance)), 0.0)), 1.0))
                for shift, chance in self.first]  # fmt: skip
        low = -spread * math.sqrt(max(-2 * log_tail, 1.0)) + min(float(shift) for shift, _ in self.second)
        found = np.unique(self.losses(np.linspace(low, max(ends), count))[0])
        keep = np.concatenate([[True], np.diff(found) > 1e-13 * (1 + np.abs(found[1:]))])
        if not keep[1:].any():
            raise _flat()
        return found[keep]


def _flat() -> Refusal:
    return Refusal("The losses of this mixture are too flat to be told apart.", cure="Take a larger rate.")


def _past(x: Fraction, end: Fraction) -> bool:
    """Is e**x at most this rational? They are equal for x = 0 alone."""
    if x == 0:
        return end >= 1
    bits = 64
    while True:
        with precision(bits):
            gap = ball(x).exp() - ball(end)
            if gap < 0:
                return True
            if gap > 0:
                return False
        bits *= 2


def _law(noise: Noise) -> Distribution:
    def survival(place: Any, bits: int) -> Tails:
        return noise.tails(place, bits)

    return Distribution(place=lambda x: x, survival=survival, average=None, continuous=True)


def _tails_on_grid(noise: Noise, start: Fraction, step: Fraction, n: int) -> list[Tails]:
    """Each threshold is looked for from the last one on."""
    import numpy as np
    from flint import ctx

    starts = noise.inverse(float(start) + float(step) * np.arange(n))
    return [noise.tails(start + i * step, ctx.prec, float(starts[i])) for i in range(n)]


def _together(given: Given) -> None:
    for way in ("", "other_"):
        shifts, chances = series(given, f"{way}shift"), series(given, f"{way}chance")
        if len(shifts) != len(chances):
            raise Refusal("There is not one probability for each shift.", cure="Give two lists of equal length.")
        if len(shifts) > _MOST:
            raise Refusal(f"A mixture has at most {_MOST} parts.", cure="Count shifts as the next greater one.")
        if any(one >= other for one, other in pairwise(shifts)):
            raise Refusal("The shifts do not rise.", cure="Give the least shift first, and each once.")
        if sum(chances) != 1:
            total = float(sum(chances))
            raise Refusal(f"The probabilities add up to {total:.12g}, not to 1.", cure="Give them exactly.")


def _reverse(given: Given) -> Named:
    turned = {"variance": given["variance"]}
    for name, value in given.items():
        if name != "variance":
            turned[name.removeprefix("other_") if name.startswith("other_") else f"other_{name}"] = value
    return "gaussian_mixture", turned


def _simplest(given: Given) -> Named | None:
    first, second = ([part for part in _parts(given, way) if part[1]] for way in ("", "other_"))
    if first == second == _STILL:
        return None
    for one, other, end in ((first, second, ""), (second, first, "_reversed")):
        if other == _STILL and len(one) == 1:
            return "gaussian", {"variance": given["variance"] / one[0][0] ** 2, "shift": Fraction(1)}
        if other == _STILL and len(one) == 2 and one[0][0] == 0:
            reduced = {"variance": given["variance"] / one[1][0] ** 2, "shift": Fraction(1), "rate": one[1][1]}
            return f"poisson_gaussian{end}", reduced
    return "gaussian_mixture", _named(given["variance"], first, second)


def _family(
    *,
    ranges: Any,
    noise: Callable[[Given], Noise],
    pair: Callable[[Given], Pair],
    group: Callable[[Given, int], Named],
    together: Callable[[Given], object] | None,
    reverse: Callable[[Given], Named] | None,
    simplest: Callable[[Given], Named | None],
    neighbours: str,
) -> Family:
    def rho(given: Given) -> Fraction:
        made = noise(given)
        reach = made.first[-1][0] - min(shift for shift, _ in made.second)
        return reach**2 / (2 * made.variance)

    def renyi(given: Given, alpha: Fraction) -> Enclosure:
        made = noise(given)
        first, second = tuple(made.first), tuple(made.second)
        found = [of_mixtures(made.variance, first, second, alpha)]
        if reverse is not None:
            found.append(of_mixtures(made.variance, second, first, alpha))
        return Enclosure(max(one.lo for one in found), max(one.hi for one in found))

    def backward(given: Given, eps: Fraction) -> Enclosure:
        assert reverse is not None
        return noise(reverse(given)[1]).delta(eps)

    def float_tails(given: Given) -> FloatTails:
        return noise(given).float_tails

    return Family(
        ranges=ranges,
        pair=pair,
        group=group,
        spellings={},
        pure_epsilon=None,
        rho=rho,
        renyi=Slow(renyi),
        delta=lambda given, eps: noise(given).delta(eps),
        backward=None if reverse is None else backward,
        reach=None,
        kl=None,
        law=lambda given, most: _law(noise(given)),
        together=together,
        reverse=reverse,
        sample=None,
        neighbours=neighbours,
        simplest=simplest,
        attained=None,
        apart=None,
        mu_squared=None,
        interval=None,
        tradeoff=None,
        lattice=lambda given: Lattice(None, None, None),
        float_tails=float_tails,
        tails_on_grid=lambda given, start, step, n: _tails_on_grid(noise(given), start, step, n),
        moments=None,
        points=lambda given: noise(given).points,
    )


def _replaced(given: Given) -> Noise:
    parts = [(Fraction(0), 1 - given["rate"]), (given["shift"], given["rate"])]
    if given["shift"] == 0:
        parts = _STILL
    return Noise(given["variance"], parts, parts)


def _no_group(given: Given, k: int) -> Named:
    raise Refusal("Of a group of replaced rows on a sample nothing is known here.", cure="Ask of one row.")


def _mixture_group(given: Given, k: int) -> Named:
    """As far as all shifts of all of them: of length k times the greatest, always."""
    reach = given_reach(given)
    return "gaussian", {"variance": given["variance"], "shift": k * reach}


def given_reach(given: Given) -> Fraction:
    return max(shift for shift, _ in _parts(given)) + max(shift for shift, _ in _parts(given, "other_"))


MIXTURE = _family(
    ranges={"variance": positive, "shift*": at_least_0, "chance*": from_0_to_1, "other_shift*": at_least_0,
            "other_chance*": from_0_to_1},
    noise=lambda given: Noise(given["variance"], _parts(given), _parts(given, "other_")),
    pair=lambda given: Pair(
        "Z + S", "Z - R", f"Z Gaussian of variance {decimal_text(given['variance'])}, S and R drawn from their shifts"
    ),
    group=_mixture_group,
    together=_together,
    reverse=_reverse,
    simplest=_simplest,
    neighbours="add-remove",
)  # fmt: skip
REPLACED = _family(
    ranges={"variance": positive, "shift": at_least_0, "rate": between_0_and_1},
    noise=_replaced,
    pair=lambda given: Pair(
        "Z + S", "Z - S", f"Z Gaussian of variance {decimal_text(given['variance'])}, S {decimal_text(given['shift'])} "
        f"with probability {decimal_text(given['rate'])}, else 0"
    ),
    group=_no_group,
    together=None,
    reverse=None,
    simplest=lambda given: None if given["shift"] == 0 else (
        "poisson_replaced_gaussian",
        {"variance": given["variance"] / given["shift"] ** 2, "shift": Fraction(1), "rate": given["rate"]},
    ),
    neighbours="replace-one",
)  # fmt: skip
