"""A pytest plugin that puts one more engine in the list: right but for one in every sum.

`python -m pytest -p off_by_one tests/engines/test_by_hand.py -k off_by_one`: every test that is run must fail.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpcurator import engines
from dpcurator.engines.reference import Reference
from dpcurator.plan.core import CorePlan
from dpcurator.values import Exact


class OffByOne(Reference):
    def evaluate(self, core: CorePlan) -> Exact:
        found = super().evaluate(core)
        rows = found.open_for_release()
        return Exact([[total + 1 for total in row] for row in rows], found.keys_for_release())

    def evaluate_all(self, cores: Sequence[CorePlan]) -> tuple[Exact, ...]:
        return tuple(self.evaluate(core) for core in cores)


engines.ENGINES = (*engines.ENGINES, engines.Known("off_by_one", lambda: OffByOne))  # type: ignore[misc]
