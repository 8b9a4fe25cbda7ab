"""Putting a part of a source into a table of the snapshot: a whole column at a time, and no Python per row.

A part is a relation whose columns x0, x1, ... are the declared ones as its reader gives them. Where every value has a
form (`vectorised`), one INSERT reads them all; a value that has none stops it before anything is stored, and the part
is read in steps: the distinct values that were left go through the grammar (`grammar.read_cells`, `read_typed`), and
what it says of them is joined. Which way was taken shows in nothing but the time. Checked in
tests/snapshot/test_loading.py.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dpcurator.catalog.declaration import Reading
from dpcurator.catalog.model import Column, Kind, Table
from dpcurator.snapshot.arrow import Columns, Vector, numbers, texts
from dpcurator.snapshot.codes import stored_columns, with_numbers
from dpcurator.snapshot.csv_source import Batch
from dpcurator.snapshot.grammar import Read, read_cells, read_typed
from dpcurator.snapshot.report import SHOWN, TableReport
from dpcurator.snapshot.store import SQL_TYPES
from dpcurator.snapshot.typed_values import READERS
from dpcurator.snapshot.vectorised import NONE, Form, among, of_kind

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

AT_ONCE: Final = 50_000  # distinct values that the grammar reads at once
_LEFT: Final = "dpcurator leaves this value to the grammar"
_SPELLINGS: Final = 1_000  # of a column and a part, that are counted for the report
_NUMBERS: Final = itertools.count(1)
Careful = Callable[[Sequence[Any]], Read]


@dataclass(frozen=True, slots=True)
class Part:
    """relation: a FROM clause with x0, x1, ... and `place`, the number of each row or line from 1; "" where rows are
    counted as they come. forms, careful: one per column, the latter from values as DuckDB gives them in Python."""

    relation: str
    forms: tuple[Form, ...]
    careful: tuple[Careful, ...]
    file: str = ""  # of lines; rows have none
    counted: bool = True  # rows have no `place`
    written: tuple[Callable[[Any], Any], ...] = ()  # per column, the value that one stands for; none: they are values


@dataclass(slots=True)
class Loader:
    """One table of a snapshot that is being filled. stored: rows so far."""

    connection: DuckDBPyConnection
    name: str
    table: Table
    readings: tuple[Reading, ...]
    report: TableReport
    place: Path | None = None  # for copies of files that are private as the snapshot is
    stored: int = 0
    progress: Callable[[str, int, float], None] | None = None
    share: float = 0.0  # of the table's files, that was read; 0 is not known
    at_once: bool = True  # until a part had to be read in steps
    reasons: list[str] = field(default_factory=list)

    def load(self, part: Part) -> None:
        """Store the part's rows, and tell the report of what could not be read."""
        import duckdb

        if self.at_once:
            try:
                self._insert(_steps(part), _values(part, f"error('{_LEFT}')"))
                return
            except duckdb.Error as error:
                if _LEFT not in str(error):
                    raise
                self.at_once = False
        source, values = _steps(part), _values(part, "NULL")
        doubts = [_left(form, j) for j, form in enumerate(part.forms)]
        if part.counted:
            self._in_steps(part, source, values, doubts)
            return
        kinds = [SQL_TYPES[column.kind] for column in self.table.columns]
        columns = [f"({value})::{kind} AS v{j}, CASE WHEN {doubt} THEN x{j} END AS x{j}"
                   for j, (value, kind, doubt) in enumerate(zip(values, kinds, doubts, strict=True))]
        self.connection.execute(f"CREATE TEMP TABLE staged AS SELECT place, {', '.join(columns)} FROM {source}")
        try:
            size = range(len(columns))
            self._in_steps(replace(part, relation="staged"), "staged", [f"v{j}" for j in size],
                           [f"x{j} IS NOT NULL" for j in size])
        finally:
            self.connection.execute("DROP TABLE staged")

    def load_records(self, vectors: Sequence[Vector], lines: Vector, file: str, missing: Sequence[str]) -> None:
        """Load records of a text file, of which a field spelled as one of `missing` is missing."""
        if not len(lines):
            return
        columns = range(len(vectors))
        cells = ", ".join(f"CASE WHEN {among(f'x{j}', missing)} THEN NULL ELSE x{j} END AS x{j}" if missing else f"x{j}"
                          for j in columns)
        forms = self._forms(["text"] * len(vectors))
        careful = [self._of_cells(j, missing) for j in columns]
        with registered(self.connection, [*vectors, lines]) as name:
            relation = f"(SELECT {cells}, x{len(vectors)} AS place FROM {name})"
            self.load(Part(relation, forms, tuple(careful), file, counted=False))

    def load_typed(self, relation: str, kinds: Sequence[str], *, counted: bool = True) -> None:
        """Load a relation of typed values. kinds: one per column, as `vectorised.of_kind` has them, or others. counted:
        as in `Part`."""
        columns = range(len(kinds))
        careful = tuple(self._of_values(j, READERS.get(kinds[j])) for j in columns)
        written = tuple(READERS.get(kind, _as_it_is) for kind in kinds)
        self.load(Part(relation, self._forms(kinds), careful, counted=counted, written=written))

    def load_vectors(self, columns: Sequence[tuple[str, Vector]], places: Sequence[int]) -> None:
        """Load columns in memory, each with its kind as in `load_typed`. places: the numbers of their rows."""
        if not places:
            return
        careful = tuple(self._of_values(j, READERS.get(kind)) for j, (kind, _) in enumerate(columns))
        forms = self._forms([kind for kind, _ in columns])
        with registered(self.connection, [*(vector for _, vector in columns), _whole(list(places))]) as name:
            relation = f"(SELECT *, x{len(columns)} AS place FROM {name})"
            self.load(Part(relation, forms, careful, counted=False))

    def load_values(self, batches: Iterable[Batch]) -> None:
        """Load batches of vectors and of Python values. A column of the latter is read by the grammar, and goes in by
        its positions where it has a value that cannot be read."""
        for batch in batches:
            if not len(batch.places):
                continue
            vectors: list[Vector] = []
            forms: list[Form] = []
            careful: list[Careful] = []
            written: list[Callable[[Any], Any]] = []
            for j, cells in enumerate(batch.columns):
                if isinstance(cells, Vector):
                    vectors.append(cells)
                    forms.append(self._form(j, cells.kind))
                    careful.append(self._of_values(j, READERS.get(cells.kind)))
                    written.append(READERS.get(cells.kind, _as_it_is))
                    continue
                values, bad = self._of_values(j, None)(cells)
                unread = {position for position, _ in bad}
                there = [n if value is not None or n in unread else None for n, value in enumerate(values)]
                vectors.append(_whole(there) if bad else _vector(values, self.table.columns[j].kind))
                forms.append(NONE if bad else Form("TRUE", f"x{j}"))
                careful.append(_by_position(values, dict(bad)))
                written.append(cells.__getitem__)
            with registered(self.connection, [*vectors, places(batch.places)]) as name:
                relation = f"(SELECT *, x{len(vectors)} AS place FROM {name})"
                self.load(Part(relation, tuple(forms), tuple(careful), batch.file, False, tuple(written)))

    def _form(self, j: int, kind: str) -> Form:
        column = self.table.columns[j]
        return of_kind(j, kind, column.type, self.readings[j].spelling, column.letters)

    def _forms(self, kinds: Sequence[str]) -> tuple[Form, ...]:
        return tuple(self._form(j, kind) for j, kind in enumerate(kinds))

    def _of_cells(self, j: int, missing: Sequence[str]) -> Careful:
        column, spelling = self.table.columns[j], self.readings[j].spelling
        return lambda cells: _within(read_cells(cells, column.type, spelling, missing), column)

    def _of_values(self, j: int, reader: Callable[[Any], Any] | None) -> Careful:
        column, spelling = self.table.columns[j], self.readings[j].spelling

        def read(values: Sequence[Any]) -> Read:
            if reader is not None:
                values = [reader(value) for value in values]
            return _within(read_typed(values, column.type, spelling), column)

        return read

    def count(self) -> None:
        """Tell the report how many rows are stored, and of how many each value is missing."""
        counts = ", ".join(f"COUNT(c{j})" for j in range(len(self.table.columns)))
        [found] = self.connection.execute(f"SELECT COUNT(*), {counts} FROM {self.name}").fetchall()
        self.report.rows = int(found[0])
        absent = {column.name: int(found[0] - n) for column, n in zip(self.table.columns, found[1:], strict=True)}
        self.report.missing = Counter(absent)
        self.report.null_units = absent.get(self.table.unit or "", 0)

    def _insert(self, source: str, values: list[str], where: str = "") -> None:
        typed = [f"({value})::{SQL_TYPES[column.kind]}"
                 for value, column in zip(values, self.table.columns, strict=True)]
        self._store(f"SELECT {', '.join(typed)} FROM {source} {where}")

    def _store(self, query: str) -> None:
        own = stored_columns(self.table)  # a unit that is looked up comes after these
        stored = f"INSERT INTO {self.name} ({own}) {with_numbers(self.table, query)}"
        [(rows,)] = self.connection.execute(stored).fetchall()
        self.stored += int(rows)
        if self.progress is not None:
            self.progress(self.table.name, self.stored, self.share)

    def _in_steps(self, part: Part, source: str, values: list[str], doubts: list[str]) -> None:
        """values: the physical value of each column where its form is sure. doubts: where it is not."""
        try:
            left = [j for j, doubt in enumerate(doubts) if self._read_left(part, j, source, doubt)]
            self._insert_read(part, left, source, values)
        finally:  # also where a source failed midway, which may be read in a second way
            for j in range(len(doubts)):
                self.connection.execute(f"DROP TABLE IF EXISTS read{j}")

    def _read_left(self, part: Part, j: int, source: str, doubt: str) -> bool:
        """Make the table read{j} of the distinct values that column j's form leaves; False where it leaves none."""
        if part.forms[j].sure == "TRUE":
            return False
        run = self.connection.execute
        run(f"CREATE TEMP TABLE left_over AS SELECT row_number() OVER () AS n, raw FROM (SELECT DISTINCT x{j} AS raw "
            f"FROM {source} WHERE {doubt})")
        try:
            [(most,)] = run("SELECT COUNT(*) FROM left_over").fetchall()
            if not most:
                return False
            kind = SQL_TYPES[self.table.columns[j].kind]
            run(f"CREATE TEMP TABLE read{j} AS SELECT raw, NULL::{kind} AS value, 0::BIGINT AS reason FROM left_over "
                "LIMIT 0")
            for start in range(0, most, AT_ONCE):
                within = f"n > {start} AND n <= {start + AT_ONCE}"
                rows = run(f"SELECT n, raw FROM left_over WHERE {within}").fetchall()
                values, bad = part.careful[j]([raw for _, raw in rows])
                read = [_whole([n for n, _ in rows]), _vector(values, self.table.columns[j].kind),
                        self._reasons(len(rows), bad)]
                with registered(self.connection, read) as relation:
                    run(f"INSERT INTO read{j} SELECT raw, x1::{kind}, x2 FROM left_over JOIN {relation} ON n = x0 "
                        f"WHERE {within}")
        finally:
            run("DROP TABLE left_over")
        return True

    def _reasons(self, rows: int, bad: list[tuple[int, str]]) -> Vector:
        """The number of the reason why a value cannot be read, from 1; missing where it can."""
        found: list[int | None] = [None] * rows
        for position, reason in bad:
            if reason not in self.reasons:
                self.reasons.append(reason)
            found[position] = self.reasons.index(reason) + 1
        return _whole(found)

    def _insert_read(self, part: Part, left: list[int], source: str, values: list[str]) -> None:
        columns, values = self.table.columns, list(values)
        for j in left:
            values[j] = f"CASE WHEN read{j}.raw IS NULL THEN ({values[j]}) ELSE read{j}.value END"
        joins = "".join(f" LEFT JOIN read{j} ON x{j} = read{j}.raw" for j in left)
        aside = [j for j in left if self.readings[j].set_aside]
        where = f"WHERE {' AND '.join(f'read{j}.reason IS NULL' for j in aside)}" if aside else ""
        self.connection.execute("SET disabled_optimizers = 'build_side_probe_side'")  # so that rows keep their order
        try:
            self._insert(source + joins, values, where)
        finally:
            self.connection.execute("RESET disabled_optimizers")
        rows = f"(SELECT {'row_number() OVER () AS place, ' if part.counted else ''}* FROM {part.relation}) AS r"
        joined = " ".join(f"LEFT JOIN read{j} ON x{j} = read{j}.raw" for j in aside)
        kept = f"(SELECT r.* FROM {rows} {joined} {where}) AS r" if aside else rows
        for j in left:
            self._tell_spellings(part, rows, j)
            if j not in aside:
                for number, count, first in self._troubles(kept, f"JOIN read{j} ON x{j} = raw", "reason"):
                    self.report.unreadable[columns[j].name].add_many(
                        self.reasons[number - 1], count, [self.report.place(n, part.file) for n in first])
        if aside:
            most = len(self.reasons) + 1
            which = " ".join(f"WHEN read{j}.reason IS NOT NULL THEN {j * most} + read{j}.reason" for j in aside)
            for number, count, first in self._troubles(rows, joined, f"CASE {which} END"):
                j, reason = divmod(number, most)
                self.report.set_aside.add_many(f"{columns[j].name!r} is {self.reasons[reason - 1]}", count,
                                               [self.report.place(n, part.file) for n in first])

    def _tell_spellings(self, part: Part, rows: str, j: int) -> None:
        """Tell the report how the values of a column that could not be read are written, the most frequent ones."""
        found = self.connection.execute(
            f"SELECT x{j}, COUNT(*) AS n FROM {rows} JOIN read{j} ON x{j} = raw WHERE reason IS NOT NULL "
            f"GROUP BY x{j} ORDER BY n DESC, x{j} LIMIT {_SPELLINGS}"
        ).fetchall()
        for value, times in found:
            self.report.unread(self.table.columns[j].name).add(part.written[j](value) if part.written else value, times)

    def _troubles(self, rows: str, joins: str, which: str) -> list[tuple[int, int, list[int]]]:
        """For each number that `which` takes: how many rows, and the first places."""
        return self.connection.execute(
            f"SELECT which, COUNT(*), MIN(place, {SHOWN}) FROM (SELECT place, {which} AS which FROM {rows} {joins}) "
            "WHERE which IS NOT NULL GROUP BY which"
        ).fetchall()


