"""`check`: is the catalog ready for questions, and if not, the exact line to paste for each thing undeclared.

Findings rest on the catalog and public facts alone, so anyone may see them. Checked in tests/catalog/test_check.py.
"""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass
from typing import Literal

from dpcurator.catalog.bind import NO_FACTS, PublicFacts
from dpcurator.catalog.columns import SAMPLE_BOUNDS as BOUNDS
from dpcurator.catalog.declaration import Declaration, Reading
from dpcurator.catalog.model import EACH_ROW, Column, Table
from dpcurator.catalog.problems import quoted, text


@dataclass(frozen=True, slots=True)
class Finding:
    """level: "blocks" (no question can be answered on it), "limits" (some questions cannot), "advice", or "note" (what
    a choice that was made means)."""

    level: Literal["blocks", "limits", "advice", "note"]
    where: str
    what: str
    paste: str = ""  # the line to put there, with the reader's own values in place of these
    under: str = ""  # the header it goes under

    def as_json(self) -> dict[str, str]:
        return asdict(self)

    def __str__(self) -> str:
        pasted = f"\n    {self.under}\n    {self.paste}" if self.under else f"\n    {self.paste}"
        return f"{self.where}: {self.what}{pasted if self.paste else ''}"


def check(declaration: Declaration, facts: PublicFacts = NO_FACTS) -> list[Finding]:
    """What is undeclared, in the file's order. No finding of level "blocks" means ready."""
    findings: list[Finding] = []
    if facts.version == 0:
        findings.append(Finding("blocks", declaration.name, "There is no snapshot yet.", "dpcurator refresh"))
    for keys in declaration.public_keys:
        if facts.version and facts.of(keys.public_table, keys.public_column) is None:
            where = declaration.where(keys.table, keys.column)
            what = f"The keys of {text(keys.column)} have not been read from {text(keys.public_table)}."
            findings.append(Finding("blocks", where, what, "dpcurator refresh"))
    for table, source in zip(declaration.tables, declaration.sources, strict=True):
        if table.private:
            findings += _caps(declaration, table) + _through(declaration, table) + _one_row(declaration, table)
            findings += _distinct(declaration, table)
        else:
            findings.append(_public(declaration, table))
        keyed = {keys.column for keys in declaration.public_keys if keys.table == table.name}
        for column, reading in zip(table.columns, source.readings, strict=True) if table.private else ():
            if column.name != table.unit:
                findings += _column(declaration, table, column, reading, column.name in keyed)
    return findings + _tracked(declaration) + _delta(declaration) + _replace_one(declaration)


def ready(findings: list[Finding]) -> bool:
    """Can questions be answered?"""
    return not any(finding.level == "blocks" for finding in findings)


def _tracked(declaration: Declaration) -> list[Finding]:
    """What of the private files a version control system keeps, and so hands to whoever clones it."""
    import shutil
    import subprocess

    git = shutil.which("git")
    places = [declaration.state.name]
    places += [source.place for table, source in zip(declaration.tables, declaration.sources, strict=True)
               if table.private and source.kind not in ("frame", "postgres", "spark")]
    if git is None:
        return []
    found: list[Finding] = []
    for place in places:
        command = [git, "-C", str(declaration.directory), "ls-files", "--", f":(literal){place}"]
        try:
            listed = subprocess.run(command, capture_output=True, timeout=10, check=False)
        except (OSError, ValueError, subprocess.TimeoutExpired):
            return found
        if listed.returncode == 0 and listed.stdout:
            what = f"git keeps {text(place)}, which is private: whoever has the repository has it too."
            cure = f"git rm -r --cached {shlex.quote(place)}"
            found.append(Finding("advice", declaration.name, what, cure))
    return found


def _caps(declaration: Declaration, table: Table) -> list[Finding]:
    if table.unit == EACH_ROW:
        return []
    under, where = f"[tables.{quoted(table.name)}]", declaration.where(table.name)
    if table.max_total is not None or table.max_rows is not None or table.one_row_per == ():
        return []
    what = (
        f"Table {text(table.name)} does not say how many rows of one unit count in an answer: max_total, or max_rows "
        "in one group."
    )
    return [Finding("blocks", where, what, "max_total = 20", under)]


def _through(declaration: Declaration, table: Table) -> list[Finding]:
    """What it means that the rows are owned through another table."""
    through = table.through
    if through is None:
        return []
    what = (
        f"A row of {text(table.name)} is owned by whoever owns the row of {text(through.table)} whose "
        f"{text(through.key)} is its {text(through.on)}. A refresh leaves out rows that find no owner, or several, "
        f"so the promise rests on {text(through.key)} being a key at the source: no two of the {declaration.protects} "
        "may have it in common, as it is read: cleaned, if its column is."
    )
    return [Finding("note", declaration.where(table.name), what)]


