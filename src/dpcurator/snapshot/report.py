"""What a refresh tells the steward, and nobody else: rows read and set aside, values that could not be read.

Counts and line numbers are private facts (semantics 1.4): a report is shown to whoever runs `refresh` and stored
nowhere. Of values that could not be read, and of those that are none of a column's keys, it gives the most frequent,
since how they are written is what is to be seen. Checked in tests/snapshot/test_refresh.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from dpcurator.catalog.spelling import NOT_VALID
from dpcurator.numbers.readable import readable
from dpcurator.numbers.text_table import pre_html
from dpcurator.snapshot.by_column import ByColumn, Spellings, lines_of, told_of

SHOWN: Final = 5  # places kept per kind of trouble


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A line of a file ("visits.csv:12") or a row ("row 3"), in the order in which they are read. Both from 1."""

    file_number: int
    number: int
    file: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.number}" if self.file else f"row {self.number}"


@dataclass(slots=True)
class Trouble:
    """How often something happened, where it did first with reasons, and totals by reason. In whatever order it is
    told of them, it says the same."""

    count: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    places: list[tuple[Place, str]] = field(default_factory=list)  # at most `SHOWN`, in order

    def add(self, place: Place, reason: str) -> None:
        self.add_many(reason, 1, [place])

    def add_many(self, reason: str, count: int, first: Sequence[Place]) -> None:
        """first: the first places of these, `SHOWN` or fewer."""
        self.count += count
        self.reasons[reason] += count
        self.places = sorted([*self.places, *((place, reason) for place in first)])[:SHOWN]

    @property
    def first(self) -> list[tuple[str, str]]:
        return [(str(place), reason) for place, reason in self.places]

    def as_json(self) -> dict[str, Any]:
        first = [{"place": place, "reason": reason} for place, reason in self.first]
        return {"count": self.count, "reasons": dict(sorted(self.reasons.items())), "first": first}


@dataclass(frozen=True, slots=True)
class OutsideKeys:
    """Values of one column that are none of its keys, so that no group counts them.

    count: rows; first: (the value, its rows, a key that it may have been meant for or None), at most `SHOWN` of them.
    """

    count: int
    first: tuple[tuple[str, int, str | None], ...]

    def as_json(self) -> dict[str, Any]:
        return {"count": self.count, "first": [{"value": v, "count": n, "like": like} for v, n, like in self.first]}

    def lines(self, column: str) -> list[str]:
        told = [f"  {self.count:,} values of {column!r} are none of its keys: no group counts them"]
        for value, rows, like in self.first:
            told.append(f"    {value}: {rows:,}" + (f", but for its spelling the key {like}" if like else ""))
        return told


@dataclass(frozen=True, slots=True)
class OneValue:
    """Rows of a column with per_unit = 1 that had another value than the one of their unit, or none."""

    other: int
    none: int

    def lines(self, column: str) -> list[str]:
        told = [f"{self.other:,} had another value"] if self.other else []
        told += [f"{self.none:,} had none"] if self.none else []
        return [f"  of the rows of {column!r}, {' and '.join(told)}: they got their unit's smallest"] if told else []


@dataclass(frozen=True, slots=True)
class Ownerless:
    """Rows that were set aside since no one owns them: `on` is missing, is nobody's in `table`, or several units'."""

    on: str
    table: str
    no_key: int = 0
    no_owner: int = 0
    several: int = 0

    def lines(self) -> list[str]:
        told = ((self.no_key, f"have no {self.on!r}"),
                (self.no_owner, f"have a {self.on!r} that nobody has in {self.table!r}"),
                (self.several, f"have a {self.on!r} that several units have in {self.table!r}"))
        return [f"  {count:,} rows {what}: they are nobody's, and set aside" for count, what in told if count]


@dataclass(frozen=True, slots=True)
class Beyond:
    """Values of a column below its bounds and above them, of so many."""

    below: int
    above: int
    values: int

    def lines(self, column: str) -> list[str]:
        told = [f"{share(n / self.values)} are {where}" for n, where in ((self.below, "below"), (self.above, "above"))
                if n]
        return [f"  of the values of {column!r}, {' and '.join(told)} its bounds: they count as the bound"]


