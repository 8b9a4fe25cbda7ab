"""Reading CSV files strictly, so that what is wrong with a line stays with that line.

Python's csv module in strict mode parses; nothing is sniffed or guessed. A record that breaks the dialect is set aside
by its *first line only*: reading goes on at the next line, so a stray quote does not swallow the rows after it (unless
they happen to close it as one well-formed field, which no reader can tell). Rows with too few or too many fields, lines
past 4 MiB and fields past 131,072 characters are set aside likewise; an undecodable byte sets aside its row when
it is in a declared column. A blank line is no row, but where each row is a unit of a public number and has one column:
there it is the row of a unit whose value is missing.

A header that names two columns alike is refused with both positions. Messages about headers show only names that are
declared or close to one, since the first line of a file without a header is data.

Checked in tests/snapshot/test_csv.py.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Final, TextIO

from dpcurator.catalog.declaration import CsvOptions
from dpcurator.catalog.packed import BROKEN, is_broken, unpacked
from dpcurator.catalog.problems import nearest, text
from dpcurator.errors import Misconfigured
from dpcurator.snapshot.arrow import Vector, texts
from dpcurator.snapshot.arrow import numbers as whole
from dpcurator.snapshot.folders import refuse_in_both
from dpcurator.snapshot.plain_records import plain_records
from dpcurator.snapshot.report import TableReport

BATCH: Final = 50_000  # records that are read one by one
CHUNK: Final = 16 * 2**20  # characters that are looked at together
LONGEST_LINE: Final = 4 * 2**20  # characters
BYTE_ORDER_MARKS: Final = ("\ufeff", "\xef\xbb\xbf")  # and that of UTF-8, read as Latin-1
LONGEST_FIELD: Final = 131_072  # characters
LONGEST_RECORD: Final = 10_000  # lines of one record, quoted line breaks included


@dataclass(frozen=True, slots=True)
class Batch:
    """Python values of the declared columns, or vectors, column by column, and where each row begins: lines of `file`,
    or rows."""

    columns: list[Sequence[object] | Vector]
    places: Sequence[int]
    file: str


@dataclass(frozen=True, slots=True)
class Records:
    """Fields of the declared columns, column by column, and the line at which each record begins."""

    columns: list[Vector]
    lines: Vector
    read: int = 0  # bytes of the file, up to these records; 0 is not known


class _TooLong(Exception):
    """A line or record past the limits."""


class _Cut(str):
    """A line past the limit, whose rest has been passed over: read again, it takes no other line with it."""


class _Lines:
    """The lines of a file, counted; lines can be given back, so that a record may be read again from a later line."""

    def __init__(self, file: TextIO, options: CsvOptions) -> None:
        self.number = 0
        self.file = file
        self.comment = options.comment
        self.null = null_mark(options)
        self.waiting: deque[str] = deque()
        self.record: list[str] = []
        for _ in range(options.skip_lines):
            skipped = self._piece()
            self.number += bool(skipped)
            self._pass(skipped)
        self.marked = bool(options.names)  # then each line may be the first of a file
        first = _unmarked(self._piece())
        self.waiting.extendleft([first] if first else [])

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._next()
        while self.comment and not self.record and self._begun(line).startswith(self.comment):
            self._pass(line)
            line = self._next()
        told = line if self.record else self._begun(line)
        self.record.append(line)
        if len(self.record) > LONGEST_RECORD or isinstance(line, _Cut):
            raise _TooLong
        if len(line) == LONGEST_LINE and line[-1] not in "\r\n":
            self.record[-1] = _Cut(line)
            self._pass(line)
            raise _TooLong
        return told if self.null is None else self.null.sub(r"\\\g<0>", told)

    def _next(self) -> str:
        line = self._piece()
        if not line:
            raise StopIteration
        self.number += 1
        return line

    def _piece(self) -> str:
        """The next line, or the next part of one past the limit, which is not cut between CR and LF; "" at the end."""
        line = self.waiting.popleft() if self.waiting else self.file.readline(LONGEST_LINE)
        if len(line) == LONGEST_LINE and line[-1] == "\r":
            after = self.waiting.popleft() if self.waiting else self.file.readline(LONGEST_LINE)
            if after == "\n":
                return line + after
            self.waiting.extendleft([after] if after else [])
        return line

    def _begun(self, line: str) -> str:
        """The first line of a record. Without a header any row may be the first of its file, so a byte order mark
        before it is no part of it wherever it stands: whether a row stands before it decides nothing."""
        return _unmarked(line) if self.marked else line

    def _pass(self, line: str) -> None:
        """Pass over the rest of a line that is past the limit."""
        if len(line) == LONGEST_LINE and line[-1] not in "\r\n":
            while (rest := self._piece()) and rest[-1] not in "\r\n":
                pass

    def first(self) -> int:
        """The number of the current record's first line; the next line begins another record."""
        first = self.number - len(self.record) + 1
        self.record.clear()
        return first

    def give_back(self) -> int:
        """Keep only the first line of the current record as read; its number."""
        self.waiting.extendleft(reversed(self.record[1:]))
        self.number -= len(self.record) - 1
        self.record.clear()
        return self.number

    def chunk(self) -> str:
        """The next lines, whole ones but where one is past the limit; "" at the end. None is waiting."""
        text = self.file.read(CHUNK)
        rest = "\r" if text and text[-1] != "\n" else ""
        while rest[-1:] == "\r":  # perhaps within "\r\n": then this takes the other half, or one more line
            rest = self.file.readline(LONGEST_LINE)
            text += rest
            if len(rest) < LONGEST_LINE:
                break
        return text

    def has_marks(self, text: str) -> bool:
        """Has a line of these a byte order mark that is no part of it?"""
        return self.marked and any(text.startswith(mark) or f"\n{mark}" in text for mark in BYTE_ORDER_MARKS)

    def read(self) -> int:
        """How many bytes of the file were read, packed as it is; 0 where that is not known."""
        raw = getattr(self.file, "buffer", None)
        try:
            return int(getattr(raw, "fileobj", raw).tell())  # type: ignore[union-attr]
        except (AttributeError, OSError, ValueError):
            return 0

    def wait(self, text: str) -> None:
        """Let the lines of a chunk be read one by one."""
        self.waiting.extend(iter(partial(io.StringIO(text, newline="").readline, LONGEST_LINE), ""))


