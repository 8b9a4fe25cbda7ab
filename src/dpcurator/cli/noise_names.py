"""The noises that `dpcurator plot` draws, by the names people write. Checked in tests/cli/test_plot.py."""

from __future__ import annotations

from dpcurator.errors import either
from dpcurator.mechanisms import ROWS

SPELLED = {row.spelling: row for row in ROWS if row.spelling}
LIST = either(SPELLED)
SIZED = either(name for name, row in SPELLED.items() if row.sized)
