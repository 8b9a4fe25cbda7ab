"""What a release can reveal, as data: the dominating pair of distributions, by name and exact parameters.

Definition  A Loss names a pair (P, Q) such that for any neighbours the release is no easier to tell apart than P from
            Q. `shifted("discrete_laplace", scale, shift)`: P is the noise, Q the noise moved by `shift`; for a vector
            with independent noise of one scale, `shift` is its l1 sensitivity. "discrete_gaussian" has `variance` and
            `shift`; "discrete_gaussian_vector" has `variance` and `l2_squared`, and stands for every integer shift of
            that length: these share their rho, and not their delta. "laplace" (scale, shift) and "gaussian" (variance,
            shift) are the distributions on the real line. "pure" (epsilon) is anything eps-DP, "bounded_range"
            (epsilon) is anything whose log-ratios lie within an interval of that length, "approximate" (epsilon, delta)
            anything that is (epsilon, delta)-DP. "randomised_response" has the probabilities `truth` of one's own value
            and `lie` of one other value; "unary_encoding" the probabilities `p` and `q` of a 1 for one's own bit and
            for another.
Promise     Frozen and exact, so it can be stored, compared and signed. Accountants read the family and its parameters;
            they never ask which mechanism made it. What is known of a family is one table of formulas in
            privacy/families; its argument is in that file. What is not known there is refused by name.
Directions  "forward" is P against Q, "backward" is Q against P. `delta` is the worse of the two. All families are
            symmetric except Poisson-subsampled ones: forward a row is removed, backward one is added. The directions
            are kept apart until everything is composed; `reversed` has the two exchanged.
Source      dominating pairs: Zhu, Dong, Wang, AISTATS 2022.
Checked     tests/privacy/test_loss.py, tests/privacy/test_families.py, tests/laws/test_every_mechanism.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self, TypeVar

from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure, positive, rational, whole
from dpcurator.numbers.decimal_search import decimal_at, least_place, place_of
from dpcurator.numbers.rational import at_least_0, from_0_below_1
from dpcurator.numbers.readable import fraction_text
from dpcurator.privacy.distribution import Distribution
from dpcurator.privacy.families import FAMILIES, Family
from dpcurator.privacy.families.family import Pair, order
from dpcurator.privacy.families.spelling import named

if TYPE_CHECKING:
    from dpcurator.numbers.rational import Spelled

DIRECTIONS = ("forward", "backward")
_SHOWN = 12  # parameters
_FIGURES = 12  # of an epsilon that is searched
_LEAST = Fraction(1, 10**30)  # the least epsilon returned that is not 0
T = TypeVar("T")


@dataclass(frozen=True, slots=True, init=False)
class Loss:
    """The privacy loss of one release, as data: a family of distributions and its exact parameters.

    A family and parameters name a pair of distributions (P, Q) that dominates the release: its outputs on any two
    neighbours are no easier to tell apart than P is from Q. The privacy loss is L = ln P(x)/Q(x), x drawn from P, and
    delta(epsilon) = E[max(1 - exp(epsilon - L), 0)].

    Promise: exact and frozen, so a loss can be stored, compared and signed; accountants read nothing else. Numbers
    derived from it are exact, or enclosures that are rounded outward.

    Parameters:
        family: "laplace", "discrete_laplace", "gaussian", "discrete_gaussian", "randomised_response", "pure",
            "bounded_range", "approximate" and others (docs/loss.md lists them).
        parameters: a mapping of names to numbers, or pairs of them; kept as (name, Fraction) pairs in order of name.
        by_keyword: the same as keywords, as in sigma=2 or epsilon="0.5".

    Raises Refusal if the family is unknown, or a parameter is missing, unknown or out of its range.

    >>> import dpcurator as dp
    >>> loss = dp.Loss("gaussian", sigma=2)  # of a query of sensitivity 1
    >>> loss.rho(), float(loss.epsilon("1e-6"))
    (Fraction(1, 8), 2.25408465022)
    >>> loss == dp.Loss("gaussian", variance=4, shift=1)
    True

    Source: Zhu, Dong, Wang 2022 (dominating pairs); Dwork, Roth 2014 (privacy loss).
    """

    family: str
    parameters: tuple[tuple[str, Fraction], ...]

    def __init__(
        self,
        family: str,
        parameters: Mapping[str, Spelled] | Iterable[tuple[str, Spelled]] = (),
        **by_keyword: Spelled,
    ) -> None:
        given = {**dict(_pairs(parameters)), **by_keyword}
        family, exact = named(family, {name: rational(value, name=name) for name, value in given.items()})
        object.__setattr__(self, "family", family)
        object.__setattr__(self, "parameters", tuple(sorted(exact.items())))
        FAMILIES[family].check(family, exact)

    def __repr__(self) -> str:
        given = "".join(f", {name}={fraction_text(value)}" for name, value in self.parameters[:_SHOWN])
        given += f", ... {len(self.parameters)} numbers" if len(self.parameters) > _SHOWN else ""
        return f"Loss({self.family!r}{given})"

    @classmethod
    def shifted(cls, family: str, *, scale: Fraction, shift: int) -> Self:
        """The loss of such noise on a query of sensitivity `shift` (int >= 0, in the unit of the scale).

        Raises Refusal if a parameter is out of its range.
        """
        step = Fraction(whole(shift, name="shift"))
        return cls(family, (("scale", positive(scale, name="scale")), ("shift", step)))

    @property
    def given(self) -> dict[str, Fraction]:
        """The parameters by name."""
        return dict(self.parameters)

    @property
    def _known(self) -> Family:
        return FAMILIES[self.family]

    def _formula(self, formula: T | None, what: str, cure: str) -> T:
        if formula is None:
            raise Refusal(f"{self.family} has no {what}.", cure=cure)
        return formula

    def __getitem__(self, name: str) -> Fraction:
        return self.given[name]

    def pure_epsilon(self) -> Fraction:
        """The least eps for which the pair is (eps, 0)-indistinguishable, rounded up by under 2**-120 where it is no
        rational (a logarithm). Raises Refusal if the family has none."""
        return self._formula(self._known.pure_epsilon, "pure epsilon", "Account for it with a delta.")(self.given)

    def rho(self) -> Fraction:
        """A rho for which the pair is rho-zCDP: the least for the Gaussian families, eps**2/2 for those that are pure,
        eps**2/8 for a bounded range. Raises Refusal if none is known for the family."""
        return self._formula(self._known.rho, "rho here", "Account for it with epsilon.")(self.given)

    def renyi(self, alpha: Spelled) -> Enclosure:
        """The Renyi divergence of order alpha > 1, in nats, enclosed: the greater of both directions.

        From 0 on where only a bound is known. Raises Refusal if none is, as where a loss may be infinite.
        """
        formula = self._formula(self._known.renyi, "Renyi divergence here", "Account for it with epsilon or rho.")
        return formula(self.given, order(alpha))

    def kl(self) -> Enclosure:
        """The mean of ln P/Q under P, in nats: the divergence of Kullback and Leibler (the largest there is, for a
        family that stands for many pairs). Raises Refusal if it is infinite."""
        return self._formula(self._known.kl, "finite mean known here", "Read its delta at an epsilon.")(self.given)

    def delta(self, epsilon: Spelled) -> Enclosure:
        """The least delta for which the pair is (epsilon, delta)-indistinguishable, both ways. epsilon: number >= 0.

        Raises Refusal if the family has none.
        """
        forward = self.delta_of("forward", epsilon)
        if self._known.backward is None:
            return forward
        backward = self.delta_of("backward", epsilon)
        return Enclosure(max(forward.lo, backward.lo), max(forward.hi, backward.hi))

    def delta_of(self, direction: str, epsilon: Spelled) -> Enclosure:
        """The least delta of one direction, "forward" (P against Q) or "backward" (Q against P).

        Raises Refusal for another direction, and for an epsilon below 0.
        """
        if direction not in DIRECTIONS:
            raise Refusal(f"A direction is {' or '.join(DIRECTIONS)}.")
        known = self._known
        formula = known.backward if direction == "backward" and known.backward else known.delta
        found = self._formula(formula, "delta of its own here", "Account for it by another measure.")
        return found(self.given, at_least_0(epsilon, name="epsilon"))

    def epsilon(self, delta: Spelled) -> Fraction:
        """The least eps at which delta(eps) was proved to be at most `delta`: exact where it is the largest loss, else
        of 12 figures, rounded up; 0 if that does, and else at least 1e-30. delta: number in [0, 1).

        delta(eps) falls as eps grows, so the search ends at the least. Raises Refusal if no eps does.
        """
        most = from_0_below_1(delta)
        if self.delta(Fraction(0)).hi <= most:
            return Fraction(0)
        known = self._known
        reach = None if known.reach is None else known.reach(self.given)
        if most == 0 or (reach is not None and self.delta(reach).hi > most):
            if reach is None or self.delta(reach).hi > most:
                raise Refusal(f"{self.family} has no epsilon at this delta.", cure="Ask at a larger delta.")
            return reach
        least = place_of(_LEAST, _FIGURES)

        def enough(place: int) -> bool:
            if place < least:
                return False
            eps = decimal_at(place, _FIGURES)
            return (reach is not None and eps >= reach) or self.delta(eps).hi <= most

        start = Fraction(1) if reach is None else reach
        found = decimal_at(least_place(enough, place_of(max(start, _LEAST), _FIGURES)), _FIGURES)
        return found if reach is None else min(found, reach)

    @property
    def reversed(self) -> Loss:
        """The pair (Q, P): itself, where the family is symmetric."""
        other = self._known.reverse
        return self if other is None else Loss(*other(self.given))

    def sampled(
        self, *, poisson: Spelled | None = None, fixed_size: Spelled | None = None, neighbours: str | None = None
    ) -> Loss:
        """Amplification by subsampling: the loss of the same mechanism on a secret random sample of the rows.

        The sample is drawn anew for each release. poisson: the probability q in (0, 1] with which each row is included,
        independently; for neighbours that add or remove one row, both here and in this loss. fixed_size: m/n, where a
        uniformly random set of m of n rows is drawn; for neighbours that replace one row. neighbours: "add-remove" or
        "replace-one", to be checked against that; of Gaussian noise on Poisson samples both are known, this loss being
        that of adding or removing a row. Raises Refusal if it does not apply to this loss.
        """
        from dpcurator.privacy.sampled import sampled

        return sampled(self, poisson=poisson, fixed_size=fixed_size, neighbours=neighbours)

    def distribution(self, *, atoms: int = 2000) -> Distribution:
        """The privacy loss distribution (PLD): that of ln P/Q under P, listing at most so many atoms (int >= 1).

        Raises Refusal if it is not known.
        """
        law = self._formula(self._known.law, "distribution here", "Account for it by its rho.")
        return law(self.given, whole(atoms, name="atoms", least=1))

    def worst_pair(self) -> Pair:
        """P and Q in words, as in "Z against Z + 3, Z discrete Laplace of scale 10"."""
        return self._known.pair(self.given)

    def for_group(self, size: int) -> Loss:
        """The loss towards a group of `size` units (int >= 1): the shift is multiplied, where there is one.

        Raises Refusal for a size below 1, and where a group's loss is not known.
        """
        k = whole(size, name="size", least=1)
        if k == 1:
            return self
        family, given = self._known.group(self.given, k)
        return Loss(family, tuple(given.items()))

    def as_json(self) -> dict[str, object]:
        """The family and each parameter as text such as "3/2"."""
        return {"family": self.family, "parameters": {name: str(value) for name, value in self.parameters}}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of `as_json`. Raises Refusal if the data are anything else."""
        family, parameters = data.get("family"), data.get("parameters")
        if set(data) != {"family", "parameters"} or not isinstance(family, str) or not isinstance(parameters, Mapping):
            raise Refusal("A loss is written as a family and its parameters, and nothing else.")
        made = cls(family, tuple((str(name), rational(value, name=str(name))) for name, value in parameters.items()))
        if (made.family, set(made.given)) != (family, set(parameters)):
            raise Refusal("A loss is written with its family's own parameters.", cure=f"Write {made.as_json()}.")
        return made


def _pairs(parameters: Any) -> list[tuple[str, object]]:
    given = parameters.items() if isinstance(parameters, Mapping) else parameters
    try:
        found = [(name, value) for name, value in given]
    except (TypeError, ValueError):  # no pairs
        found = [(None, None)]
    if not all(isinstance(name, str) for name, _ in found):
        cure = 'Write Loss("laplace", {"scale": 1, "shift": 1}).'
        raise Refusal("The parameters of a loss are numbers by name.", cure=cure)
    return found