def read_csv(
    path: Path, options: CsvOptions, columns: Sequence[str], report: TableReport, *, where: str,
    folders: Collection[str] = (),
) -> Iterator[Records]:
    """The declared columns of one file, some records at a time. folders: columns that it may not have. Raises
    Misconfigured where it cannot be used."""
    try:
        with _opened(path, options.encoding) as file, _field_limit():
            yield from _read(file, path.name, options, columns, report, where, folders)
    except FileNotFoundError:
        raise Misconfigured(f"There is no file {text(path.name)}.", where=where,
                            cure="Paths are relative to the catalog file.") from None
    except IsADirectoryError:
        raise Misconfigured(f"{text(path.name)} is a directory.", where=where,
                            cure='Name a file, or several with file = "folder/*.csv".') from None
    except UnicodeError:
        raise Misconfigured(f"{text(path.name)} is not in the encoding {options.encoding}.", where=where,
                            cure='Declare the encoding, as in encoding = "utf-16".') from None
    except BROKEN as error:
        broken = is_broken(error)
        raise Misconfigured(f"{text(path.name)} cannot be read{' to its end' if broken else ''}.", where=where,
                            cure="Pack it again: it is no whole packed file." if broken
                            else "Check its permissions.") from None


@contextmanager
def _field_limit() -> Iterator[None]:
    """The csv module's limit of a field is the whole process's: a caller may have set another one for its own files."""
    before = csv.field_size_limit(LONGEST_FIELD)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _opened(path: Path, encoding: str) -> TextIO:
    """The text of a file, unpacked; bytes that the encoding does not have are a lone surrogate."""
    return io.TextIOWrapper(unpacked(path), encoding=encoding, errors=_UNDECODED, newline="")


def null_mark(options: CsvOptions) -> re.Pattern[str] | None:
    r"""A whole field \N, which programs that escape by a backslash write for null: it stays what it is."""
    if options.escape != "\\":
        return None
    mark = re.escape(options.delimiter)
    return re.compile(rf"(?:^|(?<={mark}))\\N(?={mark}|[\r\n]|$)")


def _unmarked(line: str) -> str:
    """A line without the byte order marks before it."""
    while line.startswith(BYTE_ORDER_MARKS):
        for mark in BYTE_ORDER_MARKS:
            line = line.removeprefix(mark)
    return line


def _undecoded(error: UnicodeError) -> tuple[str, int]:
    """As surrogateescape does, for any bytes: that one knows none below 128, as UTF-16 has in half a letter."""
    if not isinstance(error, UnicodeDecodeError) or error.reason == "truncated data":
        raise error
    return "\udcff", error.end


_UNDECODED: Final = "dpcurator-undecoded"
codecs.register_error(_UNDECODED, _undecoded)


def _read(
    file: TextIO, name: str, options: CsvOptions, columns: Sequence[str], report: TableReport, where: str,
    folders: Collection[str],
) -> Iterator[Records]:
    import numpy as np

    lines = _Lines(file, options)
    reader = csv.reader(lines, **options.dialect)
    header = list(options.names) or _header(reader, name, options, where)
    lines.record.clear()
    if not is_unicode("".join(header)) and not set(columns) <= set(header):
        raise UnicodeError
    refuse_repeats(header, columns, name, where)
    refuse_in_both(folders, header, name, where)
    chosen = [_position(column, header, name, where) for column in columns]
    same_columns(header, name, report, where)
    if lines.waiting:  # of a first line that was no header
        for rows, numbers in _carefully(lines, reader, len(header), name, report):
            yield replace(_batch(rows, numbers, chosen, name, report), read=lines.read())
    while text := lines.chunk():
        vectors = None
        if options.simple and not lines.has_marks(text):
            vectors = plain_records(text, options, len(header), chosen, longest_line=LONGEST_LINE,
                                    longest_field=LONGEST_FIELD)
        if vectors is not None:
            first = lines.number + 1
            lines.number += len(vectors[0])
            yield Records(vectors, whole(np.arange(first, lines.number + 1)), lines.read())
            continue
        lines.wait(text)
        for rows, numbers in _carefully(lines, reader, len(header), name, report):
            yield replace(_batch(rows, numbers, chosen, name, report), read=lines.read())


