"""Running a document: every fenced block of it does what the document says, or the test fails.

    ```console   `$ dpcurator ...` lines run through the shell, in this process; what follows each is what it prints
    ```python    run in order, in one namespace; a ```text block right after one is what it prints
    ```toml, ```csv   after `<!-- file: NAME -->`: written to that file
    ```sql       questions, a blank line between; each must be priced, or be refused in the words of `-- refused: ...`
    any          after `<!-- in: NAME -->`: run in that directory
    ```bash      after `<!-- ci: NAME -->`: run by .ci/run, in a fresh environment; here only its presence is checked

What a command prints is compared letter by letter, unless it holds noise, a key, a hash or the time (`ask` with a
price, `audit`, `bounds`, `break-me`, `demo`, `describe`, `key`, `log`, `receipt`, `verify`): then a hash stands for any
other, a number too, but for what was spent and what the error bars leave out, and the widths of columns may differ.
Which rows a question with HAVING, ORDER BY or LIMIT gives follows the noise: of those only the heads and the feet are
compared. A line `...` stands for any lines. A block of any other kind is an error: nothing would check it.

The gallery's right values are to the letter: in docs/gallery a text block is compared as it is, unless it has the mark
`<!-- noisy: values -->`.

`python tests/docs/documents.py DOCUMENT` writes what is printed now into a document's console and text blocks, where
that differs; read the difference before committing it.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

ROOT = Path(__file__).resolve().parents[2]
_FENCE = re.compile(r"^(?P<indent> *)```(?P<kind>\w*)[^\n]*\n(?P<body>.*?)^(?P=indent)```", re.M | re.S)
_MARK = re.compile(r"<!-- *(?P<word>file|ci|in|noisy): *(?P<name>[\w./-]+) *-->\s*$")
GALLERY = "gallery"
_NOISY = {"audit", "bounds", "break-me", "demo", "describe", "key", "log", "receipt", "verify"}
_PRICES = {"--epsilon", "--rho", "--spend", "--within", "--rehearse"}


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, the line it starts on, and the mark before it."""

    kind: str
    body: str
    line: int
    mark: tuple[str, str] | None


@dataclass(frozen=True)
class Said:
    """A command of a console block, and what the document says it prints."""

    command: str
    printed: str
    line: int


def blocks(text: str) -> list[Block]:
    found: list[Block] = []
    for match in _FENCE.finditer(text):
        before = _MARK.search(text[: match.start()])
        mark = (before["word"], before["name"]) if before else None
        body = textwrap.dedent(match["body"])
        found.append(Block(match["kind"], body, text.count("\n", 0, match.start()) + 1, mark))
    return found


def commands(block: Block) -> list[Said]:
    """The `$ ` lines of a console block, each with the lines below it; a trailing backslash continues one."""
    found: list[Said] = []
    lines = block.body.splitlines()
    position = 0
    while position < len(lines):
        start = position
        if not lines[position].startswith("$ "):
            raise AssertionError(f"line {block.line + 1 + position}: output without a command")
        command = lines[position][2:]
        while command.endswith("\\"):
            position += 1
            command = command[:-1] + lines[position].strip()
        position += 1
        printed: list[str] = []
        while position < len(lines) and not lines[position].startswith("$ "):
            printed.append(lines[position])
            position += 1
        found.append(Said(command, "\n".join(printed).strip("\n"), block.line + 1 + start))
    return found


def run_command(command: str) -> str:
    """What one command prints, on both streams. `cd`, `mkdir`, `cp` and `cat` are done here."""
    words = shlex.split(command, comments=True)
    if not words:
        return ""
    if words[0] != "dpcurator":
        return _small(words)
    target = None
    if ">" in words:
        words, target = words[: words.index(">")], words[-1]
    from dpcurator.cli import parser

    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            parser()(words[1:], prog_name="dpcurator", standalone_mode=False)
        except (SystemExit, typer.Exit):
            pass
        except Exception as error:  # click's own complaint about the options
            print(f"{type(error).__name__}: {error}")
    if target is not None:
        Path(target).write_text(out.getvalue(), encoding="utf-8")
        return ""
    return out.getvalue().rstrip()


