"""What every selection of keys promises, and what the two thresholds share.

Definition  A key has n distinct units; one unit is in at most `groups` keys, and moves the n of each of them by 1. A
            rule keeps each key with a probability that depends on n alone, independently, and never one of n = 0: such
            a key is not known to exist.
            A threshold keeps n + Z >= T for integer noise Z. Of the keys that one unit adds, all of which have n = 1,
            each is kept with probability t = P(1 + Z >= T), so some is with probability at most 1 - (1-t)**groups.
            With `min_units` = m a rule decides by max(0, n - m + 1): no key of fewer than m is ever kept, and no other
            more often than without. That number moves by at most 1 where n does, and a key where it is 0 is as one
            that nobody has, so neighbours stay neighbours, and all promises hold unchanged; a noisy count has m - 1
            added again, a constant.
Promise     Let c = 1 - (1-t)**groups, and the noisy counts of all keys that both neighbours have be (eps, d)-DP, or
            rho-zCDP, for the distance of their vector. Then the kept keys *and their noisy counts* are (eps, d + c)-DP,
            and c-approximately rho-zCDP, in both directions.
Proof       Let S be a set of outputs, p the probability of it without the unit, p' that of S on the common keys with
            it, and f <= groups the number of added keys. With the unit, S has at most c + (1-t)**f p' <= c + e**eps p +
            d, and at least (1-t)**f p' >= (1-c) p'. Without it, p = (1-c) p + c p <= (1-c) (e**eps p' + d) + c, which
            is at most e**eps (1-c) p' + d + c. For rho, condition on no added key being kept, of probability at least 1
            - c: the two distributions are then those of the common keys (Bun, Steinke 2016, definition 8.1).
Source      Korolova, Kenthapadi, Mishra, Ntoulas, WWW 2009 (thresholds); Desfontaines, Voss, Gipson, Mandayam, PoPETs
            2022(1) (the rest).
Checked     tests/mechanisms/test_key_selection.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from dpcurator.entropy import Entropy
from dpcurator.numbers import Enclosure, positive, whole
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.numbers.rational import between_0_and_1
from dpcurator.numbers.readable import readable
from dpcurator.privacy.narrow import narrow, surely_at_most
from dpcurator.privacy.zcdp import pure_to_rho

if TYPE_CHECKING:
    from numpy.typing import NDArray

Tail = Callable[[int, int], Ball]  # (j, bits) to P(Z >= j), relative error about 2**-bits


class KeySelection(Protocol):
    """A rule: frozen exact parameters, what they prove, and what they do to a key of n units."""

    @property
    def groups(self) -> int:
        """The most keys that one unit is in."""

    @property
    def min_units(self) -> int | None:
        """Of fewer units a key is never kept; None for 1."""

    @property
    def promise(self) -> tuple[Fraction, Fraction]:
        """(eps, delta) of the whole set of kept keys, when one unit is added or taken out."""

    @property
    def rho_promise(self) -> tuple[Fraction, Fraction]:
        """(rho, delta): the same, delta-approximately rho-zCDP."""

    def keep_chance(self, n: int) -> Enclosure:
        """P(kept | n distinct units), n >= 0; exactly 0 at 0; relative width under 2**-63."""

    def keep(self, counts: Sequence[int], entropy: Entropy | None = None) -> list[bool]:
        """Whether each key is kept, by its number of distinct units."""

    def half_size(self) -> int:
        """The least n whose keep_chance is surely at least 1/2."""

    def as_json(self) -> dict[str, object]:
        """The rule and its exact parameters, each as text such as "3/2"."""


@dataclass(frozen=True, slots=True)
class PureRule:
    """A rule given by what it promises, (eps, delta), which is all that it loses."""

    NAME: ClassVar[str]

    eps: Fraction
    delta: Fraction
    groups: int
    min_units: int | None = None

    __repr__ = readable

    def __post_init__(self) -> None:
        object.__setattr__(self, "eps", positive(self.eps, name="eps"))
        object.__setattr__(self, "delta", between_0_and_1(self.delta))
        object.__setattr__(self, "groups", whole(self.groups, name="groups", least=1))
        object.__setattr__(self, "min_units", minimum(self.min_units))

    @classmethod
    def spending(cls, eps: Fraction, delta: Fraction, *, groups: int, min_units: int | None = None) -> Self:
        """The rule that is (eps, delta)-DP."""
        return cls(eps, delta, groups, min_units)

    @property
    def promise(self) -> tuple[Fraction, Fraction]:
        """(eps, delta) of the whole set of kept keys."""
        return self.eps, self.delta

    @property
    def rho_promise(self) -> tuple[Fraction, Fraction]:
        """(rho, delta): delta-approximately rho-zCDP, with rho = eps**2 / 2."""
        return pure_to_rho(self.eps), self.delta

    def as_json(self) -> dict[str, object]:
        """The rule and its exact parameters as text."""
        return written(self, self.NAME)


class Threshold:
    """A rule that keeps n + Z >= `threshold`, Z the integer `noise` with P(Z >= j) = `_tail(j)`."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def noise(self) -> Noise: ...

        @property
        def threshold(self) -> int: ...

        @property
        def min_units(self) -> int | None: ...

    def _tail(self, j: int, bits: int) -> Ball:
        raise NotImplementedError

    def keep_chance(self, n: int) -> Enclosure:
        """P(kept | n distinct units), n >= 0; exactly 0 at 0; relative width under 2**-63."""
        return chance_at(self._tail, self.threshold, beyond(whole(n, name="n"), self.min_units))

    def keep(self, counts: Sequence[int], entropy: Entropy | None = None) -> list[bool]:
        """Whether each key is kept, by its number of distinct units."""
        return [value is not None for value in self.noisy_counts(counts, entropy)]

    def noisy_counts(self, counts: Sequence[int], entropy: Entropy | None = None) -> list[int | None]:
        """n + Z for the keys that are kept, None for the others: the promise is about both together."""
        less = (self.min_units or 1) - 1
        noisy = draw(self.noise, self.threshold, [beyond(int(n), self.min_units) for n in counts], entropy)
        return [None if value is None else value + less for value in noisy]

    @property
    def least_noisy(self) -> int:
        """From which noisy number of units on a key is kept."""
        return self.threshold + (self.min_units or 1) - 1

    def half_size(self) -> int:
        """T, or 1 below it: P(Z >= 0) > 1/2 > P(Z >= 1), as Z is symmetric and 0 has mass."""
        return max(self.threshold, 1) + (self.min_units or 1) - 1


