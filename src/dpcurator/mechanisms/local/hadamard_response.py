"""Hadamard response: a report of one number below K, and estimates of a million values by one fast transform.

Definition  K is the least power of two above k. The value x, 0 <= x < k, has the set S_x of the y below K for which
            y & (x+1) has an even number of ones: half of all y. A report is uniform over S_x with probability p =
            R/(R+1), else uniform over the other half; R is just below e**epsilon.
Promise     Each report is eps-DP in the local model, e**eps = R = p/(1-p), exactly. Estimates are unbiased, exactly.
            Order-optimal for epsilon up to about 1; its error does not fall below that of one coin as epsilon grows,
            where RandomisedResponse, UnaryEncoding and LocalHashing do better.
Proof       y is in S_x where row x+1 of Sylvester's matrix has +1 in column y. The rows of x != x' multiply to row
            (x+1)^(x'+1), which is not row 0 and so is balanced: S_x and S_x' agree on half of all y, and each quarter
            of the four is as large. A report of x supports x' with probability 1/2, therefore, and x with probability
            p. The pair is "randomised_response" with p/2 and (1-p)/2, the rest being the same under both.
            The draw: y uniform below K and an exact coin of probability p; where y is on the wrong side, its bit at the
            lowest one of x+1 is flipped, which maps either half onto the other one to one.
            C_x = (n + sum of the row of x over all reports)/2, all of them by one Walsh-Hadamard transform of whole
            numbers of at most n.
Source      Acharya, Sun, Zhang, AISTATS 2019.
Checked     tests/mechanisms/test_hadamard_response.py.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from dpcurator.entropy import Entropy
from dpcurator.mechanisms.local import public_values
from dpcurator.mechanisms.local.estimates import Estimates, planned_error
from dpcurator.mechanisms.local.public_values import REFUSED
from dpcurator.mechanisms.local.rational_odds import epsilon_of, odds
from dpcurator.mechanisms.parameters import parameters
from dpcurator.numbers.rational import Spelled
from dpcurator.privacy.calibration import BY_EPSILON, Calibration
from dpcurator.privacy.loss import Loss

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LARGEST = 2**24  # values; the transform holds twice as many whole numbers


@parameters
class HadamardResponse:
    """Hadamard response: each person reports one number, estimates take one fast transform; local epsilon-DP.

    With K the least power of two above k, a report is uniform over the half of the numbers below K that row x + 1 of
    Sylvester's Hadamard matrix marks, with probability R / (R + 1), else over the other half; R just below e**epsilon.

    Promise: each report is epsilon-DP in the local model, exactly. Order-optimal for epsilon up to about 1; estimates
    of a million values take one Walsh-Hadamard transform.

    Parameters (any other value raises Refusal, with a way to mend it):
        epsilon: number >= 2**-40, of one report.
        values: a list of 2 or more different public values, in an order that everybody shares; or an int k >= 2 for
            0, 1, ..., k-1.
        otherwise: the declared value that stands for one not declared; unless given, such values are refused.

    >>> import dpcurator as dp
    >>> response = dp.HadamardResponse(epsilon=1, values=["n", "e", "s", "w"])
    >>> response.size, response.respond("s") in range(8)
    (8, True)

    Source: Acharya, Sun, Zhang 2019.
    """

    calibration: ClassVar[Calibration] = BY_EPSILON

    epsilon: Fraction
    values: Sequence[Any] | int
    otherwise: Hashable = REFUSED

    if TYPE_CHECKING:  # each is given as people write it, and kept as the exact number

        def __init__(self, *, epsilon: Spelled, values: Sequence[Any] | int, otherwise: Hashable = REFUSED) -> None: ...

    def __post_init__(self) -> None:
        public_values.settle(self, most=LARGEST)
        object.__setattr__(self, "epsilon", epsilon_of(self.epsilon))

    @property
    def size(self) -> int:
        """K: reports are whole numbers below it."""
        return int(1 << len(self._values).bit_length())

    @property
    def truth(self) -> Fraction:
        """p, the probability that a report supports the value held; another one it supports with probability 1/2."""
        ratio = odds(self.epsilon)
        return ratio / (ratio + 1)

    @property
    def loss(self) -> Loss:
        """Exact, of one report."""
        return Loss("randomised_response", (("truth", self.truth / 2), ("lie", (1 - self.truth) / 2)))

    def reports(self) -> Iterable[int]:
        """Every report: the whole numbers below `size`."""
        return range(self.size)

    def pmf(self, report: int, value: Hashable) -> Fraction:
        """P(report | value), exactly. Raises Refusal for what is no such report, or a value that is not declared."""
        row = public_values.named(self._values, value) + 1
        even = (int(self._read([report])[0]) & row).bit_count() % 2 == 0
        return (self.truth if even else 1 - self.truth) * 2 / self.size

    def respond(self, value: Hashable, entropy: Entropy | None = None) -> int:
        """One report of one's own value: an int below `size`. Runs on the person's own device.

        Raises Refusal for a value that is not declared, unless `otherwise` is.
        """
        return int(self.respond_many([value], entropy)[0])

    def respond_many(self, values: Iterable[Hashable], entropy: Entropy | None = None) -> NDArray[np.int64]:
        """One report for each: int64, shape (n,). values: a list or flat array.

        Raises Refusal for a value that is not declared, unless `otherwise` is.
        """
        from dpcurator import samplers

        row = public_values.held(self._values, values, self.otherwise) + 1
        true = samplers.bernoulli(self.truth, len(row), entropy)
        drawn = samplers.uniform_below(self.size, len(row), entropy)
        parity = drawn & row
        for shift in (16, 8, 4, 2, 1):  # numbers are below 2**25
            parity ^= parity >> shift
        wrong = (parity & 1) == true  # even is wanted where true, and odd elsewhere
        reports: NDArray[np.int64] = drawn ^ (row & -row) * wrong
        return reports

    def estimate(self, reports: Iterable[int]) -> Estimates:
        """How many hold each value. reports: int64, shape (n,). Raises Refusal, with the position."""
        import numpy as np

        read = self._read(reports)
        sums = walsh_hadamard(np.bincount(read, minlength=self.size))
        supports = (len(read) + sums[1 : len(self._values) + 1]) >> 1
        return Estimates(len(read), self.truth, Fraction(1, 2), self._values, supports)

    def error(self, beta: Spelled, *, reports: int) -> Fraction:
        """How far off one count from so many reports may be but with probability beta, in people, whatever the truth
        is. Raises Refusal for a beta that is no number in (0, 1), or a number of reports that is none."""
        return planned_error(self.truth, Fraction(1, 2), reports=reports, beta=beta)

    def _read(self, reports: object) -> NDArray[np.int64]:
        read = public_values.whole_reports(reports, columns=None)
        outside = (read < 0) | (read >= self.size)
        if outside.any():
            raise public_values.wrong_report(outside)
        return read

    @property
    def _values(self) -> public_values.Values:
        return public_values.settled(self.values)


def walsh_hadamard(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """The sum over y of (-1)**|y & x| numbers[y], for every x; the length is a power of two."""
    import numpy as np

    now, then = numbers.astype(np.int64), np.empty(len(numbers), dtype=np.int64)
    step = len(numbers) // 2
    while step:  # the top bit first; each pass reads halves and writes them back in place
        pairs, out = now.reshape(-1, 2, step), then.reshape(-1, 2, step)
        np.add(pairs[:, 0], pairs[:, 1], out=out[:, 0])
        np.subtract(pairs[:, 0], pairs[:, 1], out=out[:, 1])
        now, then, step = then, now, step // 2
    return now


EXAMPLES = (
    HadamardResponse(epsilon=Fraction(1), values=3),
    HadamardResponse(epsilon=Fraction(1, 4), values=["n", "e", "s", "w"], otherwise="n"),
    HadamardResponse(epsilon=Fraction(2), values=10),
)
