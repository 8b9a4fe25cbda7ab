"""Probes: one attack each on anything that releases noisy answers, given as a callable.

A probe tries what has broken real systems, and returns a `Probed`: did it fall, and what was found, in words. "held"
says that this probe found nothing, not that the thing is private; `dp.audit` looks for numbers instead.

    support     floats that are possible for one value and not for its neighbour
    sums        order of rows, one record beyond its bounds, integers that wrap, nan and infinities
    randomness  noise repeated by a fork, by a seed, or foretold from earlier outputs
    budget      many askers at once, and a crash once the answer is out
    channels    errors, keys, bounds, order, cost and size of what is shown, on neighbouring rows
"""

from dpcurator.auditing.probes.budget import crash, race
from dpcurator.auditing.probes.channels import errors, shown
from dpcurator.auditing.probes.probed import Probed
from dpcurator.auditing.probes.randomness import foretold, forked, seeded
from dpcurator.auditing.probes.sums import not_finite, one_record, order, overflow
from dpcurator.auditing.probes.support import porous

__all__ = [
    "Probed", "crash", "errors", "foretold", "forked", "not_finite", "one_record", "order", "overflow", "porous",
    "race", "seeded", "shown",
]