class registered:
    """Vectors as a relation with columns x0, x1, ..., for as long as the context lasts."""

    def __init__(self, connection: DuckDBPyConnection, vectors: Sequence[Vector]) -> None:
        self.connection, self.name = connection, f"given{next(_NUMBERS)}"
        self.columns = Columns({f"x{j}": vector for j, vector in enumerate(vectors)})

    def __enter__(self) -> str:
        self.connection.register(self.name, self.columns)
        return self.name

    def __exit__(self, *_: object) -> None:
        self.connection.unregister(self.name)


def _steps(part: Part) -> str:
    """The relation with what the forms compute first."""
    source = part.relation
    for step in ("cut", "made"):
        more = [f"{sql} AS {step}{j}" for j, form in enumerate(part.forms) if (sql := getattr(form, step))]
        if more:
            source = f"(SELECT *, {', '.join(more)} FROM {source})"
    return source


def _values(part: Part, otherwise: str) -> list[str]:
    """The physical value of each column where its form is sure."""
    found = []
    for j, form in enumerate(part.forms):
        if form.sure == "TRUE":
            found.append(form.value)  # of NULL it is NULL
        else:
            found.append(f"CASE WHEN x{j} IS NULL THEN NULL WHEN {form.sure} THEN {form.value} ELSE {otherwise} END")
    return found


