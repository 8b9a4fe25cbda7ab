"""`draft`: a first curator.toml for a file, to be finished by the steward.

The draft takes only names from the file, and types as guesses from its first rows, marked as such. Whom it protects,
the unit, the budget, caps, bounds and keys are left blank ("?"), each with the reason: read off the data they would
reveal the data. `load` names every blank that is left. Checked in tests/catalog/test_init.py.
"""

from __future__ import annotations

import codecs
import csv
import itertools
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from dpcurator.catalog.problems import quoted, text
from dpcurator.catalog.spelling import Unreadable, read_text
from dpcurator.errors import Misconfigured

LOOKED_AT: Final = 200  # rows the guesses rest on
_GUESSES: Final = ("integer", "float", "boolean", "date", "timestamp", "uuid")
_BY_KIND: Final = (
    (r"BOOLEAN", "boolean"), (r"TIMESTAMP.*", "timestamp"), (r"DATE", "date"), (r"UUID", "uuid"),
    (r"FLOAT|DOUBLE|DECIMAL.*", "float"), (r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?", "integer"),
)  # fmt: skip

_HEAD: Final = """\
# A draft by `dpcurator init`. Everything in this file is public: it must not depend on whose rows are in the data.
# Replace every "?"; `dpcurator check` says what is left.

[curator]
protects = "?"                # whom one unit is, in the plural: "patients". A decision, not a fact about the data.
salt = "SALT"   # drawn just now; used for keys = "unknown". Keep it as it is.
# neighbours = "replace-one"  # only where the number of units is public anyway: add units = 1000, never counted in the
                              # data. Left out, even that somebody is in the data at all is protected.

[ledger]
epsilon = "?"                 # the whole budget, for all questions ever: often 1 to 10. Fixed by the first question.
# rho = "0.5"                 # in place of epsilon: goes further over many questions, and needs delta
# delta = "1e-8"              # leave out for pure epsilon; else far below 1 / (number of people)

"""
_TABLE: Final = """\
unit = "?"                    # the column that says whose a row is, or "each row". A wrong one breaks the promise.
max_rows = "?"                # rows a person may add to one group. Choose from how the data came about: the largest
max_groups = "?"              # number seen would reveal someone. Too small costs accuracy, never privacy.
                              # (With unit = "each row", leave these two out.)

"""
_COLUMNS: Final = """\
# Types are guesses from a few rows: confirm each one. Leave out columns that nobody may ask about.
# For SUM and AVG a number needs bounds, as in  age = { type = "integer", bounds = [0, 110] }. Take them from what is
# possible, not from the data: the largest value seen is somebody's.
# For GROUP BY a column needs keys, as in  city = { type = "text", keys = ["Leeds", "York"] }. List what may occur:
# that a rare value occurs at all would reveal someone. Where no list can be written, keys = "unknown" lets each
# question choose those of enough people, for epsilon and delta.
# Dates and timestamps take bounds too:  day = { type = "date", bounds = ["2020-01-01", "2024-12-31"] }.
"""


def draft(
    path: str | Path, *, table: str | None = None, directory: Path | None = None, salt: str | None = None
) -> str:
    """The text of a first curator.toml for a CSV or Parquet file.

    table: its name; default, the file's. directory: where the catalog will be, so that `file` is relative to it;
    default, `file` is spelled as given. salt: 32 hexadecimal digits; default, drawn now. Raises Misconfigured when the
    file cannot be used.
    """
    source = Path(path)
    rename: dict[int, str] = {}
    if source.suffix.lower() in (".parquet", ".pq"):
        names, types = _parquet(source)
    else:
        header, rows = _csv(source)
        names, rename = _distinct(header)
        types = [_guess([row[i] for row in rows if len(row) == len(names)]) for i in range(len(names))]
    name = table or _table_name(source)
    lines = [f"[tables.{quoted(name)}]", f"file = {text(_relative(source, directory))}"]
    if rename:
        pairs = ", ".join(f"{position} = {text(new)}" for position, new in rename.items())
        lines.append(f"rename = {{ {pairs} }}   # names by position: the header repeats itself")
    width = max(map(len, map(quoted, names)))
    columns = [f'{quoted(n).ljust(width)} = "{t}"' for n, t in zip(names, types, strict=True)]
    columns = [f"{line.ljust(40)} # a guess: confirm" for line in columns]
    return (
        _HEAD.replace("SALT", salt or os.urandom(16).hex()) + "\n".join(lines) + "\n" + _TABLE
        + f"[tables.{quoted(name)}.columns]\n" + _COLUMNS + "\n".join(columns) + "\n"
    )  # fmt: skip


def write_draft(path: str | Path, *, to: Path, table: str | None = None) -> None:
    """Write the draft to a new file. Raises Misconfigured when there is one already: it is never overwritten."""
    content = draft(path, table=table, directory=to.parent)
    try:
        with to.open("x", encoding="utf-8") as file:
            file.write(content)
    except FileExistsError:
        raise Misconfigured("There is already a file of this name.", where=to.name,
                            cure="Move it away, or draft to another name.") from None  # fmt: skip
    except OSError:
        raise Misconfigured("The draft cannot be written.", where=to.name, cure="Check the directory.") from None


def _relative(source: Path, directory: Path | None) -> str:
    if directory is None or source.is_absolute():
        return str(source)
    return os.path.relpath(source, directory)


def _csv(source: Path) -> tuple[list[str], list[list[str]]]:
    try:
        with source.open("rb") as binary:
            bom = binary.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        encoding = "utf-16" if bom else "utf-8-sig"
        with source.open(encoding=encoding, errors="surrogateescape", newline="") as file:
            reader = csv.reader(file)
            header = next(reader, [])
            rows = list(itertools.islice(reader, LOOKED_AT))
    except (csv.Error, UnicodeError):
        raise Misconfigured("The beginning of the file is not CSV.", where=source.name,
                            cure="Check its quotes and encoding.") from None  # fmt: skip
    except FileNotFoundError:
        raise Misconfigured("There is no such file.", where=source.name, cure="Check its name.") from None
    except IsADirectoryError:
        raise Misconfigured("This is a directory.", where=source.name, cure="Name a CSV or Parquet file.") from None
    except (OSError, ValueError):
        raise Misconfigured("The file cannot be read.", where=source.name, cure="Check its permissions.") from None
    if not header:
        raise Misconfigured("The file is empty.", where=source.name, cure="Its first line must name the columns.")
    return header, rows


def _distinct(header: Sequence[str]) -> tuple[list[str], dict[int, str]]:
    """Names made distinct, and the ones that had to be made: blank, repeated or undecodable."""
    names: list[str] = []
    rename: dict[int, str] = {}
    for position, given in enumerate(header, start=1):
        name = given.encode("utf-8", "replace").decode()
        if not name.strip():
            name = f"column {position}"
        while name in names or (name != given and name in header):
            name = f"{name} {position}"
        if name != given:
            rename[position] = name
        names.append(name)
    return names, rename


def _guess(cells: Iterable[str]) -> str:
    present = [cell for cell in cells if cell not in ("", "NA", "NULL", "null")]
    for type in _GUESSES if present else ():
        if not any(isinstance(read_text(cell, type), Unreadable) for cell in present):
            return type
    return "text"


def _parquet(source: Path) -> tuple[list[str], list[str]]:
    from dpcurator.catalog.parquet_schema import parquet_columns

    described = parquet_columns(source)
    types = [next((ours for kinds, ours in _BY_KIND if re.fullmatch(kinds, kind)), "text") for _, kind in described]
    return [name for name, _ in described], types


def _table_name(source: Path) -> str:
    stem = source.name.split(".")[0]
    cleaned = "".join(c if c.isalnum() or c == "_" else "_" for c in stem).strip("_")
    return cleaned or "data"
