"""Where a command goes: to the catalog here, or to a server that `--server` names.

The token is in the variable DPCURATOR_TOKEN, or in a file that nobody else may read (`--token-file`). Checked in
tests/server/test_shell.py.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dpcurator.errors import Misconfigured, Refusal

COMMANDS: Final = ("ask", "quote", "explain", "describe", "bounds", "caps", "tables", "schema", "budget", "receipt")


@dataclass
class _Place:
    """What --server, --token-file and --key said."""

    url: str | None = None
    token_file: Path | None = None
    key: str | None = None
    remote: Any = None


PLACE: Final = _Place()


def connected() -> Any:
    """The server that this command was sent to; None where it is for the catalog here."""
    if PLACE.url is None:
        return None
    from dpcurator.client.remote import connect

    token = None if PLACE.token_file is None else _read(PLACE.token_file)
    PLACE.remote = connect(PLACE.url, token=token, key=PLACE.key)
    return PLACE.remote


def disconnected() -> None:
    """At the end of a command."""
    remote, PLACE.remote = PLACE.remote, None
    if remote is not None:
        remote.close()


def require_at_a_distance(name: str) -> None:
    """Raises Refusal where a command is the steward's, beside the data."""
    if PLACE.url is not None and name not in COMMANDS:
        asked = ", ".join(COMMANDS)
        raise Refusal(f"`{name}` does not work through a server.", cure=f"Leave out --server. Of a server: {asked}.")


def _read(path: Path) -> str:
    try:
        mode = path.stat().st_mode
        text = path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise Misconfigured("the token cannot be read.", where=str(path), cure="Name a file that holds it.") from None
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        raise Misconfigured("others may read the token's file.", where=str(path), cure=f"Run: chmod 600 {path}")
    return text
