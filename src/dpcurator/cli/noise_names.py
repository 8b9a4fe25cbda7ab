"""The noises that `dpcurator plot` draws, by the names people write. Checked in tests/cli/test_plot.py."""

from __future__ import annotations

from collections.abc import Iterable

from dpcurator.mechanisms import ROWS


def either(names: Iterable[str]) -> str:
    """As in "a, b or c"."""
    *rest, last = names
    return f"{', '.join(rest)} or {last}" if rest else last


SPELLED = {row.spelling: row for row in ROWS if row.spelling}
LIST = either(SPELLED)
SIZED = either(name for name, row in SPELLED.items() if row.sized)
