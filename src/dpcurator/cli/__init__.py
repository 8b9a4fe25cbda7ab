"""The shell: parse words, call the curator, print. Nothing is decided here.

    steward: init, refresh, check, log, key, reopen, user    analyst: ask, quote, budget, receipt, verify, demo
    anyone: plot

Exit codes: 0 answered, 1 a receipt or ledger does not verify, 2 your question, 3 over budget, 4 set-up, 5 fault.
Whoever can run this can read the data: the promise towards an analyst needs another account, or a server, in between.
Checked in tests/cli.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typer import Typer


def main() -> None:
    """The `dpcurator` command."""
    import gc

    gc.set_threshold(100_000)  # looking for garbage while modules load would be a tenth of a short command's time
    try:
        parser()(prog_name="dpcurator")
    except BrokenPipeError:  # the reader of our output has gone
        sys.stderr.close()
        sys.exit(141)


def with_commands() -> Typer:
    """The one application: to import a file of commands registers them with it."""
    from dpcurator.cli import account, ask, audit, bounds, break_me, caps, demo, describe, plot, serve, steward, users  # noqa: F401
    from dpcurator.cli.application import app

    return app


@functools.cache
def parser() -> Any:
    """What takes a command's words and runs it; made once, as that takes longer than most commands."""
    from typer.main import get_command

    return get_command(with_commands())


__all__ = ["main", "parser", "with_commands"]
