"""Who falls: the probes and audits that apply to each installed peer, one line each.

    python bench/audit/peers/table.py [PEER ...]

A peer that is not installed is said to be so. "held" says that this probe found nothing, and no more.
"""

from __future__ import annotations

import importlib
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

SCRIPTS = {
    "opendp": ("opendp_noise", "opendp_sums", "opendp_selection"),
    "diffprivlib": ("diffprivlib_noise", "diffprivlib_sums", "diffprivlib_channels", "diffprivlib_selection"),
    "dp-accounting": ("dp_accounting_numbers",),
}


def main() -> None:
    sys.path.insert(0, str(Path(__file__).parent))
    for peer, scripts in SCRIPTS.items():
        if sys.argv[1:] and peer not in sys.argv[1:]:
            continue
        try:
            print(f"{peer} {version(peer)}")
        except PackageNotFoundError:
            print(f"{peer}: not installed")
            continue
        for script in scripts:
            for what, probed in importlib.import_module(script).rows():
                fell = "FELL" if probed.fell else "held"
                print(f"  {fell}  {what}: {probed.probe}. {' '.join(probed.found.split())}", flush=True)


if __name__ == "__main__":
    main()
