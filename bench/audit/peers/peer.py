"""What the scripts here share: one row of the table, and diffprivlib without its models.

diffprivlib 0.6.6 does not import beside scikit-learn 1.9, because of one name in its random forest; an empty module in
that place lets the rest of it in, unchanged.
"""

from __future__ import annotations

import sys
import types
import warnings
from collections.abc import Callable
from typing import Any

from dpcurator.auditing.probes import Probed

Row = tuple[str, Probed]  # what was probed, and what was found


def diffprivlib() -> Any:
    sys.modules.setdefault("diffprivlib.models", types.ModuleType("diffprivlib.models"))
    warnings.simplefilter("ignore")
    import diffprivlib

    return diffprivlib


def audited(report: Any) -> Probed:
    """An audit's report as a row."""
    found = f"{report.event}: {report.measure} is at least {float(report.at_least):.4g}, claimed {report.claim.words()}"
    return Probed("audit", report.violated, found)


def one_by_one(release: Callable[[float], Any]) -> Callable[[float, int], list[Any]]:
    return lambda value, size: [release(value) for _ in range(size)]
