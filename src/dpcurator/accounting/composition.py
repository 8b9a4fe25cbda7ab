"""Composition: what several releases reveal together, as data, and certified bounds on it.

Definition  A Composition is losses with counts, equal losses merged. Its delta at epsilon is the least for which the
            product of its pairs is (epsilon, delta)-indistinguishable, the worse of the two directions being taken
            after everything is composed; its epsilon at delta is the least that has at most this delta. All losses are
            towards the same neighbours: Poisson samples (add or remove a row) do not mix with samples of a fixed size
            and randomised response (replace one).
Promise     `epsilon` and `delta` are certified upper bounds; `bracket` adds a certified lower one and says which method
            gave the upper. `estimate` is a fast number with no promise. No bound is above the sum of pure epsilons.
Proof       Each loss dominates its release, so their product dominates the releases together, also where a later one
            looks at earlier answers, as long as the losses were fixed before the first (Zhu, Dong, Wang 2022, theorem
            10). Parameters that are chosen along the way need a filter, not this. Bounds: accounting/pld/certified.py
            and accounting/closed/bounds.py; the least of valid bounds is valid.
Source      Dwork, Roth 2014, section 3.5; Zhu, Dong, Wang, AISTATS 2022.
Checked     tests/accounting/test_composition.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol, Self

from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure, whole
from dpcurator.numbers.readable import readable
from dpcurator.privacy.loss import Loss
from dpcurator.privacy.sampled import is_reverse, neighbours_of

if TYPE_CHECKING:
    from dpcurator.accounting.bracket import Bracket
    from dpcurator.numbers.rational import Spelled

_MOST = 10**9  # of all counts together


@dataclass(frozen=True, slots=True)
class Composition:
    """The privacy losses of several releases together, each with how often it occurs; `dp.compose` makes it.

    Its delta at an epsilon is the least for which the product of the dominating pairs is (epsilon, delta)-
    indistinguishable, its epsilon at a delta the least that has at most this delta.

    Promise: `epsilon` and `delta` are certified upper bounds for releases whose losses were fixed beforehand, also
    where a later release looks at earlier answers (adaptive composition); `bracket` adds a certified lower bound.
    Where later losses are chosen by earlier answers, use a filter (dp.ApproximateFilter).

    Parameters:
        parts: pairs (loss, count), loss a dp.Loss, count an int >= 0; equal losses are merged. At most 10**9 in all.

    Raises Refusal if a part is no such pair, or the losses are for different neighbours.

    >>> import dpcurator as dp
    >>> together = dp.Composition(((dp.Loss("gaussian", sigma=2), 10),))
    >>> together.size, float(together.epsilon(delta="1e-6")) < 8.4
    (10, True)

    Source: Zhu, Dong, Wang 2022, theorem 10; Dwork, Roth 2014, section 3.5.
    """

    parts: tuple[tuple[Loss, int], ...]

    __repr__ = readable

    def __post_init__(self) -> None:
        counts: dict[Loss, int] = {}
        for loss, count in self.parts:
            if not isinstance(loss, Loss):
                raise Refusal("A composition is of losses.", cure="Write compose(part, (part, count)).")
            counts[loss] = counts.get(loss, 0) + whole(count, name="count", least=0)
        if any(is_reverse(loss) for loss in counts):
            raise Refusal(
                "Both directions of a composition are taken care of.", cure="Compose the loss, not its reverse."
            )
        neighbours_of(loss for loss, count in counts.items() if count)
        ordered = sorted(((loss, count) for loss, count in counts.items() if count), key=_order)
        if sum(count for _, count in ordered) > _MOST:
            raise Refusal("A composition is of at most 1,000,000,000 losses.")
        object.__setattr__(self, "parts", tuple(ordered))

    @property
    def size(self) -> int:
        """How many losses, each as often as it counts."""
        return sum(count for _, count in self.parts)

    def epsilon(self, delta: Spelled) -> Fraction:
        """A certified upper bound on the least epsilon at this delta. delta: number in [0, 1).

        Raises Refusal if no epsilon is known to have so small a delta.
        """
        return self.bracket(delta=delta).upper

    def delta(self, epsilon: Spelled) -> Fraction:
        """A certified upper bound on the least delta at this epsilon. epsilon: number >= 0.

        Raises Refusal for another epsilon.
        """
        return self.bracket(epsilon=epsilon).upper

    def bracket(self, *, delta: Spelled | None = None, epsilon: Spelled | None = None, **limits: Any) -> Bracket:
        """Both certified bounds: on epsilon at a delta, or on delta at an epsilon.

        limits: `accuracy` (relative width to work for, 1e-4), `seconds` (of CPU time, after which it is
        made no narrower: the bracket then says `stopped`), and
        `progress`, called after each grid with the best bounds so far (`lower`, `upper`) and seconds.
        Raises Refusal unless one of delta and epsilon is given, in its range.
        """
        from dpcurator.accounting.bracket import bracket

        return bracket(self.parts, delta=delta, epsilon=epsilon, **limits)

    def estimate(self, *, delta: Spelled | None = None, epsilon: Spelled | None = None) -> float:
        """A fast estimate of epsilon at a delta, or of delta at an epsilon, for planning; it bounds nothing.

        Raises Refusal unless one of delta and epsilon is given, in its range.
        """
        from dpcurator.accounting.estimate.estimate import estimate

        return estimate(self.parts, delta=delta, epsilon=epsilon)

    def renyi(self, alpha: Spelled) -> Enclosure:
        """The sum of the Renyi divergences of order alpha > 1, in nats: at least that of all releases together, also
        where each was chosen by what was seen before. Raises Refusal if none is known of a loss."""
        return sum((loss.renyi(alpha) * Fraction(count) for loss, count in self.parts), Enclosure.exactly(0))

    def sampled(self, *, poisson: Spelled, neighbours: str | None = None) -> Composition:
        """Several queries on one Poisson sample of the rows, drawn once for all of them: of Gaussian noise, which is
        one Gaussian release of mu**2 = sum of mu_i**2. poisson, neighbours: as in Loss.sampled, of which each part
        would have a sample of its own. Raises Refusal if a part has other noise."""
        from dpcurator.accounting.closed.bounds import one_gaussian

        together = one_gaussian(self.parts)
        if together is None:
            raise Refusal(
                "Several queries on one sample are known here for Gaussian noise alone.",
                cure="Sample each loss by itself if each has a sample of its own; else take two_pmfs of all answers.",
            )
        return Composition(((together.sampled(poisson=poisson, neighbours=neighbours), 1),))

    def for_group(self, size: int) -> Composition:
        """What the same releases reveal of a group of `size` units (int >= 1): of each loss, that of the group, whose
        pair dominates each release. Raises Refusal if one has none."""
        return Composition(tuple((loss.for_group(size), count) for loss, count in self.parts))

    def as_json(self) -> list[dict[str, object]]:
        """Each loss as its own JSON, with its count."""
        return [loss.as_json() | {"count": count} for loss, count in self.parts]

    @classmethod
    def from_json(cls, data: Sequence[Mapping[str, Any]]) -> Self:
        """The inverse of `as_json`; a count of 1 may be left out. Raises Refusal if the data are anything else."""
        if not isinstance(data, list | tuple) or not all(isinstance(part, Mapping) for part in data):
            raise Refusal("A composition is written as a list of losses with counts.")
        parts = []
        for part in data:
            loss = {name: value for name, value in part.items() if name != "count"}
            parts.append((Loss.from_json(loss), whole(part.get("count", 1), name="count", least=0)))
        return cls(tuple(parts))


class HasLoss(Protocol):
    """A mechanism that knows the loss of one release."""

    @property
    def loss(self) -> Loss: ...


Releases = Loss | Composition | HasLoss | tuple["Releases", int]


def compose(*parts: Releases) -> Composition:
    """The composition of several releases: what they reveal together, to be bounded as one.

    Promise: see dp.Composition; its epsilon is certified and never above the sum of the pure epsilons.

    Parameters:
        parts: each a dp.Loss, a mechanism whose `loss` is known (as dp.Laplace), a dp.Composition, or a pair (part,
            count), count an int >= 0. A mechanism with several `losses` counts for each of them.

    Returns a dp.Composition. Raises Refusal if a part has no loss by itself, or neighbours differ between the losses.

    >>> import dpcurator as dp
    >>> noise = dp.Laplace(sensitivity=1, epsilon="0.1")
    >>> hundred = dp.compose((noise, 100))
    >>> float(hundred.epsilon(delta=0)), float(hundred.epsilon(delta="1e-6")) < 4.7
    (10.0, True)

    Source: Dwork, Roth 2014, section 3.5; Zhu, Dong, Wang 2022.
    """
    return Composition(tuple(single for part in parts for single in _parts(part)))


def _parts(part: object) -> list[tuple[Loss, int]]:
    if isinstance(part, Loss):
        return [(part, 1)]
    if isinstance(part, Composition):
        return list(part.parts)
    if isinstance(part, tuple) and len(part) == 2:
        count = whole(part[1], name="count", least=0)
        return [(loss, single * count) for loss, single in _parts(part[0])]
    losses = getattr(part, "losses", None)
    if isinstance(losses, tuple | list):
        return [single for loss in losses for single in _parts(loss)]
    loss = getattr(part, "loss", None)
    if isinstance(loss, Loss):
        return [(loss, 1)]
    raise Refusal(
        f"{type(part).__name__} has no loss by itself.",
        cure="Give a Loss, a mechanism whose sensitivity is declared, a composition, or a pair (part, count).",
    )


def _order(part: tuple[Loss, int]) -> tuple[str, tuple[tuple[str, Fraction], ...]]:
    return part[0].family, part[0].parameters
