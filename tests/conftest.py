"""Settles how hypothesis runs, and makes tests/support importable.

The suite runs with --import-mode=importlib, which adds no folder to sys.path.
"""

import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

SUPPORT = str(Path(__file__).parent / "support")
if SUPPORT not in sys.path:
    sys.path.insert(0, SUPPORT)

# A busy machine must not fail a test: no deadline on an example, and slowness is no health check's matter here.
settings.register_profile(
    "dpcurator", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("dpcurator")
