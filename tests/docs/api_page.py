"""The API page of the documents' site, from the docstrings of the public names: a hook of mkdocs (mkdocs.yml).

`docs/api.md` holds the heading alone; what follows is written when the site is built. `python tests/docs/api_page.py`
prints it.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SOURCE = str(Path(__file__).resolve().parents[2] / "src")
ROOMS = {
    "curator": "The curator",
    "catalog": "Catalogs",
    "snapshot": "Refreshing",
    "fronts": "Questions in steps",
    "release": "Answers",
    "pricing": "Quotes and price lists",
    "receipts": "Receipts",
    "mechanisms": "Mechanisms",
    "sensitivity": "Sensitivity of functions",
    "privacy": "Privacy losses",
    "accounting": "Accounting, filters and calibration",
    "auditing": "Audits",
    "plots": "Charts",
    "errors": "Errors",
}


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Called by mkdocs for each page."""
    return markdown + "\n" + api() if page.file.src_uri == "api.md" else markdown


def api() -> str:
    """A section for each room that has public names, in the order of `ROOMS`, others last; a heading for each name."""
    if SOURCE not in sys.path:
        sys.path.insert(0, SOURCE)
    import dpcurator as dp

    found: dict[str, list[str]] = {room: [] for room in ROOMS}
    for name in dp.__all__:
        if not name.startswith("_"):
            value = getattr(dp, name)
            found.setdefault(_room(value), []).append("\n".join(_entry(name, value)))
    title = {room: ROOMS.get(room, room.capitalize()) for room in found}
    return "\n".join(f"## {title[room]}\n\n" + "\n".join(entries) for room, entries in found.items() if entries)


def _room(value: Any) -> str:
    return str(value.__module__.split(".")[1])


def _entry(name: str, value: Any) -> Iterator[str]:
    yield f"### dp.{name}\n"
    yield from _described(f"dp.{name}", value)
    if inspect.isclass(value):
        own = [base for base in value.__mro__ if base.__module__.startswith("dpcurator")]
        members = {name: member for base in reversed(own) for name, member in vars(base).items()}
        for method, member in members.items():
            if not method.startswith("_") and (callable(_bare(member)) or isinstance(member, property)):
                yield f"#### {name}.{method}\n"
                yield from _described(method, _bare(member))


def _bare(member: Any) -> Any:
    return member.__func__ if isinstance(member, classmethod | staticmethod) else member


def _described(shown: str, value: Any) -> Iterator[str]:
    if callable(value) and not (inspect.isclass(value) and issubclass(value, Exception)):
        signature = re.sub(r"<[\w.]+ object at 0x[0-9a-f]+>", "...", str(inspect.signature(value)).replace("'", ""))
        yield f"```python\n{shown}{_broken(signature)}\n```\n"
    yield prose(inspect.getdoc(value) or "") + "\n"


def _broken(signature: str) -> str:
    """One parameter a line where a line would be long."""
    if len(signature) < 100:
        return signature
    depth, out = 0, ""
    for letter in signature:
        depth += (letter in "([{") - (letter in ")]}")
        out += "\n)" if letter == ")" and depth == 0 and "\n" in out else letter
        if depth == 1 and letter in "(,":
            out += "\n   " if letter == "," else "\n    "
    return out


def prose(text: str) -> str:
    """A docstring as markdown: examples and indented lines are code; elsewhere stars and the like are themselves."""
    parts = []
    for part in re.split(r"\n\s*\n", text):
        if part.startswith(">>>"):
            parts.append(f"```python\n{part}\n```")
        elif all(line.startswith("    ") for line in part.splitlines()):
            parts.append(part)
        else:
            cells = re.split(r"(`[^`]*`)", part)
            parts.append("".join(cell if cell.startswith("`") else re.sub(r"([*_<\[\]#|])", r"\\\1", cell)
                                 for cell in cells))
    return "\n\n".join(parts)


if __name__ == "__main__":
    print(api())
