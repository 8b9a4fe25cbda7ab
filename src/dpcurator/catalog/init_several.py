"""`init` of several files: one catalog of their tables, and by which columns they may belong together, as comments.

What is proposed rests on names of columns alone, never on rows: a column that two tables call the same may be what they
are joined by, or what the one finds its unit through. Checked in tests/catalog/test_init_several.py.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from dpcurator.catalog.init import Drafted, drafted, write_text
from dpcurator.catalog.problems import quoted, text
from dpcurator.errors import Misconfigured

_HEAD: Final = """\
# Columns of equal names, which may be what tables have in common. Names alone say so: you know whether it is true."""
_TAIL: Final = """\
# Where it is the unit of both, give both tables  unit = "..."  of that name, and one type: then questions join them.
# Where one table does not say whose its rows are, and the column is a key of the other:
#   unit = { through = "orders", on = "order_id" }
# Where one is public, write  public = true  there, and leave unit and max_total out: questions join it as it is.
"""


def draft_several(
    paths: Sequence[str | Path], *, directory: Path | None = None, salt: str | None = None, header: bool | None = None
) -> tuple[str, list[str]]:
    """The text of a first curator.toml for several files, and what its guesses rest on, for the steward alone.

    As `draft` has it for one. Raises Misconfigured when a file cannot be used, or two would be one table.
    """
    made = [drafted(path, directory=directory, header=header) for path in paths]
    for n, one in enumerate(made):
        same = next((k for k in range(n) if made[k].table == one.table), None)
        if same is not None:
            raise Misconfigured(f"Two sources would be the table {text(one.table)}.", where=os.fspath(paths[n]),
                                cure="Rename one; or draft it alone with --table, and copy its part.")
    head = made[0].head(salt)
    bodies = [one.body(told=n == 0) for n, one in enumerate(made)]
    notes = [f"{one.table}: {note}" for one in made for note in one.told()]
    return "\n".join([head + bodies[0], *bodies[1:], *_together(made)]), notes


def write_several(paths: Sequence[str | Path], *, to: Path, header: bool | None = None) -> list[str]:
    """Write that draft to a new file; its notes. Raises Misconfigured when there is one already."""
    made, notes = draft_several(paths, directory=to.parent, header=header)
    write_text(made, to)
    return notes


def _together(made: Sequence[Drafted]) -> list[str]:
    """Comments on the columns that two tables call the same."""
    lines: list[str] = []
    for n, one in enumerate(made):
        for other in made[n + 1 :]:
            for name in [name for name in one.names if name in other.names]:
                a, b = quoted(one.table), quoted(other.table)
                lines.append(f"#   {a}.{quoted(name)} = {b}.{quoted(name)}")
    if not lines:
        return []
    return [_HEAD, *lines, _TAIL]
