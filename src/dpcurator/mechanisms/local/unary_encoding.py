"""Unary encoding: a vector of one bit a value, each flipped by its own coin before it is sent.

Definition  Bit v of the report is 1 with probability p where v is the value held, else with probability q < p,
            independently. `optimised`: p = 1/2, q = 1/(R+1), R just below e**epsilon. `symmetric`: p = S/(S+1), q =
            1/(S+1), S just below e**(epsilon/2) (basic RAPPOR).
Promise     Each report is eps-DP in the local model with e**eps = p(1-q)/(q(1-p)), exactly: two values change the
            probabilities of two bits, and the reports with 1 at the one and 0 at the other attain it.
            The error of a count does not grow with the number of values. Estimates are unbiased, exactly.
Proof       The other bits have the same distribution under both and cancel. Of the two bits, 10 has probability p(1-q)
            under the one and q(1-p) under the other, 01 the reverse, and 00 and 11 are alike under both: the pair
            "unary_encoding", with nothing lost.
            The draw: 16 uniform bits u, true for u < floor(2**16 c), an exact coin of the rest 2**16 c - floor(2**16 c)
            for u equal to it, so true with probability (floor + rest)/2**16 = c.
Source      Erlingsson, Pihur, Korolova, CCS 2014; Wang, Blocki, Li, Jha, USENIX Security 2017 (optimised).
Checked     tests/mechanisms/test_unary_encoding.py.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from itertools import product
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
from dpcurator.privacy.calibration import Calibration, Given, Made
from dpcurator.privacy.loss import Loss

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LARGEST = 2**24  # values: bits of one report
_CELLS = 2**20  # bits drawn at a time


def _at_epsilon(cls: Any, epsilon: Fraction, given: Given) -> Made:
    made = cls.optimised(epsilon=epsilon, **given)
    return made, made.loss


@parameters
class UnaryEncoding:
    """Unary encoding (basic RAPPOR and its optimised form): one randomised bit a value; local epsilon-DP.

    Bit v of a report is 1 with probability p where v is the value held, and q < p elsewhere, independently.
    `UnaryEncoding.optimised(epsilon=...)`: p = 1/2, q = 1 / (e**epsilon + 1). `symmetric`: each bit is flipped with
    probability 1 / (e**(epsilon/2) + 1).

    Promise: each report is epsilon-DP in the local model with e**epsilon = p (1-q) / (q (1-p)), exactly. The error of
    an estimated count does not grow with the number of values.

    Parameters (any other value raises Refusal, with a way to mend it):
        values: a list of 2 or more different public values, in an order that everybody shares; or an int k >= 2 for
            0, 1, ..., k-1.
        p, q: numbers, 0 < q < p < 1, the probability of a 1 at the value held and at each other.
        otherwise: the declared value that stands for one not declared; unless given, such values are refused.

    >>> import dpcurator as dp
    >>> encoding = dp.UnaryEncoding.optimised(epsilon=1, values=["tram", "bus", "foot"])
    >>> encoding.respond("bus").shape
    (3,)
    >>> 0.9999 < float(encoding.loss.pure_epsilon()) <= 1
    True

    Source: Erlingsson, Pihur, Korolova 2014; Wang, Blocki, Li, Jha 2017 (optimised).
    """

    calibration: ClassVar[Calibration] = Calibration("epsilon", _at_epsilon)

    values: Sequence[Any] | int
    p: Fraction
    q: Fraction
    otherwise: Hashable = REFUSED

    if TYPE_CHECKING:  # each is given as people write it, and kept as the exact number

        def __init__(
            self, *, values: Sequence[Any] | int, p: Spelled, q: Spelled, otherwise: Hashable = REFUSED
        ) -> None: ...

    def __post_init__(self) -> None:
        public_values.settle(self, most=LARGEST)
        p, q = rational(self.p, name="p"), rational(self.q, name="q")
        if not 0 < q < p < 1:
            raise Refusal("The probabilities of a 1 must be 0 < q < p < 1.", cure='Write p="1/2", q="1/4".')
        for name, value in (("p", p), ("q", q)):
            object.__setattr__(self, name, value)

    @classmethod
    def optimised(cls, *, epsilon: Spelled, values: Sequence[Any] | int, otherwise: Hashable = REFUSED) -> Self:
        """Of all p and q that spend epsilon, those with the least error for values that few hold.

        Raises Refusal as the class does.
        """
        ratio = odds(epsilon_of(epsilon))
        return cls(values=values, p=Fraction(1, 2), q=1 / (ratio + 1), otherwise=otherwise)

    @classmethod
    def symmetric(cls, *, epsilon: Spelled, values: Sequence[Any] | int, otherwise: Hashable = REFUSED) -> Self:
        """Each bit is flipped with the same probability. Raises Refusal as the class does."""
        ratio = odds(epsilon_of(epsilon) / 2)
        return cls(values=values, p=ratio / (ratio + 1), q=1 / (ratio + 1), otherwise=otherwise)

    @property
    def loss(self) -> Loss:
        """Exact, of one report: the two bits in which two values differ."""
        return Loss("unary_encoding", (("p", self.p), ("q", self.q)))

    def reports(self) -> Iterable[tuple[int, ...]]:
        """Every report: each of the 2**k vectors of bits."""
        return product((0, 1), repeat=len(self._values))

    def pmf(self, report: Iterable[bool], value: Hashable) -> Fraction:
        """P(report | value), exactly. report: k bits; value: a declared value.

        Raises Refusal for what is no such report, or a value that is not declared.
        """
        own = public_values.named(self._values, value)
        bits = self._bits([report])[0]
        ones = int(bits.sum()) - int(bits[own])
        rest = self.q**ones * (1 - self.q) ** (len(bits) - 1 - ones)
        return (self.p if bits[own] else 1 - self.p) * rest

    def respond(self, value: Hashable, entropy: Entropy | None = None) -> NDArray[np.bool_]:
        """One report of one's own value: bool, shape (k,). Runs on the person's own device.

        Raises Refusal for a value that is not declared, unless `otherwise` is.
        """
        report: NDArray[np.bool_] = self.respond_many([value], entropy)[0]
        return report

    def respond_many(self, values: Iterable[Hashable], entropy: Entropy | None = None) -> NDArray[np.bool_]:
        """One report for each: bool, shape (n, k), of n*k bytes. values: a list or flat array.

        Raises Refusal for a value that is not declared, unless `otherwise` is.
        """
        import numpy as np

        own = public_values.held(self._values, values, self.otherwise)
        out = np.empty((len(own), len(self._values)), dtype=np.bool_)
        rows = max(_CELLS // out.shape[1], 1)
        for start in range(0, len(own), rows):
            part = out[start : start + rows]
            part[...] = coins(self.q, part.size, entropy).reshape(part.shape)
            part[np.arange(len(part)), own[start : start + rows]] = coins(self.p, len(part), entropy)
        return out

    def estimate(self, reports: Iterable[Iterable[bool]]) -> Estimates:
        """How many hold each value. reports: bits (bool, or 0 and 1), shape (n, k). Raises Refusal, with the place."""
        bits = self._bits(reports)
        supports = bits.sum(axis=0, dtype="int64")
        return Estimates(len(bits), self.p, self.q, self._values, supports)

    def error(self, beta: Spelled, *, reports: int) -> Fraction:
        """How far off one count from so many reports may be but with probability beta, in people, whatever the truth
        is. Raises Refusal for a beta that is no number in (0, 1), or a number of reports that is none."""
        return planned_error(self.p, self.q, reports=reports, beta=beta)

    def _bits(self, reports: object) -> NDArray[np.bool_]:
        import numpy as np

        if isinstance(reports, np.ndarray) and reports.dtype == np.bool_ and reports.shape[1:] == (len(self._values),):
            return reports
        whole = public_values.whole_reports(reports, columns=len(self._values))
        outside = ((whole != 0) & (whole != 1)).any(axis=1)
        if outside.any():
            raise public_values.wrong_report(outside)
        return whole.astype(np.bool_)

    @property
    def _values(self) -> public_values.Values:
        return public_values.settled(self.values)


def coins(chance: Fraction, size: int, entropy: Entropy | None) -> NDArray[np.bool_]:
    """Independent exact coins, from 16 bits each but for one in 65,536. chance: Fraction in (0, 1)."""
    import numpy as np

    from dpcurator.samplers import bernoulli
    from dpcurator.samplers.lazy_uniform import source

    drawn = source(entropy).words(-(-size // 4)).view(np.uint16)[:size]
    whole = math.floor(chance * 2**16)
    out = drawn < whole
    doubtful = np.flatnonzero(drawn == whole)
    out[doubtful] = bernoulli(chance * 2**16 - whole, len(doubtful), entropy)
    return out


EXAMPLES = (
    UnaryEncoding.optimised(epsilon=Fraction(1), values=3),
    UnaryEncoding.symmetric(epsilon=Fraction(2), values=["a", "b", "c", "d"], otherwise="d"),
    UnaryEncoding(values=2, p=Fraction(3, 4), q=Fraction(1, 4)),
)
