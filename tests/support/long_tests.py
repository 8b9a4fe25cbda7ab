"""Write anew which tests `--quick` leaves out: those of which one case takes a tenth of a second and more.

    python -m pytest --durations=0 --durations-min=0.1 -vv | python tests/support/long_tests.py

On a machine that does nothing else. What is in the list and was not run stays there.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

PLACE, LEAST = Path(__file__).with_name("long.txt"), 0.1
LINE = re.compile(r"([0-9.]+)s +(?:call|setup) +tests/(\S+?)(?:\[|\s|$)")

if __name__ == "__main__":
    text = sys.stdin.read()
    found = {match[2] for match in LINE.finditer(text) if float(match[1]) >= LEAST}
    run = {match[1] for match in re.finditer(r"tests/(\S+?)(?:\[\S*)? PASSED", text)}
    kept = set(PLACE.read_text("utf-8").split()) - run
    PLACE.write_text("\n".join(sorted(kept | found)) + "\n", "utf-8")