def _small(words: list[str]) -> str:
    import os
    import shutil

    match words:
        case ["cd", place]:
            os.chdir(place)
        case ["mkdir", place]:
            Path(place).mkdir()
        case ["cp", source, target]:
            shutil.copy(source, target)
        case ["cat", file]:
            return Path(file).read_text(encoding="utf-8").rstrip()
        case _:
            raise AssertionError(f"the documents' shell does not know {words[0]!r}")
    return ""


def is_noisy(command: str) -> bool:
    """Does what the command prints differ from run to run?"""
    words = shlex.split(command, comments=True)
    if len(words) < 2 or words[0] != "dpcurator":
        return False
    return words[1] in _NOISY or (words[1] == "ask" and any(word.split("=")[0] in _PRICES for word in words))


def masked(text: str) -> str:
    """The visible structure: numbers, hashes and widths do not count."""
    text = re.sub(r"(?<![\w.])[0-9a-f]{8,64}(?!\w)", "#", text)
    lines = [line for line in text.splitlines() if not line.startswith("~ ")]  # how many values are within their bars
    return "\n".join(line for line in map(_masked_line, lines) if not _is_cut(line))


def _is_cut(line: str) -> bool:
    """Whether it says how many units are cut: before the other notes or after them, as the noise has it."""
    return re.match("about # ±# of # ", line) is not None


def _masked_line(line: str) -> str:
    line = re.sub(r"-[-+]{2,}", "---", re.sub(r" +", " ", line)).strip()
    if line.startswith(("spent ", "± covers the added noise")):
        return line  # prices, what is left, caps and bounds follow from what was asked
    line = re.sub(r"~(?=[-\d\[])", "", line)  # which value is within its bar
    line = re.sub(r"-?\d+(,\d{3})*(\.\d+)?(e[-+]?\d+)?", "#", line)
    return line.replace(" [#, #]", " # ±#")  # whether a bound cuts an interval depends on the noise


def agrees(said: str, printed: str) -> bool:
    """Is `printed` what the document says? A line `...` in what it says stands for any lines, or none; a token, for any
    other of the same name."""
    said, printed = (re.sub(r"\b([a-z]+)\.[A-Za-z0-9_-]{43}(?=\s|$)", r"\1.TOKEN", text) for text in (said, printed))
    pattern = "".join(
        r"(?:[^\n]*\n)*?" if line.strip() == "..." else re.escape(line.rstrip()) + r"\n" for line in said.splitlines()
    )
    lines = "".join(line.rstrip() + "\n" for line in printed.splitlines())
    return re.fullmatch(pattern, lines) is not None


def shortened(said: str, printed: str) -> str:
    """What is printed, with a line `...` where the document leaves lines out now, for a rewritten document."""

    def bare(line: str) -> str:
        numbered = re.match(r"ok +\d+: ", line)
        return (numbered[0] if numbered else "") + re.sub(
            r"\b[0-9a-f]{8,64}\b|[-+]?\d[\d,.e]*|\.\.\.| +", "", line
        )

    lines, found, place, left_out = printed.splitlines(), list[str](), 0, False
    for line in said.splitlines():
        if line.strip() == "...":
            left_out = True
            continue
        match = next((n for n in range(place, len(lines)) if bare(lines[n]) == bare(line)), None)
        if match is not None:
            found += (["..."] if match > place else []) if left_out else lines[place:match]
            found.append(lines[match])
            place, left_out = match + 1, False
    return "\n".join([*found, *(["..."] if left_out and place < len(lines) else lines[place:])])


def ends(text: str) -> str:
    """A table without its rows."""
    lines = text.splitlines()
    foot = next((number for number, line in enumerate(lines) if line.startswith("spent ")), 1)
    return "\n".join([*lines[:1], *lines[foot:]])


def compare(said: str, printed: str, *, noisy: bool, where: str, command: str = "") -> None:
    one, other = (masked(said), masked(printed)) if noisy else (said, printed)
    if noisy and re.search("HAVING|ORDER BY|LIMIT", command):
        one, other = ends(one), ends(other)
    if not agrees(one, other):
        raise AssertionError(f"{where}: the document says\n{said}\nand it is now\n{printed}")


