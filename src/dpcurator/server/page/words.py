"""Public facts and errors in plain words: what a column means, how exact an offer is, where in a question an error is.

Checked in tests/server/test_page.py.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, Final

from dpcurator.numbers.display import error_text
from dpcurator.values import Json

_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLACE: Final = re.compile(r"line ([0-9]{1,9})(?:, column ([0-9]{1,9}))?")
_WORD: Final = re.compile(r"\w+|\S")
_TYPES: Final = {
    "integer": "whole number", "float": "number", "decimal": "number", "text": "text", "boolean": "true or false",
    "date": "date", "timestamp": "date and time", "uuid": "identifier",
}
_MOST_KEYS: Final = 12  # named in a list of columns
_MOST_NAMES: Final = 1500  # completed in the editor


def tables_of(told: Json) -> list[Json]:
    """The tables of `GET /v1/tables`, each with its sentences and its columns in words."""
    blocks = told["text"].split("\n\n")
    found = []
    for table, block in zip(told["tables"], blocks, strict=True):
        head, *lines = block.split("\n")
        notes = [line[1:-1] for line in lines if line.startswith("(") and line.endswith(")")]
        columns = [{"name": one["name"], "written": written(one["name"]), "type": _TYPES.get(one["type"], one["type"]),
                    "words": _meaning(one, table, told["protects"])} for one in table["columns"]]
        found.append({"name": table["name"], "written": written(table["name"]), "columns": columns, "notes": notes,
                      "sentence": head.partition(": ")[2], "private": table["private"]})
    return found


def _meaning(column: Json, table: Json, protects: str) -> str:
    if column["name"] == table["unit"]:
        return f"says whose a row is: {protects} are protected, so it can be counted, not shown"
    told = []
    if column["bounds"] is not None:
        low, high = column["bounds"]
        told.append(f"from {low} to {high}; a value outside counts as the nearer end")
    keys = column["keys"]
    if keys == "unknown":
        told.append("grouping by it shows only groups that are large enough, for some delta")
    elif keys is not None:
        more = len(keys) - _MOST_KEYS
        named = ", ".join("NULL" if key is None else str(key) for key in keys[:_MOST_KEYS])
        told.append(f"one of {named}" + (f" and {more:,} more" if more > 0 else "") + ": group by it")
    elif table["private"] and column["bounds"] is None and column["type"] in ("integer", "float", "decimal"):
        name = written(column["name"])
        told.append(f"no bounds are declared: in a sum or an average write CLIP({name}, low, high)")
    if column.get("per_unit") == 1:
        told.append("one value for each of them")
    return "; ".join(told) or ("for conditions, as in WHERE" if table["private"] else "")


def written(name: str) -> str:
    """A name as SQL writes it."""
    return name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"'


def names_of(tables: list[Json], told: Json) -> list[str]:
    """What the editor completes: tables, columns, and listed keys that are texts."""
    found: dict[str, None] = {}
    for table in tables:
        found |= dict.fromkeys([table["written"], *(column["written"] for column in table["columns"])])
    for one in (column for table in told["tables"] for column in table["columns"]):
        if isinstance(one["keys"], list):
            texts = (key for key in one["keys"] if isinstance(key, str))
            found |= dict.fromkeys("'" + key.replace("'", "''") + "'" for key in texts)
    return list(found)[:_MOST_NAMES]


def samples_of(told: Json) -> list[tuple[str, str]]:
    """Questions to begin with: what each asks, and its SQL. Of the first private table, as its columns allow."""
    private = [table for table in told["tables"] if table["private"]]
    if not private:
        return []
    table = private[0]
    name, columns = written(table["name"]), [one for one in table["columns"] if one["name"] != table["unit"]]
    found = [(f"How many rows are in {table['name']}?", f"SELECT COUNT(*) AS n\nFROM {name}")]
    keyed = next((one["name"] for one in columns if isinstance(one["keys"], list) and len(one["keys"]) <= 30), None)
    measured = next((one["name"] for one in columns if one["bounds"] and one["type"] in ("integer", "float")), None)
    if keyed is not None:
        key = written(keyed)
        found.append((f"How many for each {keyed}?", f"SELECT {key}, COUNT(*) AS n\nFROM {name}\nGROUP BY {key}"))
    if measured is not None:
        value, title = written(measured), written(f"average_{measured}")
        found.append((f"What is the average {measured}?", f"SELECT AVG({value}) AS {title}\nFROM {name}"))
    if keyed is not None and measured is not None:
        found.append((f"And for each {keyed}?",
                      f"SELECT {key}, AVG({value}) AS {title}\nFROM {name}\nGROUP BY {key}"))
    return found


def offers_of(menu: Json, left: Fraction) -> list[Json]:
    """The offers of `POST /v1/menu`, each with its error bars in words, and whether it fits what is left of one's own
    limit. left: for this alone; the ledger decides."""
    found = []
    for one in menu["menu"]:
        amount = one[menu["currency"]]
        found.append({
            "spend": one["spend"], "amount": amount, "delta": None if one["delta"] == "0" else one["delta"],
            "left": one["left_after"], "fits": _fraction(amount) <= left, "sizes": one.get("sizes"),
            "bars": [(bar["column"], bar_text(bar), bar["group_of"]) for bar in one["error_bars"]],
        })
    return found


def bar_text(bar: Json) -> str:
    """As a menu says it: ±360, or that it depends on the data; for groups of how many rows, its column's head says."""
    if bar.get("rank_exact") is not None:
        return f"rank ±{error_text(Fraction(bar['rank_exact']))}"
    if bar["exact"] is None:
        return "depends on the data"
    return f"±{error_text(Fraction(bar['exact']))}"