def minimum(min_units: object) -> int | None:
    """A least number of units, None where it leaves nothing out. Raises Refusal."""
    found = None if min_units is None else whole(min_units, name="min_units", least=1)
    return None if found == 1 else found


def beyond(n: int, min_units: int | None) -> int:
    """n without the units that are not enough: what a rule with a least number of them decides by."""
    return max(0, n - (min_units or 1) + 1)


def written(rule: Any, name: str) -> dict[str, object]:
    """A rule by name with its parameters, each as text; those that are None are left out."""
    given = {field.name: getattr(rule, field.name) for field in fields(rule)}
    return {"rule": name, "parameters": {field: str(value) for field, value in given.items() if value is not None}}


class Noise(Protocol):
    """Of a mechanism, what a threshold needs."""

    def sample(self, size: int, entropy: Entropy | None = None) -> NDArray[Any]: ...
    def error(self, beta: Fraction) -> int: ...


def least_threshold(noise: Noise, tail: Tail, delta: Fraction, groups: int) -> int:
    """The least T for which some added key is kept with probability at most delta."""

    def enough(threshold: int) -> bool:
        return surely_at_most(lambda bits: any_of(tail(threshold - 1, bits), groups, bits), delta, 128)

    each = 2 * delta / groups  # P(Z > m) is half of P(|Z| > m): by the union of all, this T is enough
    low = high = noise.error(each) + 2 if each < 1 else 2
    step = 1
    while not enough(high):
        low, high, step = high, high + step, 2 * step
    while low == high or enough(low):  # ends: far below 1, every key is kept
        low, high, step = low - step, low, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def any_of(chance: Ball, groups: int, bits: int) -> Ball:
    """1 - (1 - probability)**groups, to the relative accuracy of the probability."""
    with precision(bits + 64):
        return -(groups * (-chance).log1p()).expm1() if chance < 1 else ball(1)


def chance_at(tail: Tail, threshold: int, n: int) -> Enclosure:
    """P(n + Z >= threshold) for n >= 1, and 0 for n = 0."""
    if n == 0:
        return Enclosure.exactly(0)
    return as_chance(lambda bits: tail(threshold - n, bits))


def as_chance(value: Callable[[int], Ball]) -> Enclosure:
    """A probability above 0, narrow, and cut to [0, 1]."""
    found = narrow(value, 128)
    return Enclosure(min(max(found.lo, Fraction(0)), Fraction(1)), min(found.hi, Fraction(1)))


def draw(noise: Noise, threshold: int, counts: Sequence[int], entropy: Entropy | None) -> list[int | None]:
    """n + Z where it is at least the threshold and n >= 1, else None. A draw is made for every count, whatever it is.

    A key of n units, n >= 1, is kept with `chance_at`: n + Z >= threshold is Z >= threshold - n.
    """
    noisy = (int(n) + int(z) for n, z in zip(counts, noise.sample(len(counts), entropy), strict=True))
    return [value if n > 0 and value >= threshold else None for n, value in zip(counts, noisy, strict=True)]
