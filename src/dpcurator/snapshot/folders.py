"""Columns that are named by folders, as `site` in `site=12/visits.parquet`, for tables that declare `folders`.

Nothing is taken from a path that the catalog does not name, and a column is of the folders or of the files: one that is
in both is refused, so no folder replaces what a row says. A value is the text after "=", with %20 and the like read as
Hive writes them; its word for null is missing. Then it is read by the grammar, like a field of a file.
Checked in tests/snapshot/test_folders.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from dpcurator.catalog.duckdb_options import quoted
from dpcurator.catalog.problems import nearest, text
from dpcurator.errors import Misconfigured
from dpcurator.snapshot.arrow import Vector, texts

NULL: Final = "__HIVE_DEFAULT_PARTITION__"
Folders = Mapping[str, str | None]


def named_by(path: Path, directory: Path) -> dict[str, str | None]:
    """What the folders of a path below the directory say, the deepest of each name; None for null."""
    below = path.relative_to(directory) if path.is_relative_to(directory) else path
    parts = [part.partition("=") for part in below.parts[:-1]]
    return {unquote(name): None if value == NULL else _unquoted(value) for name, mark, value in parts if mark}


def _unquoted(value: str) -> str:
    """What a value means; of bytes that are no UTF-8 a text that cannot be read, so that no two become one."""
    try:
        return unquote(value, errors="strict")
    except UnicodeDecodeError:
        return "\0"


def folders_of(path: Path, directory: Path, declared: Sequence[str], where: str) -> Folders:
    """The values of the declared columns for all rows of a file. Raises Misconfigured where a folder is not there."""
    found = named_by(path, directory)
    for name in declared:
        if name not in found:
            raise Misconfigured(f"The path of {text(path.name)} has no folder {text(name + '=...')}.", where=where,
                                cure=nearest(name, found) or "Leave the column out of `folders`.")
    return {name: found[name] for name in declared}


def refuse_in_both(folders: Iterable[str], names: Iterable[object], file: str, where: str) -> None:
    """Raise Misconfigured where a file has a column that its folders have too."""
    for name in folders:
        if name in set(names):
            raise Misconfigured(f"{text(file)} has a column {text(name)}, and its folders have it too.", where=where,
                                cure=f"Leave {text(name)} out of `folders`, and the file's own values are read.")


def beside(columns: Sequence[str], own: Sequence[Vector], rows: int, folders: Folders) -> list[Vector]:
    """The vectors of all columns in order. own: those that the file has."""
    if not folders:
        return list(own)
    left = iter(own)
    return [texts([folders[name]] * rows) if name in folders else next(left) for name in columns]


def beside_typed(
    columns: Sequence[str], relation: str, kinds: Sequence[str], folders: Folders
) -> tuple[str, list[str]]:
    """The same for a relation x0, x1, ... of the columns that the file has, with their kinds."""
    if not folders:
        return relation, list(kinds)
    parts, told, position = [], [], 0
    for j, name in enumerate(columns):
        if name in folders:
            value = folders[name]
            written = "NULL" if value is None else quoted(value)
            parts.append(f'CAST({written} AS VARCHAR) COLLATE "C" AS x{j}')
            told.append("text")
        else:
            parts.append(f"x{position} AS x{j}")
            told.append(kinds[position])
            position += 1
    return f"(SELECT {', '.join(parts)} FROM {relation})", told
