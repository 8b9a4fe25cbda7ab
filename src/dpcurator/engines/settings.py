"""What an engine may use: public numbers of the catalog's or ours, never the machine's.

How many processors and how much memory a machine has must not decide whether an accepted question ends. `memory` is for
groups, sorts and joins, which go to the disk beyond it; some engines count rows in flight too, so it is never less than
what these take (`allowance.py`) and half of that again. Checked in tests/engines/test_allowance.py.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Final

from dpcurator.engines.allowance import ALLOWANCE
from dpcurator.errors import Misconfigured

MIB: Final = 2**20
SPILL: Final = 256 * 2**10 * MIB  # bytes of temporary files, where there is a directory for them
ROOM: Final = 512 * MIB  # besides rows in flight: the least in which groups, sorts and joins go to disk in good order


@dataclass(frozen=True, slots=True)
class Settings:
    """threads: int >= 1; memory: bytes; spill: a private directory for temporary files, or None for memory alone.

    master, partitions: of Spark, which others have no use for: where it runs (it may hold a token), and into how many
    parts it divides what it groups."""

    threads: int = 4
    memory: int = 1536 * MIB
    spill: str | os.PathLike[str] | None = None
    master: str = field(default="local[2]", repr=False)
    partitions: int = 8

    def __post_init__(self) -> None:
        least = self.threads * ALLOWANCE * 3 // 2 + ROOM
        if self.threads < 1 or self.memory < least:
            raise Misconfigured(
                f"An engine of {self.threads} threads needs {least // MIB:,} MiB of memory or more.",
                cure="Give it more memory, or fewer threads.",
            )
