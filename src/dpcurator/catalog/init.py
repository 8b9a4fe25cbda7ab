"""`draft`: a first curator.toml for a file, to be finished by the steward.

The draft takes names from the file, and types as questions (`"integer?"`). Whom it protects, the unit, the budget,
caps, bounds and keys are left blank ("?"), each with the reason: read off the data they would reveal the data. `load`
names every question that is left. Checked in tests/catalog/test_init.py.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from dpcurator.catalog.file_kinds import DUCKDB, PARQUET, inside, not_read, suffix_of
from dpcurator.catalog.guesses import ABSENT, LOOKED_AT, Guess, decimal_of, guess
from dpcurator.catalog.problems import nearest, quoted, text, toml
from dpcurator.catalog.sniff import look
from dpcurator.errors import Misconfigured

_BY_KIND: Final = (
    (r"BOOLEAN", "boolean"), (r"TIMESTAMP.*", "timestamp"), (r"DATE", "date"), (r"UUID", "uuid"),
    (r"FLOAT|DOUBLE|DECIMAL.*", "float"), (r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?", "integer"),
)

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
MARKS: Final = (
    '# missing = ["", "?", "NA"]   # fields that mean missing, exactly as the file writes them; or, in a column, '
    'na_values = ["999"]'
)
_TABLE: Final = """\
unit = "?"                    # the column that says whose a row is, or "each row". A wrong one breaks the promise.
max_total = "?"               # rows of one person that count in an answer, such as 20. Choose from how the data came
                              # about: the largest number seen would reveal someone. Too small costs accuracy, never
                              # privacy, and a question may name its own. (With unit = "each row", leave it out.)