@dataclass(frozen=True, slots=True)
class Over:
    """Units over the catalog's caps in one question, of so many; rows: the share of the weight of all rows that
    weighting them down takes away."""

    units: int
    of: int
    rows: float

    def lines(self, column: str) -> list[str]:
        asked = f"GROUP BY {column}" if column else "without GROUP BY"
        return [f"  {asked}: {share(self.units / self.of)} of the units are over a cap, and weighting them down takes "
                f"away {share(self.rows)} of the weight of all rows"]


def share(part: float) -> str:
    """A share of a whole for people: 12 %, 0.3 %, "under 0.1 %"."""
    percent = 100 * part
    if 0 < percent < 0.1:
        return "under 0.1 %"
    return f"{percent:.0f} %" if percent >= 10 else f"{percent:.1f} %"


@dataclass(frozen=True, slots=True)
class Kept:
    """What was taken over of the version before: files and rows; changed: the names of files for which nothing was."""

    files: int = 0
    rows: int = 0
    changed: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        if self.changed:
            shown = ", ".join(self.changed[:5]) + (", ..." if len(self.changed) > 5 else "")
            return [f"  not append-only: {shown} changed since the version before, so all files were read"]
        taken = f"  {self.rows:,} rows of {self.files:,} files that are as they were are taken over"
        return [f"{taken}: the counts of what could not be read are of the new files"] if self.files else []


@dataclass(slots=True)
class TableReport:
    """One table. rows: rows that were read; null_units: those without a unit, which no question counts; repeats: those
    that `distinct` took out again; later: those that `one_row_per` did.

    units: the declared number, where each row is a unit that is replaced. A row that cannot be read then stays, with
    every column missing; without it such a row is left out. outside: by column with keys.
    """

    table: str
    rows: int = 0
    units: int | None = None
    blank_lines: int = 0
    null_units: int = 0
    repeats: int = 0
    later: int = 0
    kept: Kept = Kept()  # of an append-only table
    set_aside: Trouble = field(default_factory=Trouble)
    unreadable: dict[str, Trouble] = field(default_factory=dict)  # by column
    missing: Counter[str] = field(default_factory=Counter)  # by column, unreadable ones included
    outside: dict[str, OutsideKeys] = field(default_factory=dict)
    one_value: dict[str, OneValue] = field(default_factory=dict)  # by column with per_unit = 1
    beyond: dict[str, Beyond] = field(default_factory=dict)  # by column with bounds
    over: dict[str, Over] = field(default_factory=dict)  # by column that is grouped by, "" for none
    ownerless: Ownerless | None = None  # of a table whose rows are owned through another one
    spellings: dict[str, Spellings] = field(default_factory=dict)  # by column, of values that were not read
    header: frozenset[str] | None = None  # the names in the first file, which later ones must share
    files: int = 0  # that were opened so far

    __repr__ = readable

    def place(self, number: int, file: str = "") -> Place:
        """A line of the file that is being read, or a row where its name is none."""
        return Place(self.files, number, file)

    def as_json(self) -> dict[str, Any]:
        return {
            "table": self.table,
            "rows": self.rows,
            "blank_lines": self.blank_lines,
            "null_units": self.null_units,
            "repeats": self.repeats,
            "later": self.later,
            "kept": asdict(self.kept),
            "set_aside": self.set_aside.as_json(),
            "unreadable": {name: trouble.as_json() for name, trouble in self.unreadable.items() if trouble.count},
            "missing": {name: count for name, count in self.missing.items() if count},
            "outside_keys": {name: outside.as_json() for name, outside in self.outside.items()},
            "one_value": {name: asdict(one) for name, one in self.one_value.items()},
            "beyond_bounds": {name: asdict(one) for name, one in self.beyond.items()},
            "columns": {name: one.as_json() for name, one in self.by_column().items()},
            "spellings": {name: found.most() for name, found in self.spellings.items()},
            "over_caps": {name: asdict(one) for name, one in self.over.items()},
            "nothing_read": self.nothing_read(),
        } | ({} if self.units is None else {"units": self.units}) | (
            {} if self.ownerless is None else {"ownerless": asdict(self.ownerless)})

    def by_column(self) -> dict[str, ByColumn]:
        """What was read of each column."""
        kept = 0 if self.units is None else self.set_aside.count  # rows that stay with every column missing
        return {
            name: ByColumn.of(
                self.rows - kept, self.missing[name] - kept, trouble.reasons,
                sum((one.below, one.above)) if (one := self.beyond.get(name)) else 0,
                found.count if (found := self.outside.get(name)) else 0,
            )
            for name, trouble in self.unreadable.items()
        }

    def unread(self, column: str) -> Spellings:
        """Where to count how a value of a column that could not be read is written."""
        return self.spellings.setdefault(column, Spellings())

    def nothing_read(self) -> list[str]:
        """The columns of which no value could be read, and "every row" when no row could be."""
        present = {name: self.rows - self.missing[name] for name in self.unreadable}
        if self.set_aside.count and (self.units is not None or not self.rows) and self.set_aside.count >= self.rows:
            return ["every row"]
        return [name for name, trouble in self.unreadable.items() if trouble.count and not present[name]]

    def clean(self) -> bool:
        """Was everything read and left as it is, and is no value a key but for its spelling?"""
        misspelled = any(like for outside in self.outside.values() for _, _, like in outside.first)
        changed = any(one.other for one in self.one_value.values())
        aside = self.set_aside.count or (self.ownerless is not None and self.ownerless.lines())
        left_out = self.repeats or self.later
        return not (aside or left_out or any(t.count for t in self.unreadable.values()) or misspelled or changed)

    def lines(self) -> list[str]:
        told = [f"{self.table}: {self.rows:,} rows", *lines_of(self.by_column())]
        stay = "rows that cannot be read: they stay, with every column missing"
        told += _told("rows set aside" if self.units is None else stay, self.set_aside)
        read = self.rows - (0 if self.units is None else self.set_aside.count)
        if self.units is not None and read != self.units:
            told.append(f"  {read:,} rows were read where units = {self.units:,} is declared, and counts")
        for name, trouble in self.unreadable.items():
            outside = set(trouble.reasons) == {NOT_VALID.reason}
            told += _told(f"values of {name!r} {NOT_VALID.reason if outside else 'unreadable'}", trouble)
            told += told_of(self.spellings.get(name))
        if self.null_units:
            told.append(f"  {self.null_units:,} rows without a unit: no question counts them")
        told += [] if self.ownerless is None else self.ownerless.lines()
        told += self.kept.lines()
        if self.later:
            told.append(f"  {self.later:,} rows come after the first that one_row_per keeps, and are left out")
        if self.repeats:
            told.append(f"  {self.repeats:,} rows repeat another of their unit and are left out")
        if self.blank_lines:
            told.append(f"  {self.blank_lines:,} blank lines skipped")
        for each in (self.one_value, self.outside, self.beyond, self.over):
            told += [line for name, found in each.items() for line in found.lines(name)]
        return told


