"""Do all scores of two neighbours move in one direction? What a comparison of scores loses turns on it.

Definition  Scores are *monotone* if for any two neighbours either no score is lower under the one, or none is higher.
            Counts are under add-remove: a new row raises some and lowers none (one vote each for a favourite star).
            Under replace-one they are not: one count falls and another rises. Nor are losses, distances to a mean, or
            sums of numbers of both signs.
Promise     Two scores that move by at most S each move apart by at most 2S; if they are monotone by at most S. So for
            the same epsilon the noise may be half as wide. It is a promise of the caller's, that nothing here can check
            from one data set: it is False unless declared, and declared wrongly it doubles what is lost.
Checked     tests/mechanisms/test_noisy_max.py, tests/mechanisms/test_sparse_vector.py: both declarations, by every
            neighbour, and the wrong one found.
"""

from __future__ import annotations

from dpcurator.errors import Refusal


def declared(monotone: object) -> bool:
    """The parameter as a bool. Raises Refusal for anything else."""
    if not isinstance(monotone, bool):
        raise Refusal(
            "monotone must be True or False.",
            cure="Write monotone=True only if no two scores can move in opposite directions between neighbours.",
        )
    return monotone


def apart(monotone: bool) -> int:
    """How many sensitivities two scores can move apart by: 1 or 2."""
    return 1 if monotone else 2
