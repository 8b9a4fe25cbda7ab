"""Reading one section of curator.toml into its pydantic model, with every fault told in plain words.

A faulty field is told and left out, and the rest of its section is still read, so one mistake does not hide the next.
"?" is what `init` writes where the steward must decide: it is told as still blank, by name. Checked in
tests/catalog/test_load.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from dpcurator.catalog.positions import Path
from dpcurator.catalog.problems import Problems, as_mapping, nearest, quoted, text
from dpcurator.catalog.schema import Section

S = TypeVar("S", bound=Section)
BLANK = "?"
_SHAPES = {
    "string_type": "text in quotes", "bool_type": "true or false", "list_type": "a list, as in [0, 100]",
    "dict_type": "a table, as in { name = ... }", "model_type": "a table, as in { name = ... }",
    "model_attributes_type": "a table, as in { name = ... }", "mapping_type": "a table",
}


def read(model: type[S], raw: object, path: Path, problems: Problems) -> S | None:
    """The section at `path`; None when what is left of it after the faults cannot stand. Faults go to `problems`."""
    given = raw
    if isinstance(raw, Mapping):
        given = {name: value for name, value in raw.items() if not _blank(value, (*path, name), problems)}
    elif isinstance(raw, str) and _blank(raw, path, problems):
        return None
    try:
        return model.model_validate(given)
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=True)
    for detail in details:
        _tell(model, detail, given, path, problems)
    faulty = {str(detail["loc"][0]) for detail in details if detail["loc"]}
    if not isinstance(given, Mapping):
        return None
    try:
        return model.model_validate({name: value for name, value in given.items() if name not in faulty})
    except ValidationError:
        return None


def _blank(value: object, path: Path, problems: Problems) -> bool:
    marks = path[-1] in ("delimiter", "quote", "escape", "comment", "na_values")  # "?" is a value there, as in keys
    ends = path[-1] in ("bounds", "valid") and isinstance(value, list) and BLANK in value
    blank = ends or (value == BLANK and not marks)
    if blank:
        problems.add(path, f'{_name(path)} is still blank ("?").', "Put your own value in its place.")
    return blank


def _name(path: Path) -> str:
    """What to call the field at `path` in a sentence."""
    return quoted(path[-1]) if isinstance(path[-1], str) else f"{path[-2]}[{path[-1]}]"


def _tell(model: type[Section], detail: ErrorDetails, given: object, path: Path, problems: Problems) -> None:
    place: Path = (*path, *detail["loc"])
    if problems.covers(place):
        return
    kind, name = detail["type"], str(detail["loc"][-1]) if detail["loc"] else _name(path)
    if kind == "extra_forbidden":
        names = _fields_at(model, detail["loc"])
        problems.add(place, f"{text(name)} is no field of {_section(path)}.", nearest(name, names))
    elif kind == "missing":
        problems.add(place, f"{_section(place[:-1])} has no {name}.", f"Add a line: {name} = {_sample(name)}")
    elif kind == "literal_error":
        problems.add(place, f"{name} must be {_expected(detail)}.", "Choose one of these.")
    else:
        problems.add(place, f"{name} must be {_SHAPES.get(kind, 'of another kind')}.", "See docs/catalog.md.")


def _section(path: Path) -> str:
    if len(path) == 4 and path[0] == "tables":
        return f"column {text(str(path[3]))}"
    return f"table {text(str(path[1]))}" if len(path) == 2 and path[0] == "tables" else f"[{path[-1]}]"


def _fields_at(model: type[Section], location: tuple[str | int, ...]) -> list[str]:
    fields: Any = model.model_fields
    for step in location[:-1]:
        inner = [t for t in getattr(fields[step].annotation, "__args__", ()) if hasattr(t, "model_fields")]
        fields = inner[0].model_fields if inner else {}
    return list(fields)


def _sample(name: str) -> str:
    samples = {"protects": '"patients"', "epsilon": "4", "type": '"text"', "file": '"data.duckdb"',
               "dsn": '"env:CLINIC_DSN"'}
    return samples.get(name, '"..."')


def _expected(detail: ErrorDetails) -> str:
    return str(detail.get("ctx", {}).get("expected", "one of the values in docs/catalog.md")).replace("'", '"')


def section(raw: Mapping[str, object], name: str, problems: Problems) -> Mapping[str, object]:
    """The top-level table `name`, empty when it is absent (told) or not a table (told)."""
    if name not in raw:
        problems.add((), f"There is no [{name}].", f"Add it; {HINTS[name]}")
        return {}
    found = as_mapping(raw[name])
    if found is None:
        problems.add((name,), f"{name} must be a table.", f"Write [{name}] on a line of its own; {HINTS[name]}")
    return found or {}


HINTS = {
    "curator": 'it says whom the tables protect: protects = "patients".',
    "ledger": "it holds the budget: epsilon = 4.",
    "tables": '[tables.NAME] names a table, its file and its unit: file = "visits.csv", unit = "patient_id".',
}