def _told(what: str, trouble: Trouble) -> list[str]:
    if not trouble.count:
        return []
    places = [f"    {place}: {reason}" for place, reason in trouble.first]
    more = [f"    and {trouble.count - len(places):,} more"] if trouble.count > len(places) else []
    return [f"  {trouble.count:,} {what}", *places, *more]


@dataclass(frozen=True, slots=True)
class Report:
    """For the steward alone. `version` is the new data version, which is public; the rest is not."""

    version: int
    tables: tuple[TableReport, ...]
    name: str | None = None  # of the version, public too

    def __repr__(self) -> str:
        return f"<Report of data version {self.version}, for the steward alone: print(report)>"

    @property
    def clean(self) -> bool:
        """Was everything read, and is no value a key but for its spelling?"""
        return all(table.clean() for table in self.tables)

    @property
    def nothing_read(self) -> tuple[str, ...]:
        """What could not be read at all: "visits.age", or "visits: every row"."""
        return tuple(
            f"{table.table}: {name}" if name == "every row" else f"{table.table}.{name}"
            for table in self.tables
            for name in table.nothing_read()
        )

    def as_json(self) -> dict[str, Any]:
        told = {"version": self.version, "tables": [table.as_json() for table in self.tables]}
        return told if self.name is None else told | {"name": self.name}

    def _repr_html_(self) -> str:
        return pre_html(str(self))

    def __str__(self) -> str:
        called = "" if self.name is None else f", {self.name!r}"
        head = f"Data version {self.version}{called}. For the steward only: these counts are private."
        return "\n".join([head, *(line for table in self.tables for line in table.lines())])
