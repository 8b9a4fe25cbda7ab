"""What a delta allows, in words and numbers: the two extreme algorithms that are (0, delta)-DP.

Definition  'The whole table with probability delta' publishes everything with probability delta, and else nothing.
            'Each row with probability delta' publishes each row with that probability, independently.
Promise     Both are (0, delta)-DP. The second exposes somebody with probability 1 - (1-delta)**n, enclosed, and
            n delta rows on average, exact. A delta of 1/n or more is warned about.
Proof       Neighbours differ in one row. The first differs from itself only where it publishes, with probability
            delta; the second only where that row is published. So no event's probabilities differ by more than delta.
Checked     tests/privacy/test_explain.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from dpcurator.numbers import Enclosure, decimal_text, whole
from dpcurator.numbers.arb import ball
from dpcurator.numbers.display import value_text
from dpcurator.numbers.rational import from_0_to_1
from dpcurator.numbers.readable import readable
from dpcurator.privacy.narrow import enclosed

if TYPE_CHECKING:
    from dpcurator.numbers.rational import Spelled


@dataclass(frozen=True, slots=True)
class DeltaExplained:
    """What a delta allows, in numbers and, by `str`, in words.

    whole_table: the probability that the first algorithm publishes everything. somebody: the probability that the
    second exposes at least one row. rows: how many it exposes on average. warning: "" where delta is below 1/n."""

    delta: Fraction
    n: int
    whole_table: Fraction
    somebody: Enclosure
    rows: Fraction
    warning: str

    __repr__ = readable

    def __str__(self) -> str:
        if self.delta == 0:
            return "A delta of 0 allows neither: nobody's row can be published as it is."
        delta, people = decimal_text(self.delta), f"{self.n:,} row{'s' if self.n > 1 else ''}"
        rows = f"{decimal_text(self.rows, digits=6)} row{'' if self.rows == 1 else 's'}"
        lines = [
            f"A delta of {delta} on {people} is kept by both of these, each of them (0, delta)-DP:",
            f"- with probability {delta} publish the whole table, and else nothing;",
            f"- publish each row with probability {delta}, independently. That exposes somebody with probability "
            f"{_shown(self.somebody)}, and {rows} on average.",
        ]
        return "\n".join([*lines, self.warning] if self.warning else lines)


def explain_delta(delta: Spelled, n: int) -> DeltaExplained:
    """What a delta allows on a table of n rows: two algorithms that publish rows and are (0, delta)-DP.

    One publishes the whole table with probability delta; the other publishes each row with probability delta,
    independently, and so exposes somebody with probability 1 - (1 - delta)**n.

    Parameters:
        delta: number in [0, 1].
        n: int >= 1, a public number of rows; never counted from private data, as it would tell of one person.

    Returns the probabilities and the expected number of exposed rows, with a `warning` for a delta of 1/n or more; it
    prints as text. Raises Refusal if a parameter is out of its range.

    >>> import dpcurator as dp
    >>> told = dp.explain_delta("1e-6", n=10_000)
    >>> told.rows, round(float(told.somebody.hi), 6)
    (Fraction(1, 100), 0.00995)

    Source: Dwork, Roth 2014, section 2.3 (why a delta must be far below 1/n).
    """
    exact, rows = from_0_to_1(delta, name="delta"), whole(n, name="n", least=1)
    warning = ""
    if exact * rows >= 1:
        bound = decimal_text(Fraction(1, rows))
        warning = f"Warning: delta is at least 1/n = {bound}: exposing somebody is within the promise. Take far less."
    return DeltaExplained(exact, rows, exact, _somebody(exact, rows), exact * rows, warning)


def _somebody(delta: Fraction, n: int) -> Enclosure:
    """1 - (1-delta)**n."""
    if delta in (0, 1) or n == 1:
        return Enclosure.exactly(delta)
    return enclosed(lambda bits: -(n * (-ball(delta)).log1p()).expm1(), most=Fraction(1))


def _shown(chance: Enclosure) -> str:
    """Six figures; what is almost 1 is not rounded to it."""
    if chance.lo > 1 - Fraction(1, 10**6):
        return "1" if chance.lo == 1 else "over 0.999999"
    return value_text(chance.hi, chance.hi / 10**5).rstrip("0")