def _carefully(
    lines: _Lines, reader: Iterator[list[str]], width: int, name: str, report: TableReport
) -> Iterator[tuple[list[list[str]], list[int]]]:
    """The records in the lines that wait (the last one may go on after them), one by one; the broken set aside."""
    rows: list[list[str]] = []
    numbers: list[int] = []
    while lines.waiting:
        try:
            row = next(reader)
        except csv.Error:
            report.set_aside.add(report.place(lines.give_back(), name), "quotes or fields that break the dialect")
        except _TooLong:
            report.set_aside.add(report.place(lines.give_back(), name), "a line or record that is too long")
        except StopIteration:  # the lines that waited were comments
            break
        else:
            number = lines.first()
            if width == 1 and report.units is not None and not row:
                row = [""]  # a unit whose one value is missing: no less a row than `""` is
            if len(row) == width:
                rows.append(row)
                numbers.append(number)
            elif not row:
                report.blank_lines += 1
            else:
                told = f"{len(row)} fields where the header has {width}"
                report.set_aside.add(report.place(number, name), told)
        if len(rows) == BATCH:
            yield rows, numbers
            rows, numbers = [], []
    yield rows, numbers


def _header(reader: Iterator[list[str]], name: str, options: CsvOptions, where: str) -> list[str]:
    try:
        header = next(reader)
    except StopIteration:
        raise Misconfigured(
            f"{text(name)} is empty.", where=where, cure="Its first line must name the columns."
        ) from None
    except (csv.Error, _TooLong):
        raise Misconfigured(f"The header of {text(name)} cannot be read.", where=f"{name}:1",
                            cure="Check its quotes, or declare delimiter and quote.") from None
    for position, new in options.rename:
        if position > len(header):
            raise Misconfigured(f"rename names column {position}, and {text(name)} has {len(header)}.", where=where,
                                cure="Count positions from 1.")
        header[position - 1] = new
    return header


def _position(column: str, header: list[str], name: str, where: str) -> int:
    """Where a declared column is. Raises Misconfigured when it is not there."""
    if column in header:
        return header.index(column)
    raise Misconfigured(f"{text(name)} has no column {text(column)}.", where=where, cure=missing_cure(column, header))


def refuse_repeats(header: Sequence[object], declared: Sequence[str], name: str, where: str, cure: str = "") -> None:
    """Raise Misconfigured when two columns have the same name, with both positions (from 1)."""
    seen: dict[object, int] = {}
    for position, column in enumerate(header, start=1):
        first = seen.setdefault(column, position)
        if first != position:
            shown = f" ({text(str(column))})" if column in declared else ""
            raise Misconfigured(
                f"Columns {first} and {position} of {text(name)} have the same name{shown}.", where=where,
                cure=cure or f'Give one a name of its own: rename = {{ {position} = "a name" }}, or mend the source.',
            )


def same_columns(header: Sequence[str], name: str, report: TableReport, where: str) -> None:
    """Raise Misconfigured when a later file of a table has other columns than the first."""
    names = frozenset(header)
    if report.header is not None and names != report.header:
        raise Misconfigured(f"{text(name)} has other columns than the files before it.", where=where,
                            cure="Give all files of a table the same header, or name fewer files.")
    report.header = names
    report.files += 1


def missing_cure(column: str, header: Sequence[object]) -> str:
    """The nearest name, when one is near; else how many columns there are."""
    near = nearest(column, [str(other) for other in header])
    return near if near.startswith("Did") else f"It has {len(header)} columns, and none has a name like it."


def _batch(rows: list[list[str]], numbers: list[int], chosen: list[int], name: str, report: TableReport) -> Records:
    import numpy as np

    columns: list[Sequence[str]]
    if rows and 2 * len(chosen) > len(rows[0]):
        every = list(zip(*rows, strict=True))
        columns = [every[position] for position in chosen]
    else:
        columns = [list(map(itemgetter(position), rows)) for position in chosen]
    broken = {
        row for cells in columns if not is_unicode("".join(cells)) for row, c in enumerate(cells) if not is_unicode(c)
    }
    if broken:
        for row in broken:
            report.set_aside.add(report.place(numbers[row], name), "bytes that the declared encoding does not have")
        kept = [row for row in range(len(rows)) if row not in broken]
        columns = [[cells[row] for row in kept] for cells in columns]
        numbers = [numbers[row] for row in kept]
    return Records([texts(cells) for cells in columns], whole(np.array(numbers, dtype=np.int64)))


def is_unicode(cell: str) -> bool:
    """Is it Unicode? A byte that could not be decoded is held as a lone surrogate, which cannot be encoded."""
    try:
        cell.encode()
    except UnicodeEncodeError:
        return False
    return True
