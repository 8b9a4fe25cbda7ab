"""What a release can reveal, as data: the dominating pair of distributions, by name and exact parameters.

Definition  A Loss names a pair (P, Q) such that for any neighbours the release is no easier to tell apart than P from
            Q. `shifted("discrete_laplace", scale, shift)`: P is the noise, Q the noise moved by `shift`; for a vector
            with independent noise of one scale, `shift` is its l1 sensitivity. "discrete_gaussian" has `variance` and
            `shift`; "discrete_gaussian_vector" has `variance` and `l2_squared`, and stands for every integer shift of
            that length: these share their rho, and not their delta. "laplace" (scale, shift) and "gaussian" (variance,
            shift) are the laws on the real line. "pure" (epsilon) is anything eps-DP, "bounded_range" (epsilon) is
            anything whose log-ratios lie within an interval of that length, "approximate" (epsilon, delta) anything
            that is (epsilon, delta)-DP. "randomised_response" has the chances `truth` of one's own value and `lie` of
            one other value.
Promise     Frozen and exact, so it can be stored, compared and signed. Accountants read the family and its parameters;
            they never ask which mechanism made it. A family is added by a line in each table that knows a closed form
            of it.
Source      dominating pairs: Zhu, Dong, Wang, AISTATS 2022; rho and delta of the discrete Gaussian: Canonne, Kamath,
            Steinke 2020, theorems 4 and 7.
Checked     tests/privacy/test_loss.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure, ln, positive, rational, whole
from dpcurator.privacy import discrete_gaussian, gaussian


@dataclass(frozen=True, slots=True)
class Loss:
    """family: the law's name. parameters: (name, Fraction) pairs in order of name."""

    family: str
    parameters: tuple[tuple[str, Fraction], ...]

    def __post_init__(self) -> None:
        exact = ((name, rational(value, name=name)) for name, value in self.parameters)
        object.__setattr__(self, "parameters", tuple(sorted(exact)))

    @classmethod
    def shifted(cls, family: str, *, scale: Fraction, shift: int) -> Self:
        """Noise of this family and scale, against itself moved by `shift` (int >= 0, the unit of the scale)."""
        step = Fraction(whole(shift, name="shift"))
        return cls(family, (("scale", positive(scale, name="scale")), ("shift", step)))

    def __getitem__(self, name: str) -> Fraction:
        return dict(self.parameters)[name]

    def pure_epsilon(self) -> Fraction:
        """The least eps for which the pair is (eps, 0)-indistinguishable, rounded up by under 2**-120 where it is no
        rational (a logarithm). Raises Refusal for a family that has none."""
        formula = PURE_EPSILON.get(self.family)
        if formula is None:
            raise Refusal(f"{self.family} has no pure epsilon.", cure="Account for it with a delta.")
        return formula(self)

    def rho(self) -> Fraction:
        """The least rho for which the pair is rho-zCDP. Raises Refusal for a family that has none here."""
        formula = RHO.get(self.family)
        if formula is None:
            raise Refusal(f"{self.family} has no rho here.", cure="Account for it with epsilon.")
        return formula(self)

    def delta(self, eps: Fraction) -> Enclosure:
        """The least delta for which the pair is (eps, delta)-indistinguishable, in both directions. eps: Fraction >= 0.

        Raises Refusal for a family that has none here.
        """
        formula, at = DELTA.get(self.family), rational(eps, name="eps")
        if formula is None:
            raise Refusal(f"{self.family} has no delta of its own here.", cure="Account for it by another measure.")
        if at < 0:
            raise Refusal("eps must be at least 0.", cure="Write eps as in 0.5.")
        return formula(self, at)

    def as_json(self) -> dict[str, object]:
        """The family and each parameter as text such as "3/2"."""
        return {"family": self.family, "parameters": {name: str(value) for name, value in self.parameters}}

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Self:
        """The inverse of `as_json`. Raises Refusal for anything else."""
        family, parameters = data.get("family"), data.get("parameters")
        if set(data) != {"family", "parameters"} or not isinstance(family, str) or not isinstance(parameters, Mapping):
            raise Refusal("A loss is written as a family and its parameters, and nothing else.")
        return cls(family, tuple((str(name), rational(value, name=str(name))) for name, value in parameters.items()))


PURE_EPSILON: Mapping[str, Callable[[Loss], Fraction]] = {
    "discrete_laplace": lambda loss: loss["shift"] / loss["scale"],
    "laplace": lambda loss: loss["shift"] / loss["scale"],
    "pure": lambda loss: loss["epsilon"],
    "bounded_range": lambda loss: loss["epsilon"],
    "randomised_response": lambda loss: ln(loss["truth"] / loss["lie"]).hi,
}

RHO: Mapping[str, Callable[[Loss], Fraction]] = {
    "gaussian": lambda loss: loss["shift"] ** 2 / (2 * loss["variance"]),
    "pure": lambda loss: loss["epsilon"] ** 2 / 2,
    "bounded_range": lambda loss: loss["epsilon"] ** 2 / 8,
    "discrete_gaussian": lambda loss: loss["shift"] ** 2 / (2 * loss["variance"]),
    "discrete_gaussian_vector": lambda loss: loss["l2_squared"] / (2 * loss["variance"]),
}

DELTA: Mapping[str, Callable[[Loss, Fraction], Enclosure]] = {
    "discrete_gaussian": lambda loss, eps: discrete_gaussian.delta(
        positive(loss["variance"], name="variance"), whole(loss["shift"], name="shift"), eps
    ),
    "gaussian": lambda loss, eps: gaussian.curve(loss["shift"] ** 2 / positive(loss["variance"], name="variance"), eps),
}