def _fraction(amount: str) -> Fraction:
    return Fraction(amount.removesuffix("..."))


def place_of(problem: Json, sql: str) -> Json | None:
    """Where in a question an error is: its line, the words at the place and those around them; None where it says none.
    start and end: in characters from the beginning, for the editor."""
    found = _PLACE.search(str(problem.get("where", "")))
    lines = sql.split("\n")
    if found is None or not 1 <= int(found[1]) <= len(lines):
        return None
    number = int(found[1]) - 1
    line = lines[number]
    first = 0 if found[2] is None else int(found[2]) - 1
    if not 0 <= first <= len(line):
        return None
    mends = problem.get("mends") or [{}]
    over = mends[0].get("over", "")
    at = line.find(over, first) if over else -1
    if found[2] is None and at < 0:
        first, end = len(line) - len(line.lstrip()), len(line.rstrip())
    elif at >= 0:
        first, end = at, at + len(over)
    else:
        word = _WORD.match(line, first)
        end = first + 1 if word is None else word.end()
    offset = sum(len(one) + 1 for one in lines[:number])
    return {"line": number + 1, "before": line[:first], "words": line[first:end], "after": line[end:],
            "start": offset + first, "end": offset + end}


def mends_of(problem: Json, sql: str) -> list[tuple[str, str]]:
    """The cures that a button can put into the question: the words put there, and the question as it is then."""
    place, found = place_of(problem, sql), []
    for mend in problem.get("mends", []):
        if mend["to"] == "question":
            found.append((mend["put"], mend["put"]))
        elif mend["to"] in ("words", "all words") and mend["over"].strip():
            wanted = re.compile(r"(?<!\w)" + r"\s+".join(map(re.escape, mend["over"].split())) + r"(?!\w)", re.I)
            at = wanted.search(sql, place["start"] if place else 0) or wanted.search(sql)
            if at is not None and mend["to"] == "words":
                found.append((mend["put"], sql[: at.start()] + mend["put"] + sql[at.end() :]))
            elif at is not None:
                found.append((mend["put"], mend["put"].join(wanted.split(sql))))
    return found


def when(time: Any) -> str:
    """A time of the ledger, to the minute."""
    return str(time)[:16].replace("T", " ")
