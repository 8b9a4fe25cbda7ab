"""The dialect of a CSV file for `init`: packing, encoding, delimiter, quote, escape, lines that are passed over, header
and first rows; or a refusal that says what to do.

Only the beginning is read. What a wrong guess does is seen in the draft: names that hold a delimiter, letters that are
none. Messages show nothing of the file. Checked in tests/catalog/test_init.py.
"""

from __future__ import annotations

import codecs
import csv
import itertools
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from dpcurator.catalog.declaration import CsvOptions
from dpcurator.catalog.file_kinds import PARQUET, kind_within, not_read
from dpcurator.catalog.guesses import LOOKED_AT, like_rows
from dpcurator.catalog.packed import BROKEN, is_broken, unpacked
from dpcurator.errors import Misconfigured

_BEGINNING: Final = 2**20  # bytes
_DELIMITERS: Final = ",;\t|"
_LEADING: Final = 20  # records that may stand before the header
_MOST: Final = 0.9


@dataclass(frozen=True, slots=True)
class Dialect:
    """How the fields of a line are told apart, as `catalog.declaration.CsvOptions` has it."""

    delimiter: str = ","
    quote: str = '"'
    escape: str = ""
    space_after: bool = False
    skip_lines: int = 0
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Beginning:
    """The dialect and the first rows; header is None where the first line is a row."""

    header: list[str] | None
    rows: list[list[str]]
    dialect: Dialect
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
    dialect, records = _best(lines, path)
    if not records:
        raise Misconfigured("The file is empty.", where=path.name, cure="Its first line must name the columns.")
    first, rows = records[0], records[1:]
    if header is None and (positions := like_rows(first, rows)):
        shown = ", ".join(map(str, positions[:5])) + (", ..." if len(positions) > 5 else "")
        raise Misconfigured(
            f"The first line looks like a row, not like names: see its field {shown}.",
            where=f"{path.name}:{dialect.skip_lines + 1}",
            cure="If it is a row, run `dpcurator init` with --no-header (in Python: header=False); if it does name the "
            "columns, with --header (header=True).",
        )
    if header is False:
        return Beginning(None, records[:LOOKED_AT], dialect, encoding)
    return Beginning(first, rows[:LOOKED_AT], dialect, encoding)


def _read(path: Path) -> bytes:
    try:
        with unpacked(path) as file:
            return file.read(_BEGINNING)
    except FileNotFoundError:
        raise Misconfigured("There is no such file.", where=path.name, cure="Check its name.") from None
    except (*BROKEN, ValueError) as error:
        if is_broken(error):
            raise Misconfigured("This is no whole packed file.", where=path.name, cure="Pack it again.") from None
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


_Score = tuple[bool, bool, int, int]  # alike, in several fields, few records passed over, many fields


def _best(lines: list[str], path: Path) -> tuple[Dialect, list[list[str]]]:
    """The dialect that splits most lines alike into most fields, and the first records without blank ones."""
    comment = "#" if any(line.startswith("#") for line in lines[:_LEADING]) else ""
    if comment:
        lines = [line for line in lines if not line.startswith(comment)]
    found: list[tuple[_Score, Dialect, list[list[str]]]] = []
    escapes = ("", "\\") if any("\\" in line for line in lines) else ("",)
    for quote, delimiter, escape in itertools.product(('"', "", "'"), _DELIMITERS, escapes):  # the first of equal ones
        if tried := _tried(lines, Dialect(delimiter, quote, escape, comment=comment)):
            found.append(tried)
    if not found:
        raise Misconfigured("The beginning of the file is not CSV.", where=path.name, cure="Check its quotes.")
    best = max(found, key=lambda one: one[0])
    cells = [cell for record in best[2] for cell in record if cell]
    after = [cell for record in best[2] for cell in record[1:] if cell]
    if after and sum(cell[0] == " " for cell in after) >= _MOST * len(after):
        best = _tried(lines, replace(best[1], space_after=True)) or best
    if cells and sum(len(cell) > 1 and cell[0] == cell[-1] == "'" for cell in cells) >= len(cells) / 2:
        best = _tried(lines, replace(best[1], quote="'")) or best
    return best[1], best[2]


def _tried(lines: list[str], dialect: Dialect) -> tuple[_Score, Dialect, list[list[str]]] | None:
    """How well a dialect reads the lines, with how many are passed over before the header, and the records after."""
    told = CsvOptions(dialect.delimiter, dialect.quote, escape=dialect.escape, space_after=dialect.space_after)
    reader = csv.reader(lines, **told.dialect)
    records: list[list[str]] = []
    ends: list[int] = []  # the line at which each record ends
    try:
        for record in itertools.islice(reader, LOOKED_AT + _LEADING):
            if record:
                records.append(record)
                ends.append(reader.line_num)
    except csv.Error:
        return None
    if not records:
        return (False, False, 0, 0), dialect, []
    width = Counter(map(len, records)).most_common(1)[0][0]
    begin = next((i for i, record in enumerate(records[:_LEADING]) if 2 * len(record) > width), 0)  # after titles
    skipped = ends[begin - 1] if begin else 0
    records = records[begin : begin + LOOKED_AT + 1]
    alike = sum(len(record) == width for record in records) >= _MOST * len(records)
    return (alike, width > 1, -begin, width), replace(dialect, skip_lines=skipped), records
