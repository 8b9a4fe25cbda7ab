"""Randomised response: each person answers for themselves, truly with a known probability, else with another value.

Definition  P(report = x | x) = truth and P(report = y | x) = lie = (1 - truth)/(k - 1) for each of the k - 1 values y
            other than x; truth > lie. Warner's coin is k = 2.
Promise     Each report is eps-DP in the local model: whatever two values one person may hold, no report is likelier
            under one by more than e**eps = truth/lie, exactly; the report "x" attains it (replace-one: that somebody
            reports is not hidden). Nobody needs to be trusted: the draw is made on the person's own device.
            From `epsilon`, truth/lie is the rational `odds` below e**epsilon. A second report of the same value costs
            its epsilon again.
            Estimates are unbiased, exactly (estimates.py).
Proof       A report's probabilities under x and x' differ at x (truth against lie) and at x' (lie against truth) alone.
            The draw: an exact coin of probability `truth`, and a uniform one of the k - 1 others, which is shown where
            the coin says so.
Source      Warner, JASA 1965; k values: Kairouz, Bonawitz, Ramage, ICML 2016.
Checked     tests/mechanisms/test_randomised_response.py.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

from dpcurator.entropy import Entropy
from dpcurator.errors import Refusal
from dpcurator.mechanisms.local import public_values
from dpcurator.mechanisms.local.estimates import Estimates, planned_error
from dpcurator.mechanisms.local.public_values import REFUSED
from dpcurator.mechanisms.local.rational_odds import epsilon_of, odds
from dpcurator.mechanisms.parameters import parameters
from dpcurator.numbers import rational
from dpcurator.numbers.rational import Spelled
from dpcurator.privacy.calibration import BY_EPSILON, Calibration
from dpcurator.privacy.loss import Loss

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGEST = 2**24  # values; the aggregator counts each


@parameters
class RandomisedResponse:
    """Randomised response: each person reports their value truly with a known probability; local epsilon-DP.

    P(report = x | x) = truth, P(report = y | x) = lie = (1 - truth) / (k - 1) for each of the k - 1 other values.

    Promise: each report is epsilon-DP in the local model with e**epsilon = truth / lie, exactly: nobody is trusted.
    From `epsilon`, truth / lie is the rational just below e**epsilon. Estimates of counts are unbiased.

    Parameters (any other value raises Refusal, with a way to mend it):
        values: a list of 2 or more different public values, in an order that everybody shares; or an int k >= 2 for
            0, 1, ..., k-1.
        epsilon: number >= 2**-40, of one report; or
        truth: number in (1/k, 1), the probability of a true report, in its place.
        otherwise: the declared value that stands for one not declared; unless given, such values are refused.

    >>> import dpcurator as dp
    >>> coin = dp.RandomisedResponse.with_truth(truth="3/4", values=["no", "yes"])
    >>> coin.respond("yes") in ("no", "yes")
    True
    >>> coin.estimate(["yes"] * 60 + ["no"] * 40).count("yes")
    Fraction(70, 1)

    Source: Warner 1965; k values, Kairouz, Bonawitz, Ramage 2016.
    """

    calibration: ClassVar[Calibration] = BY_EPSILON

    values: Sequence[Any] | int
    epsilon: Fraction | None = None
    truth: Fraction | None = None
    otherwise: Hashable = REFUSED

    if TYPE_CHECKING:  # each is given as people write it, and kept as the exact number

        def __init__(
            self, *, values: Sequence[Any] | int, epsilon: Spelled | None = None, truth: Spelled | None = None,
            otherwise: Hashable = REFUSED,
        ) -> None: ...

    def __post_init__(self) -> None:
        values = public_values.settle(self, most=LARGEST)
        object.__setattr__(self, "truth", self._checked_truth(len(values)))

    def _checked_truth(self, k: int) -> Fraction:
        truth = None if self.truth is None else rational(self.truth, name="truth")
        if self.epsilon is not None:
            epsilon = epsilon_of(self.epsilon)
            ratio = odds(epsilon)
            object.__setattr__(self, "epsilon", epsilon)
            spent = ratio / (ratio + k - 1)
            if truth in (None, spent):
                return spent
        if truth is None or self.epsilon is not None:
            raise Refusal(
                "Randomised response needs epsilon or truth, and not both.",
                cure="Write RandomisedResponse(epsilon=1, values=2).",
            )
        if not Fraction(1, k) < truth < 1:
            raise Refusal(
                f"truth, the probability of a true report, must lie above 1/{k} and below 1.",
                cure='Write truth as in "3/4".',
            )
        return truth

    @classmethod
    def with_truth(cls, *, truth: Spelled, values: Sequence[Any] | int, otherwise: Hashable = REFUSED) -> Self:
        """A report is true with probability `truth`, else any other value, all alike.

        Raises Refusal as the class does.
        """
        return cls(values=values, truth=truth, otherwise=otherwise)

    @property
    def lie(self) -> Fraction:
        """The probability of each one value that is not held."""
        return (1 - self._truth) / (len(self._values) - 1)

    @property
    def loss(self) -> Loss:
        """Exact, of one report: the pair (truth, lie), the rest of the probability being the same under both."""
        return Loss("randomised_response", (("truth", self._truth), ("lie", self.lie)))

    def reports(self) -> Iterable[Hashable]:
        """Every report: the declared values, in their order."""
        return self._values

    def pmf(self, report: Hashable, value: Hashable) -> Fraction:
        """P(report | value), exactly; both are declared values.

        Raises Refusal for what is no such report, or a value that is not declared.
        """
        same = public_values.named(self._values, report) == public_values.named(self._values, value)
        return self._truth if same else self.lie

    def respond(self, value: Hashable, entropy: Entropy | None = None) -> Any:
        """One report of one's own value, itself a declared value. Runs on the person's own device.

        Raises Refusal for a value that is not declared, unless `otherwise` is.
        """
        return self.respond_many([value], entropy)[0]

    def respond_many(self, values: Iterable[Hashable], entropy: Entropy | None = None) -> NDArray[Any]:
        """One report for each; int64, or objects where values were listed. values: a list or flat array.

        Raises Refusal for a value that is not declared, unless `otherwise` is.
        """
        from dpcurator import samplers

        own = public_values.held(self._values, values, self.otherwise)
        true = samplers.bernoulli(self._truth, len(own), entropy)
        other = samplers.uniform_below(len(self._values) - 1, len(own), entropy)
        other += other >= own  # the k - 1 others, in order
        other[true] = own[true]
        return public_values.at(self._values, other)

    def estimate(self, reports: Iterable[Hashable]) -> Estimates:
        """How many hold each value. reports: a list or flat array of values. Raises Refusal, with the position."""
        import numpy as np

        seen = public_values.places(self._values, reports)
        if (outside := seen < 0).any():
            raise public_values.wrong_report(outside)
        supports = np.bincount(seen, minlength=len(self._values)).astype(np.int64)
        return Estimates(len(seen), self._truth, self.lie, self._values, supports)

    def error(self, beta: Spelled, *, reports: int) -> Fraction:
        """How far off one count from so many reports may be but with probability beta, in people, whatever the truth
        is. Raises Refusal for a beta that is no number in (0, 1), or a number of reports that is none."""
        return planned_error(self._truth, self.lie, reports=reports, beta=beta)

    @property
    def _values(self) -> public_values.Values:
        return public_values.settled(self.values)

    @property
    def _truth(self) -> Fraction:
        assert self.truth is not None
        return self.truth


EXAMPLES = (
    RandomisedResponse.with_truth(truth="3/4", values=2),
    RandomisedResponse(epsilon=Fraction(1), values=["red", "green", "blue"], otherwise="blue"),
    RandomisedResponse(epsilon=Fraction(1, 10), values=5),
)
