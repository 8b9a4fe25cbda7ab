"""Private quantiles: the exponential mechanism over public candidates, scored by how many records they miss by.

Definition  Each record is moved to the nearest candidate, a map of that record alone
            (mechanisms/choice/nearest_candidate.py). For a candidate r let `below`, `above` be the numbers of records <
            r, > r, among n. The q-quantiles are the r with below <= q n and above <= (1-q) n; a candidate misses by
                d(r) = max(0, below - q n, above - (1-q) n)   records,
            and is chosen with probability proportional to exp(-epsilon d(r) / (2 s)). A missing record (nan, None) is
            left out, or is the declared constant `nan`; the infinities are moved to the ends like any other value.
Promise     Bounded range epsilon: epsilon-DP, rho = epsilon**2 / 8. s = max(q, 1-q) where neighbours differ in a record
            added or removed, s = 1 where one is replaced. No smaller s holds for d. Several quantiles get epsilon / k
            each and are put in order; together they again have bounded range epsilon. No data makes it fail.

Proof of s. f = below - q n and h = above - (1-q) n. A new record moves them by (1-q, -(1-q)) if it is below r, by
(-q, q) if above, by (-q, -(1-q)) if at r: each by at most max(q, 1-q), and d, a maximum, by no more. A replaced record
leaves n and moves below and above by at most 1 each; if one of the two is missing, that is a record added or removed,
s <= 1. Attained: by a record added below a candidate with f >= 0 (1-q), or above one with h >= 0 (q); by a record at or
above a candidate with f >= 0 replaced by one below it (1).
Several: given the data the choices are independent, log-ratios add, and k intervals of length epsilon / k add to one.
A candidate with d = 0 exists when records lie on candidates, so the accuracy theorem bounds d itself.
Groups      Candidates between two occupied ones have equal d; large grids race in such groups, a group's size times the
            weight of one, then one of it uniformly. That is the same distribution.
Source      Smith, STOC 2011 (the utility); McSherry, Talwar, FOCS 2007.
Checked     tests/mechanisms/test_quantile.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from dpcurator.entropy import Entropy
from dpcurator.errors import Refusal
from dpcurator.mechanisms.choice.exponential import shares
from dpcurator.mechanisms.choice.nearest_candidate import Nearest
from dpcurator.mechanisms.choice.scores import Scores
from dpcurator.mechanisms.parameters import error_level, parameters
from dpcurator.numbers import Enclosure, ln, positive, rational
from dpcurator.numbers.rational import Numbers, Spelled
from dpcurator.privacy.calibration import BY_EPSILON, Calibration
from dpcurator.privacy.loss import Loss

if TYPE_CHECKING:  # a quote draws nothing, and starts faster without numpy
    from numpy.typing import NDArray

MOST = 2**50  # candidates: their numbers are whole in doubles, with room
_EACH = 2**20  # up to so many are counted one by one, more are grouped
_SHOWN = 10**5  # candidates whose chances are listed
_RANGE = "Write lower=0, upper=100, step=1, or candidates=[...]."


@parameters
class Quantile:
    """Private quantiles by the exponential mechanism over public candidates; epsilon-DP.

    A candidate r misses the q-quantile of n records by d(r) = max(0, below - q n, above - (1-q) n) records, and is
    chosen with probability proportional to exp(-epsilon d(r) / (2 s)), s = max(q, 1-q) under add-remove, 1 where a
    record is replaced.

    Promise: bounded range epsilon, for all the quantiles together: epsilon-DP, and rho-zCDP with rho = epsilon**2 / 8.

    Parameters (any other value raises Refusal, with a way to mend it):
        q: number in [0, 1], or a list of different ones.
        epsilon: number > 0, of all the quantiles together.
        lower, upper, step: numbers, in the records' unit: the candidates are lower, lower + step, ... up to upper; or
        candidates: a list of different numbers, in their place. At most 2**50 candidates.
        neighbours: "add-remove" or "replace-one".
        nan: the number that a missing record counts as; None leaves missing records out.

    >>> import dpcurator as dp
    >>> median = dp.Quantile(q="1/2", epsilon=1, lower=0, upper=100, step=1)
    >>> ages = [34, 41, 29, 56, 38] * 400
    >>> median.release(ages) in range(101)
    True
    >>> float(median.error("0.05")) < 8  # records
    True

    Source: Smith 2011; McSherry, Talwar 2007.
    """

    calibration: ClassVar[Calibration] = BY_EPSILON

    q: Fraction | tuple[Fraction, ...]
    epsilon: Fraction
    lower: Fraction | None = None
    upper: Fraction | None = None
    step: Fraction | None = None
    candidates: tuple[Fraction, ...] | None = None
    neighbours: str = "add-remove"
    nan: Fraction | None = None
    line: Nearest = field(init=False, repr=False, compare=False)

    if TYPE_CHECKING:  # each is given as people write it, and kept as the exact number

        def __init__(
            self, *, q: Spelled | Iterable[Spelled], epsilon: Spelled, lower: Spelled | None = None,
            upper: Spelled | None = None, step: Spelled | None = None, candidates: Iterable[Spelled] | None = None,
            neighbours: str = "add-remove", nan: Spelled | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        several = isinstance(self.q, list | tuple)
        levels = tuple(rational(q, name="q") for q in (self.q if several else [self.q]))  # type: ignore[union-attr]
        if not levels or not all(0 <= q <= 1 for q in levels) or len(set(levels)) < len(levels):
            raise Refusal("q lies between 0 and 1, and a list of them is not empty and has each once.", cure="q=0.5")
        if self.neighbours not in ("add-remove", "replace-one"):
            raise Refusal("neighbours is add-remove or replace-one.", cure='Write neighbours="add-remove".')
        found: dict[str, Any] = {"q": levels if several else levels[0]}
        found["epsilon"] = positive(self.epsilon, name="epsilon")
        found["nan"] = None if self.nan is None else rational(self.nan, name="nan")
        found |= self._grid(found["nan"]) if self.candidates is None else self._list(found["nan"])
        for name, value in found.items():
            object.__setattr__(self, name, value)

    def _grid(self, nan: Fraction | None) -> dict[str, Any]:
        if self.lower is None or self.upper is None or self.step is None:
            raise Refusal("Quantile needs lower, upper and step, or candidates.", cure=_RANGE)
        lower, upper = rational(self.lower, name="lower"), rational(self.upper, name="upper")
        step = positive(self.step, name="step")
        if lower > upper:
            raise Refusal("lower is above upper.", cure=_RANGE)
        count = (upper - lower) // step + 1
        if count > MOST:
            raise Refusal("There are more than 2**50 candidates.", cure="Choose a larger step.")
        return {"lower": lower, "upper": upper, "step": step, "line": Nearest(int(count), (), lower, step, nan)}

    def _list(self, nan: Fraction | None) -> dict[str, Any]:
        if not self.lower is self.upper is self.step is None:
            raise Refusal("Give candidates, or lower, upper and step; not both.", cure=_RANGE)
        if isinstance(self.candidates, str | bytes | Mapping) or not isinstance(self.candidates, Iterable):
            raise Refusal("candidates is a list of numbers.", cure=_RANGE)
        listed = sorted(rational(one, name="a candidate") for one in self.candidates)
        if not listed or len(set(listed)) < len(listed):
            raise Refusal("candidates is empty, or lists one twice.", cure="List each candidate once.")
        return {"candidates": tuple(listed), "line": Nearest(len(listed), tuple(listed), nan=nan)}

    @property
    def levels(self) -> tuple[Fraction, ...]:
        """The q's, as a tuple also when there is one."""
        return self.q if isinstance(self.q, tuple) else (self.q,)

    @property
    def count(self) -> int:
        """How many candidates there are."""
        return self.line.count

    @property
    def loss(self) -> Loss:
        """Of all the quantiles together."""
        return Loss("bounded_range", (("epsilon", self.epsilon),))

    def sensitivity(self, q: Fraction) -> Fraction:
        """s: how far neighbours move d of one candidate, in records."""
        return max(q, 1 - q) if self.neighbours == "add-remove" else Fraction(1)

    def error(self, beta: Spelled) -> Fraction:
        """By how many records an answer may miss: P(any d >= error) <= beta, rounded up. beta: Fraction in (0, 1).

        Raises Refusal for a beta that is no number in (0, 1).
        """
        chance = error_level(beta)
        k = len(self.levels)
        s = max(self.sensitivity(q) for q in self.levels)
        return 2 * s * k / self.epsilon * ln(self.count * k / chance).hi

    def release(self, values: Numbers, entropy: Entropy | None = None) -> int | float | tuple[int | float, ...]:
        """One candidate, or for a list of q's a tuple of as many, in their order and never decreasing with q.

        values: one number a record, in a list or an array of one dimension. Ints where all candidates are whole, else
        the doubles nearest to them. Raises Refusal for what is no number, and for no number's size.
        """
        from dpcurator.samplers.lazy_uniform import source

        places, bits = self.line.places(values), source(entropy)
        groups = self._groups(places)
        found = sorted(self._draw(groups, q, bits) for q in self.levels)
        ranked = dict(zip(sorted(self.levels), map(self.line.candidate, found), strict=True))
        return tuple(ranked[q] for q in self.levels) if isinstance(self.q, tuple) else ranked[self.q]

    def probabilities(self, values: Numbers) -> list[Enclosure]:
        """P(candidate) in rising order, for one q and up to 100,000 candidates. Not to be released.

        Raises Refusal for more, and for what is no data.
        """
        if isinstance(self.q, tuple) or self.count > _SHOWN:
            raise Refusal("probabilities are listed for one q and at most 100,000 candidates.", cure="Take fewer.")
        scores, unit = self.scores(self._groups(self.line.places(values)), self.q)
        return shares(Scores(scores, unit), self._rate(self.q))

    def _rate(self, q: Fraction) -> Fraction:
        return self.epsilon / len(self.levels) / (2 * self.sensitivity(q))

    def _draw(self, groups: Groups, q: Fraction, entropy: Entropy) -> int:
        from dpcurator import samplers

        starts, sizes, _, _ = groups
        scores, unit = self.scores(groups, q)
        chosen = samplers.race(scores, self._rate(q) * unit, entropy, sizes=sizes)[0]
        if starts is None or sizes is None:
            return chosen
        return int(starts[chosen]) + samplers.uniform_below(int(sizes[chosen]), entropy=entropy)

    def scores(self, groups: Groups, q: Fraction) -> tuple[NDArray[Any], Fraction]:
        """-d of each group in whole numbers, and the unit: one over the denominator of q."""
        import numpy as np

        _, _, below, here = groups
        a, b, n = q.numerator, q.denominator, int(below[-1] + here[-1])
        if b * n >= 2**62:
            below, here = below.astype(object), here.astype(object)
        above = n - below - here
        missed = np.maximum(b * below - a * n, b * above - (b - a) * n)
        return -np.maximum(missed, 0), Fraction(1, b)

    def _groups(self, places: NDArray[Any]) -> Groups:
        """(first candidate, number of candidates, records below, records at each) of runs of equal d, in order."""
        import numpy as np

        if self.count <= _EACH:
            here = np.bincount(places, minlength=self.count)
            return None, None, np.cumsum(here) - here, here
        occupied, counts = np.unique(places, return_counts=True)
        starts = np.zeros(2 * len(occupied) + 1, dtype=np.int64)  # a gap, an occupied one, a gap, ...
        here = np.zeros_like(starts)
        starts[1::2], starts[2::2], here[1::2] = occupied, occupied + 1, counts
        sizes = np.diff(starts, append=self.count)
        below = np.cumsum(here) - here
        kept = sizes > 0
        return starts[kept], sizes[kept], below[kept], here[kept]


Groups = tuple[Any, Any, Any, Any]


EXAMPLES = (
    Quantile(q="1/2", epsilon=1, lower=0, upper=10, step=1),
    Quantile(q="0.9", epsilon="1/2", lower=-1, upper=1, step="0.25", neighbours="replace-one"),
    Quantile(q=["1/4", "1/2", "3/4"], epsilon=1, candidates=[0, 1, 10, 100], nan=0),
    Quantile(q="1/2", epsilon=1, lower=0, upper=10**9, step=1),
)  # the laws run on these