def _left(form: Form, j: int) -> str:
    return f"x{j} IS NOT NULL AND ({form.sure}) IS NOT TRUE"


def _as_it_is(value: Any) -> Any:
    return value


def places(numbered: Sequence[int]) -> Vector:
    import numpy as np

    if isinstance(numbered, range):
        return numbers(np.arange(numbered.start, numbered.stop, numbered.step))
    return numbers(np.array(numbered, dtype=np.int64))


def _whole(values: Sequence[int | None]) -> Vector:
    return _vector(values, "integer")


def _vector(values: Sequence[Any], kind: Kind) -> Vector:
    """Physical values as a vector."""
    import numpy as np

    if kind == "text":
        return texts(values)
    absent = np.fromiter((value is None for value in values), np.bool_, len(values)) if None in values else None
    filled = values if absent is None else [0 if value is None else value for value in values]
    return numbers(np.array(filled, dtype=np.int64 if kind == "integer" else np.float64), absent)


def _within(read: Read, column: Column) -> Read:
    """Texts of more code points than the column has cannot be read."""
    values, bad = read
    if column.kind != "text" or max(map(len, filter(None, values)), default=0) <= column.letters:  # type: ignore[arg-type]
        return read
    found = [n for n, value in enumerate(values) if isinstance(value, str) and len(value) > column.letters]
    for position in found:
        values[position] = None
    reason = f"longer than {column.letters:,} letters, the column's max_length"
    return values, [*bad, *((position, reason) for position in found)]


def _by_position(values: Sequence[Any], bad: dict[int, str]) -> Careful:
    """The values at some positions, read before."""

    def read(positions: Sequence[int]) -> Read:
        told = [(n, bad[position]) for n, position in enumerate(positions) if position in bad]
        return [values[position] for position in positions], told

    return read