def _one_row(declaration: Declaration, table: Table) -> list[Finding]:
    """What it means that a unit has one row, or one of each combination of values."""
    if table.one_row_per is None:
        return []
    each = "".join(f" and {text(name)}" for name in table.one_row_per)
    what = (
        f"A refresh keeps one row of {text(table.name)} for each {text(table.unit or '')}{each}: the first, compared "
        "column by column in the order of the catalog, missing before present. The others are left out, and counted "
        "for the steward."
    )
    return [Finding("note", declaration.where(table.name), what)]


def _distinct(declaration: Declaration, table: Table) -> list[Finding]:
    """What it means that a unit has each combination of values once."""
    if not table.distinct:
        return []
    each = " and ".join(map(text, table.distinct))
    what = (
        f"A refresh keeps one row of {text(table.name)} for each {text(table.unit or '')} and {each}: of those that "
        f"repeat them the smallest, column by column. So {text(table.name)} is joined on the unit and these as it is. "
        "Rows in which one of them is missing all stay."
    )
    return [Finding("note", declaration.where(table.name), what)]


def _public(declaration: Declaration, table: Table) -> Finding:
    """What it means that a table is public."""
    what = (
        f"Table {text(table.name)} is public: a refresh reads its values, and how often they repeat, into the lists "
        f"that questions and receipts show, so it must hold nothing that is of one of the {declaration.protects}."
    )
    return Finding("note", declaration.where(table.name), what)


def _with(column: Column, reading: Reading, **fields: str) -> str:
    """The line of a column as it is declared, with these fields added."""
    given = {name: value for name, value in reading.fields if name not in fields}
    return f"{quoted(column.name)} = {{ {', '.join(f'{name} = {value}' for name, value in (given | fields).items())} }}"


def _column(declaration: Declaration, table: Table, column: Column, reading: Reading, keyed: bool) -> list[Finding]:
    where = declaration.where(table.name, column.name)
    under = f"[tables.{quoted(table.name)}.columns]"
    if column.type in ("integer", "float") and column.lower is None:
        what = f"{text(column.name)} has no bounds, so it has no SUM or AVG."
        paste = _with(column, reading, bounds="[0, 100]")
        return [Finding("limits", where, what, paste, under)]
    if column.unknown_keys:
        return [Finding("note", where, _unknown(declaration, table, column))]
    if column.keys is not None or keyed:
        return []
    if column.type in ("date", "timestamp") and column.lower is None:
        what = f"{text(column.name)} has no bounds and no keys, so it has no GROUP BY, by itself or by month."
        paste = _with(column, reading, bounds=BOUNDS[column.type])
        return [Finding("limits", where, what, paste, under)]
    if column.type in ("text", "uuid"):
        what = f"{text(column.name)} has no keys, so it has no GROUP BY."
        sample = '["a", "b"]' if column.type == "text" else '["123e4567-e89b-12d3-a456-426614174000"]'
        paste = _with(column, reading, keys=sample)
        return [Finding("limits", where, what, paste, under)]
    return []


def _unknown(declaration: Declaration, table: Table, column: Column) -> str:
    most = table.max_groups or "max_groups"
    price = f"{declaration.currency} and delta"
    groups = "" if table.unit == EACH_ROW else f", and a unit counts in at most {most} of them"
    return (
        f"{text(column.name)} has unknown keys: every question that groups by it pays {price} to choose "
        f"which keys are shown; keys of few {declaration.protects} are left out{groups}."
    )


def _delta(declaration: Declaration) -> list[Finding]:
    most = max([declaration.units or 0, *(table.expected_units or 0 for table in declaration.tables)])
    if declaration.delta * most * 100 <= 1:
        return []
    people = f"there are about {most:,} {declaration.protects}"
    if declaration.delta * most > 1:
        what = f"delta is above 1/{most:,} and {people}: it lets one of them be shown outright. It should be far below."
    else:
        what = f"delta is not far below 1/{most:,} and {people}: one of them is shown outright with this probability."
    return [Finding("advice", declaration.name, what, f'delta = "1/{most * 1000}"', "[ledger]")]


def _replace_one(declaration: Declaration) -> list[Finding]:
    if declaration.neighbours != "replace-one":
        return []
    what = (
        f'neighbours = "replace-one" with units = {declaration.units:,}: the promise is that one of the '
        f"{declaration.protects} may be exchanged for another unnoticed. Their number is public and taken to be "
        f"{declaration.units:,} even where it is not, so no promise covers somebody who joins or leaves unexchanged."
    )
    return [Finding("note", declaration.name, what)]
