"""`python -m dpcurator` is the command `dpcurator`, where no script is on the path. Checked in cli/test_module.py."""

from __future__ import annotations

from dpcurator.cli import main

if __name__ == "__main__":
    main()
