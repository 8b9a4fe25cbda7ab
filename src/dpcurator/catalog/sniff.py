"""The dialect of a CSV file for `init`: encoding, delimiter, header and first rows; or a refusal that says what to do.

Only the beginning is read. What a wrong guess does is seen in the draft: names that hold a delimiter, letters that are
none. Messages show nothing of the file. Checked in tests/catalog/test_init.py.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import itertools
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dpcurator.catalog.file_kinds import PARQUET, kind_within, not_read
from dpcurator.catalog.guesses import LOOKED_AT, like_rows
from dpcurator.errors import Misconfigured

_BEGINNING: Final = 2**20  # bytes
_DELIMITERS: Final = ",;\t|"


@dataclass(frozen=True, slots=True)
class Beginning:
    """The dialect and the first rows; header is None where the first line is a row."""

    header: list[str] | None
    rows: list[list[str]]
    delimiter: str
    encoding: str


def look(path: Path, header: bool | None) -> Beginning:
    """The beginning of a file. header: whether the first line names the columns; None: as it seems. Raises
    Misconfigured."""
    data = _read(path)
    kind = kind_within(data)
    if kind:
        cure = not_read(kind) or f"Give it a name that ends in .{'parquet' if kind in PARQUET else 'duckdb'}."
        raise Misconfigured(f"This is no CSV file, but a .{kind}.", where=path.name, cure=cure)
    encoding, text = _decoded(data, path)
    lines = text.splitlines(keepends=True)
    if len(data) == _BEGINNING and len(lines) > 1:
        lines.pop()
    delimiter, records = _records(lines, path)
    if not records:
        raise Misconfigured("The file is empty.", where=path.name, cure="Its first line must name the columns.")
    first, rows = records[0], records[1:]
    if header is None and (positions := like_rows(first, rows)):
        shown = ", ".join(map(str, positions[:5])) + (", ..." if len(positions) > 5 else "")
        raise Misconfigured(
            f"The first line looks like a row, not like names: see its field {shown}.", where=f"{path.name}:1",
            cure="If it is a row, run `dpcurator init` with --no-header (in Python: header=False); if it does name the "
            "columns, with --header (header=True).",
        )
    if header is False:
        return Beginning(None, records[:LOOKED_AT], delimiter, encoding)
    return Beginning(first, rows[:LOOKED_AT], delimiter, encoding)


def _read(path: Path) -> bytes:
    try:
        with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
            return file.read(_BEGINNING)
    except FileNotFoundError:
        raise Misconfigured("There is no such file.", where=path.name, cure="Check its name.") from None
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise Misconfigured("This is no whole gzip file.", where=path.name, cure="Pack it again.") from None
    except (OSError, ValueError):
        raise Misconfigured("The file cannot be read.", where=path.name, cure="Check its permissions.") from None


def _decoded(data: bytes, path: Path) -> tuple[str, str]:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encodings = ["utf-16"]
    else:
        encodings = ["utf-8-sig", "cp1252", "latin-1"]
    for encoding in encodings:
        try:
            text = codecs.getincrementaldecoder(encoding)().decode(data, final=len(data) < _BEGINNING)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return encoding.removesuffix("-sig"), text
    raise Misconfigured("This is no text.", where=path.name, cure="Name a CSV or Parquet file.")


def _records(lines: list[str], path: Path) -> tuple[str, list[list[str]]]:
    """The delimiter that splits most lines alike into most fields, and the first records without blank ones."""
    best: tuple[tuple[bool, int], str, list[list[str]]] | None = None
    for delimiter in _DELIMITERS:
        try:
            reader = csv.reader(lines, delimiter=delimiter, strict=True)
            records = [record for record in itertools.islice(reader, LOOKED_AT + 1) if record]
        except csv.Error:
            continue
        width = len(records[0]) if records else 0
        alike = sum(len(record) == width for record in records) >= 0.9 * len(records)
        if best is None or (alike, width) > best[0]:
            best = ((alike, width), delimiter, records)
    if best is None:
        raise Misconfigured("The beginning of the file is not CSV.", where=path.name, cure="Check its quotes.")
    return best[1], best[2]