class Run:
    """One document, block after block, in the current directory."""

    def __init__(self, path: Path, *, rewrite: bool = False) -> None:
        self.path, self.rewrite = path, rewrite
        self.exact = path.parent.name == GALLERY
        self.changes: list[tuple[str, str]] = []
        self.names: dict[str, Any] = {"__name__": "__document__"}
        self.printed: str | None = None  # by the python block just before, if there was one

    def all(self) -> None:
        for block in blocks(self.path.read_text(encoding="utf-8")):
            self.one(block)

    def one(self, block: Block) -> None:
        if block.mark is not None and block.mark[0] == "in":
            with contextlib.chdir(block.mark[1]):
                self._one(block)
        else:
            self._one(block)

    def _one(self, block: Block) -> None:
        where = f"{self.path.name}:{block.line}"
        before, self.printed = self.printed, None
        if block.mark is not None and block.mark[0] == "file":
            Path(block.mark[1]).parent.mkdir(exist_ok=True)
            Path(block.mark[1]).write_text(block.body, encoding="utf-8")
        elif block.kind == "console":
            for said in commands(block):
                printed = run_command(said.command)
                self._held(said.printed, printed, noisy=is_noisy(said.command), where=f"{self.path.name}:{said.line}",
                           after=said.command)
        elif block.kind == "python":
            self.printed = self._python(block)
        elif block.kind == "text" and before is not None:
            noisy = not self.exact or (block.mark is not None and block.mark[0] == "noisy")
            self._held(block.body.rstrip("\n"), before.rstrip("\n"), noisy=noisy, where=where)
        elif block.kind == "sql":
            for question in re.split(r"\n\s*\n", block.body.strip()):
                self._sql(question, where)
        elif block.kind == "bash" and block.mark is not None and block.mark[0] == "ci":
            assert len(block.body.strip().splitlines()) == 1, f"{where}: not a one-line command"
        else:
            raise AssertionError(f"{where}: nothing runs this block of kind {block.kind!r}")

    def _held(self, said: str, printed: str, *, noisy: bool, where: str, after: str = "") -> None:
        try:
            compare(said, printed, noisy=noisy, where=where, command=after)
        except AssertionError:
            if not self.rewrite:
                raise
            printed = shortened(said, printed)
            prefix = f"$ {after}\n" if after else "```text\n"
            self.changes.append((prefix + said, prefix + printed + ("" if said else "\n")))

    def save(self) -> None:
        text = self.path.read_text(encoding="utf-8")
        for old, new in self.changes:
            text = text.replace(old, new, 1)
        self.path.write_text(text, encoding="utf-8")

    def _python(self, block: Block) -> str:
        out = io.StringIO()
        source = "\n" * block.line + block.body
        with contextlib.redirect_stdout(out):
            exec(compile(source, str(self.path), "exec"), self.names)
        return out.getvalue()

    def _sql(self, question: str, where: str) -> None:
        import dpcurator as dp

        wanted = re.search(r"^-- refused: (.*?)\Z", question, re.M | re.S)
        said = None if wanted is None else " ".join(line.strip(" -") for line in wanted[1].splitlines())
        text = question if wanted is None else question[: wanted.start()]
        try:
            dp.open("curator.toml").quote(text, spend="10%")
        except dp.Refusal as refusal:
            told = str(refusal)
        else:
            told = None
        if self.rewrite and told != said:
            told = textwrap.fill(f"-- refused: {told}", 116, subsequent_indent="--   ", break_on_hyphens=False)
            self.changes.append((question, text + told))
            return
        assert told == said, f"{where}: {text}\nthe document says: {said}\nand it is now: {told}"


def prepare(place: Path) -> None:
    """The demo's made-up visits.csv and its curator.toml, refreshed; no question has been asked."""
    from dpcurator.catalog.load import load
    from dpcurator.cli.demo import _generate
    from dpcurator.curator.opening import refresh_all

    place.mkdir(exist_ok=True)
    _generate(place)
    refresh_all(load(place / "curator.toml"))


FROM_THE_FILE_ALONE = ("steward.md",)  # it begins with visits.csv; the clinic is in `clinic`


def _main() -> None:
    import shutil
    import sys
    import tempfile

    for name in sys.argv[1:]:
        run = Run(Path(name).resolve(), rewrite=True)
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            if run.path.parent.name != "recipes":
                prepare(place / "clinic")
            if run.path.parent.name == "recipes":
                pass
            elif run.path.name in FROM_THE_FILE_ALONE:
                shutil.copy(place / "clinic" / "visits.csv", place)
            else:
                place = place / "clinic"
            with contextlib.chdir(place):
                run.all()
        run.save()


if __name__ == "__main__":
    _main()
