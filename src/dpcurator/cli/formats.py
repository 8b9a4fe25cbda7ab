"""How `ask` writes an answer, on the terminal or into a file: table, csv, markdown, html or json.

csv         One line for each row, under the names of the data frames (`release/frames.py`): values as they are, the
            ends of each interval, then what the answer costs and the receipt's id. Missing is empty.
json        Everything, with the receipt.
A file      Is written beside its name and then put in its place, whole or not at all; none is ever replaced.

Checked in tests/cli/test_formats.py.
"""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from dpcurator.errors import Misconfigured, Refusal
from dpcurator.numbers.text_table import printable

if TYPE_CHECKING:
    from dpcurator.release.answer import Answer


class Format(StrEnum):
    """The value of --format."""

    TABLE = "table"
    CSV = "csv"
    MARKDOWN = "markdown"
    HTML = "html"
    JSON = "json"


def chosen(given: Format | None, as_json: bool) -> Format:
    """One format: --json is json. Raises Refusal for two."""
    if as_json and given not in (None, Format.JSON):
        raise Refusal("--json and --format are two formats.", cure="Give one of them.")
    return Format.JSON if as_json else given or Format.TABLE


def text_of(answer: Answer, how: Format) -> str:
    """The answer as it is written."""
    if how is Format.JSON:
        return json.dumps(answer.as_json(), ensure_ascii=False, indent=2)
    if how is Format.CSV:
        from dpcurator.release.frames import to_csv

        return to_csv(answer)
    if how is Format.MARKDOWN:
        return _markdown(answer)
    return answer.to_html() if how is Format.HTML else str(answer)


def _markdown(answer: Answer) -> str:
    heads, *rows = answer.lines()
    sides = ["---:" if right else "---" for right in answer.right()]
    table = [_row(heads), _row(sides), *map(_row, rows)]
    return "\n".join([*table, "", *(f"{line}  " for line in answer.foot())]).rstrip()


def _row(cells: list[str]) -> str:
    safe = (printable(cell).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;") for cell in cells)
    return f"| {' | '.join(safe)} |"


def absent(path: Path | None, what: str) -> None:
    """Raise where there is a file of this name already: before anything is charged."""
    if path is not None and (path.exists() or path.is_symlink()):
        raise Misconfigured(f"the file for the {what} exists already.", where=str(path), cure="Name a new file.")
    if path is not None and not path.parent.is_dir():
        raise Misconfigured(f"there is no folder for the {what}.", where=str(path), cure="Name one that is there.")


def _place(draft: str, path: Path) -> None:
    try:
        os.link(draft, path)  # unlike a rename, it replaces nothing
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if path.exists():
            raise
        os.rename(draft, path)


def write(path: Path, text: str) -> None:
    """The text in a new file, whole or not at all. Raises Misconfigured; what was paid is stored by then."""
    draft: str | None = None
    try:
        handle, draft = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(f"{text}\n")
            file.flush()
            os.fsync(file.fileno())
        _place(draft, path)
    except (OSError, UnicodeError):
        failed = True
    else:
        failed = False
    finally:
        if draft is not None:
            with suppress(OSError):
                os.unlink(draft)
    if failed:
        raise Misconfigured(
            "the output could not be written; an answer that was paid is stored.",
            where=str(path),
            cure="Ask the same again, with another --output: it is free.",
        )
