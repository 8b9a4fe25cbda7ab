"""Makes tests/support importable (the suite runs with --import-mode=importlib, which adds no folder to sys.path)."""

import sys
from pathlib import Path

SUPPORT = str(Path(__file__).parent.parent / "support")
if SUPPORT not in sys.path:
    sys.path.insert(0, SUPPORT)