"""
_COLUMNS: Final = """\
# A type with a "?" is a guess: take the "?" away where it is right. Leave out columns that nobody may ask about.
# For SUM and AVG a number needs bounds, as in  age = { type = "integer", bounds = [0, 110] }. Take them from what is
# possible, not from the data: the largest value seen is somebody's.
# Where the file writes things in its own way, say so:
#   age  = { type = "integer", na_values = ["999", "?"], valid = [0, 110] }
#   born = { type = "date", format = ["DD.MM.YYYY", "D MON YYYY"] }
#   sex  = { type = "text", clean = ["trim", "lower"], map = { female = "f", w = "f" }, keys = ["f", "m"] }
#   pay  = { type = "float", decimal = ",", thousands = "." }
# `dpcurator refresh` tells you alone what it could not read. Where a person's rows repeat one another, write above
# distinct = ["visit"], the column that tells one row of a person from the next.
# For GROUP BY a column needs keys, as in  city = { type = "text", keys = ["Leeds", "York"] }. List what may occur:
# that a rare value occurs at all would reveal someone. Where no list can be written, keys = "unknown" lets each
# question choose those of enough people, for epsilon and delta.
# Where a person has one value, add per_unit = 1, as in  city = { type = "text", keys = ["Leeds"], per_unit = 1 }: then
# groups by it are one for each person, whose rows all get the smallest of the person's values.
# Dates and timestamps take bounds too:  day = { type = "date", bounds = ["2020-01-01", "2024-12-31"] }.
"""


@dataclass(frozen=True, slots=True)
class Drafted:
    """What a source says of its table: lines that name the source, columns with guesses, and notes for the steward."""

    table: str
    source: list[str]
    names: list[str]
    guesses: list[Guess]
    notes: list[str] = field(default_factory=list)
    remarks: Mapping[str, str] = field(default_factory=dict)  # by column, as the schema of a source has them
    left: list[str] = field(default_factory=list)  # comments on columns that are left out

    def text(self, salt: str | None = None) -> str:
        """The text of curator.toml. salt: 32 hexadecimal digits; default, drawn now."""
        return self.head(salt) + self.body()

    @staticmethod
    def head(salt: str | None = None) -> str:
        """What is said once, before the tables."""
        return _HEAD.replace("SALT", salt or os.urandom(16).hex())

    def body(self, *, told: bool = True) -> str:
        """The table. told: also what can be written of columns."""
        head = f"[tables.{quoted(self.table)}]"
        width = max(map(len, map(quoted, self.names)), default=0)
        columns = [
            f"{quoted(name).ljust(width)} = {_type(guessed)}{self._remark(name)}"
            for name, guessed in zip(self.names, self.guesses, strict=True)
        ]
        return (
            "\n".join([head, *self.source]) + "\n" + _TABLE + f"[tables.{quoted(self.table)}.columns]\n"
            + (_COLUMNS if told else "") + "\n".join([*columns, *self.left]) + "\n"
        )

    def _remark(self, name: str) -> str:
        return f"   # {self.remarks[name]}" if name in self.remarks else ""

    def told(self) -> list[str]:
        """What the guesses rest on, for the steward alone: it is of private rows."""
        columns = zip(self.names, self.guesses, strict=True)
        return self.notes + [f"{text(name)} {guessed.note}" for name, guessed in columns if guessed.note]


def _type(guessed: Guess) -> str:
    if not guessed.type:
        return '"?"'
    fields = {"type": f'"{guessed.type}?"'} | dict(guessed.fields)
    if len(fields) == 1:
        return fields["type"]
    return f"{{ {', '.join(f'{name} = {value}' for name, value in fields.items())} }}"


def draft(
    path: str | Path, *, table: str | None = None, directory: Path | None = None, salt: str | None = None,
    header: bool | None = None,
) -> str:
    """The text of a first curator.toml for a CSV or Parquet file, a pattern or folder of them, or a DuckDB file.

    table: its name; default, the file's. directory: where the catalog will be, so that `file` is relative to it;
    default, `file` is spelled as given. salt: 32 hexadecimal digits; default, drawn now. header: does the first line
    name the columns? Default: as it seems, and a first line that looks like a row is refused. Raises Misconfigured when
    the file cannot be used.
    """
    return drafted(path, table=table, directory=directory, header=header).text(salt)


def write_draft(path: str | Path, *, to: Path, table: str | None = None, header: bool | None = None) -> list[str]:
    """Write the draft to a new file; what its guesses rest on, for the steward alone. Raises Misconfigured when there
    is one already: it is never overwritten."""
    return write(drafted(path, table=table, directory=to.parent, header=header), to)


def write(made: Drafted, to: Path) -> list[str]:
    """Write a draft to a new file; what its guesses rest on, for the steward alone. Raises Misconfigured."""
    write_text(made.text(), to)
    return made.told()


def write_text(made: str, to: Path) -> None:
    """Write a draft to a new file. Raises Misconfigured."""
    try:
        with to.open("x", encoding="utf-8") as file:
            file.write(made)
    except FileExistsError:
        raise Misconfigured("There is already a file of this name.", where=to.name,
                            cure="Move it away, or draft to another name.") from None
    except OSError:
        raise Misconfigured("The draft cannot be written.", where=to.name, cure="Check the directory.") from None


def drafted(
    path: str | Path, *, table: str | None = None, directory: Path | None = None, header: bool | None = None
) -> Drafted:
    """What `draft` writes, in parts. Raises Misconfigured."""
    place = os.fspath(path)
    source = Path(place)
    if source.is_dir():
        place = inside(source, place)
    found = [Path(place)]
    if not Path(place).exists() and glob.has_magic(place):
        found = [Path(one) for one in sorted(glob.glob(place, recursive=True))]
        if not found:
            raise Misconfigured("No file matches.", where=place, cure="Check the pattern, or name one file.")
    first, file = found[0], f"file = {text(_relative(place, directory))}"
    suffix = suffix_of(first.name)
    if cure := not_read(suffix):
        raise Misconfigured(f"A .{suffix} file is not read.", where=first.name, cure=cure)
    name = table or _table_name(source)
    if suffix in DUCKDB:
        return _duckdb(first, table, _relative(place, directory))
    if suffix in PARQUET:
        from dpcurator.catalog.parquet_schema import parquet_columns

        made = _typed(name, [file], parquet_columns(first), first.name)
    else:
        made = _csv(first, name, file, header)
    return _with_folders(made, found) if len(found) > 1 or glob.has_magic(place) else made


def _with_folders(made: Drafted, found: Sequence[Path]) -> Drafted:
    """With the columns that folders such as site=12 name and the files do not have; their names are of the schema."""
    notes = [*made.notes, f"the first of {len(found):,} files was looked at"] if len(found) > 1 else made.notes
    values: dict[str, list[str]] = {}
    for path in found:
        for part in path.parts[:-1]:
            name, mark, value = part.partition("=")
            if mark:
                values.setdefault(unquote(name), []).append(unquote(value))
    extra = {name: cells for name, cells in values.items() if name not in made.names and len(cells) == len(found)}
    if not extra:
        return replace(made, notes=notes)
    lines = [*made.source, f"folders = {toml(list(extra))}   # columns that the files do not have: a guess, confirm"]
    return replace(made, source=lines, notes=notes, names=[*made.names, *extra],
                   guesses=[*made.guesses, *map(guess, extra.values())])


def _relative(place: str, directory: Path | None) -> str:
    return place if directory is None or os.path.isabs(place) else os.path.relpath(place, directory)


def _csv(path: Path, table: str, file: str, header: bool | None) -> Drafted:
    seen = look(path, header)
    lines, notes = [file], []
    for name, given, taken, why in (
        ("delimiter", seen.dialect.delimiter, ",", ""), ("quote", seen.dialect.quote, '"', ""),
        ("escape", seen.dialect.escape, "", "   # a guess: confirm"),
        ("space_after_delimiter", seen.dialect.space_after, False, "   # a guess: spaces there are no part of a field"),
        ("skip_lines", seen.dialect.skip_lines, 0, "   # lines before the one that names the columns: confirm"),
        ("comment", seen.dialect.comment, "", "   # a guess: lines that begin with it are no rows"),
    ):
        if given != taken:
            lines.append(f"{name} = {toml(given)}{why}")
    if seen.encoding != "utf-8":
        lines.append(f"encoding = {toml(seen.encoding)}   # a guess, as the file is not UTF-8: confirm")
        notes.append("the file is not UTF-8: check the letters with accents")
    if seen.header is None:
        names = [f"c{position}" for position in range(1, len(seen.rows[0]) + 1)]
        lines += ["header = false", f"names = {toml(names)}   # of the fields in order: choose better ones"]
    else:
        names, rename = _distinct(seen.header)
        if rename:
            pairs = ", ".join(f"{position} = {text(new)}" for position, new in rename.items())
            lines.append(f"rename = {{ {pairs} }}   # names by position: the header repeats itself")
    rows = [row for row in seen.rows if len(row) == len(names)]
    columns = [[row[i] for row in rows] for i in range(len(names))]
    decimal = decimal_of(columns)
    if decimal != ".":
        lines.append(f"decimal = {text(decimal)}   # a guess: confirm")
    lines.append(MARKS)
    seen_marks = sorted({cell for cells in columns for cell in cells if cell and cell in ABSENT})
    if seen_marks:
        notes.append(f"fields that may mean missing: missing = {toml(['', *seen_marks])}")
    return Drafted(table, lines, names, [guess(cells, decimal) for cells in columns], notes)


def _distinct(header: Sequence[str]) -> tuple[list[str], dict[int, str]]:
    """Names made distinct, and the ones that had to be made: blank or repeated."""
    names: list[str] = []
    rename: dict[int, str] = {}
    for position, given in enumerate(header, start=1):
        name = given
        if not name.strip():
            name = f"column {position}"
        while name in names or (name != given and name in header):
            name = f"{name} {position}"
        if name != given:
            rename[position] = name
        names.append(name)
    return names, rename


def _typed(table: str, source: list[str], columns: Sequence[tuple[str, str]], file: str) -> Drafted:
    names = [name for name, _ in columns]
    repeated = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if repeated is not None:
        first, second = [i for i, name in enumerate(names, start=1) if name == repeated][:2]
        raise Misconfigured(f"Columns {first} and {second} have the same name.", where=file,
                            cure="Write the file again with a name for each column.")
    types = [next((ours for kinds, ours in _BY_KIND if re.fullmatch(kinds, kind)), "text") for _, kind in columns]
    zone = (("zone", '"?"'),)
    guesses = [
        Guess(ours, zone if ours == "timestamp" and not kind.endswith("WITH TIME ZONE") else ())
        for ours, (_, kind) in zip(types, columns, strict=True)
    ]
    return Drafted(table, source, names, guesses)


def _duckdb(path: Path, table: str | None, place: str) -> Drafted:
    from dpcurator.catalog.parquet_schema import duckdb_tables

    tables = duckdb_tables(path)
    chosen = table if table is not None else next(iter(tables), "") if len(tables) == 1 else ""
    if chosen not in tables:
        what = "has no table of this name" if table is not None else f"has {len(tables)} tables"
        cure = nearest(table or "", tables)
        if table is None:
            cure = f"Name one: dpcurator init FILE --table NAME. {cure}".rstrip()
        raise Misconfigured(f"The DuckDB file {what}.", where=path.name, cure=cure)
    source = f"duckdb = {{ file = {text(place)}, table = {text(chosen)} }}"
    return _typed(chosen, [source], tables[chosen], path.name)


def _table_name(source: Path) -> str:
    stem = source.name.split(".")[0]
    cleaned = "".join(c if c.isalnum() or c == "_" else "_" for c in stem).strip("_")
    return cleaned or "data"


__all__ = ["LOOKED_AT", "Drafted", "draft", "drafted", "write", "write_draft", "write_text"]
