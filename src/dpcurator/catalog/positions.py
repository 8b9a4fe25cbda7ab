"""Where each value of a TOML document stands: its path, such as ("tables", "visits", "unit"), to its line.

`tomllib` says what a document means but not where. This scanner reads only as much of TOML as lines need: headers,
keys (bare, quoted, dotted), strings of all four kinds, arrays, inline tables and comments; it judges nothing, since
`tomllib` has judged already or is about to. It never raises: on text it cannot follow it returns what it has so far.

Checked in tests/catalog/test_positions.py, where generated documents are compared with their own layout.
"""

from __future__ import annotations

import contextlib
import re
import tomllib

Path = tuple[str | int, ...]
Lines = dict[Path, list[int]]  # every line that opens the path; more than one where a document repeats itself

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR = re.compile(r"[^,\]}#\r\n]+")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"""(?:"{0,2}(?!"))' r"|'''.*?'''(?:'{0,2}(?!'))" r'|"(?:[^"\\\n]|\\.)*"' r"|'[^'\n]*'",
    re.DOTALL,
)


class _Lost(Exception):
    """The text cannot be followed further."""


def positions(text: str) -> Lines:
    """Lines, from 1, of every key, header and array element of the document."""
    scanner = _Scanner(text)
    with contextlib.suppress(_Lost, IndexError, RecursionError):
        scanner.document()
    return scanner.lines


def line_of(lines: Lines, path: Path) -> int | None:
    """The line of the longest known beginning of `path`; None when none is known."""
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return lines[path[:length]][-1]
    return None


def _decoded(spelling: str) -> str:
    try:
        return str(tomllib.loads(f"x = {spelling}")["x"])
    except tomllib.TOMLDecodeError:
        raise _Lost from None


class _Scanner:
    """A cursor over the text; each method consumes one construct and notes the lines of the keys within."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.line = text.replace("\r\n", "\n"), 0, 1
        self.lines: Lines = {}
        self.counts: dict[Path, int] = {}

    def peek(self, length: int = 1) -> str:
        return self.text[self.at : self.at + length]

    def take(self, length: int) -> str:
        taken = self.text[self.at : self.at + length]
        if len(taken) < length:
            raise _Lost
        self.line += taken.count("\n")
        self.at += length
        return taken

    def space(self, *, lines: bool) -> str:
        """Skip blanks and, with `lines`, comments and line ends too; the character that follows."""
        while (char := self.peek()) and (char in " \t" or (lines and char in "\n#")):
            if char == "#":
                end = self.text.find("\n", self.at)
                self.take((len(self.text) if end < 0 else end) - self.at)
            else:
                self.take(1)
        return self.peek()

    def note(self, path: Path, line: int) -> None:
        self.lines.setdefault(path, []).append(line)

    def document(self) -> None:
        prefix: Path = ()
        while self.space(lines=True):
            prefix = self.header() if self.peek() == "[" else self.assignment(prefix, prefix)

    def header(self) -> Path:
        line, many = self.line, self.peek(2) == "[["
        self.take(2 if many else 1)
        path: Path = self.key()
        self.take(2 if many else 1)
        if many:
            self.counts[path] = self.counts.get(path, -1) + 1
            path = (*path, self.counts[path])
        self.note(path, line)
        return path

    def assignment(self, prefix: Path, result: Path) -> Path:
        line, parts = self.line, self.key()
        for length in range(1, len(parts)):
            self.lines.setdefault((*prefix, *parts[:length]), [line])
        self.note((*prefix, *parts), line)
        if self.take(1) != "=":
            raise _Lost
        self.value((*prefix, *parts))
        return result

    def key(self) -> tuple[str, ...]:
        parts: list[str] = []
        while True:
            self.space(lines=False)
            if self.peek() in ('"', "'"):
                parts.append(_decoded(self.string()))
            elif bare := _BARE.match(self.text, self.at):
                parts.append(self.take(len(bare[0])))
            else:
                raise _Lost
            self.space(lines=False)
            if self.peek() != ".":
                return tuple(parts)
            self.take(1)

    def string(self) -> str:
        """Consume one string, of whichever kind; its spelling, quotes included."""
        found = _STRING.match(self.text, self.at)
        if found is None:
            raise _Lost
        return self.take(len(found[0]))

    def value(self, path: Path) -> None:
        self.space(lines=False)
        match self.peek():
            case '"' | "'":
                self.string()
            case "[":
                self.array(path)
            case "{":
                self.inline_table(path)
            case _:
                scalar = _SCALAR.match(self.text, self.at)
                if scalar is None:
                    raise _Lost
                self.take(len(scalar[0]))

    def array(self, path: Path) -> None:
        self.take(1)
        index = 0
        while self.space(lines=True) != "]":
            self.note((*path, index), self.line)
            self.value((*path, index))
            self.space(lines=True)
            if self.peek() == ",":
                self.take(1)
            index += 1
        self.take(1)

    def inline_table(self, path: Path) -> None:
        self.take(1)
        while self.space(lines=True) != "}":
            self.assignment(path, path)
            self.space(lines=True)
            if self.peek() == ",":
                self.take(1)
        self.take(1)
