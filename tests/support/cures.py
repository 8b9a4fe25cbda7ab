"""Mistakes made of valid questions, and the cures of their refusals applied as a person would paste them.

`mistakes()` is a family: misspelt names, missing bounds, literals of another type, functions that are not there, and so
on, each made of a valid question by one change. `mended` applies one `Mend` to a question or to a catalog.
"""

from __future__ import annotations

import copy
import random
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from sqlglot.tokens import Tokenizer

from dpcurator.aggregates import AGGREGATES
from dpcurator.catalog.bind import catalog_of
from dpcurator.catalog.load import load
from dpcurator.catalog.model import Catalog
from dpcurator.engines.limits import check_core
from dpcurator.errors import Mend, Refusal
from dpcurator.fronts.sql import parse
from dpcurator.language.render import render
from dpcurator.plan.bind import bind
from dpcurator.plan.nodes import Plan
from dpcurator.pricing.quote import price

DECLARED = """
[curator]
protects = "people"
salt = "55555555555555555555555555555555"

[ledger]
epsilon = 4
delta = "1e-6"

[tables.visits]
file = "visits.csv"
unit = "patient_id"
max_rows = 4
max_groups = 2

[tables.visits.columns]
patient_id = "text"
city = { type = "text", keys = ["Hull", "Leeds", "York"] }
age = { type = "integer", bounds = [0, 110] }
cost = { type = "float", bounds = [0, 20000] }
smoker = "boolean"
day = { type = "date", bounds = ["2024-01-01", "2024-12-31"] }
at = "timestamp"
note = "text"
weight = "float"
parity = "integer"
born = "date"
diagnosis = { type = "text", keys = "unknown" }
doctor = "text"
"net gain" = { type = "integer", bounds = [-50, 10000] }
"""


@dataclass(frozen=True)
class Mistake:
    """A question with a mistake of this kind; `meant`: the question it was made of, where that is known."""

    kind: str
    text: str
    meant: str | None = None


Declared = dict[str, Any]


def declared() -> Declared:
    return tomllib.loads(DECLARED)


@cache
def _plain() -> Catalog:
    return catalog_of(load(declared(), directory=Path(".")))


def asked(text: str, told: Declared) -> Plan:
    """The plan of a question, once it has a price too. Raises Refusal."""
    catalog = _plain() if told == declared() else catalog_of(load(told, directory=Path(".")))
    plan = bind(parse(text), catalog, AGGREGATES)
    quote = price(plan, Fraction(1, 10), catalog)
    if quote.priced:
        check_core(quote.lowered.core)
    return plan


def refusal(text: str, told: Declared) -> Refusal | None:
    try:
        asked(text, told)
    except Refusal as refused:
        return refused
    return None


# --- applying a cure --------------------------------------------------------------------------------------------------


def mended(text: str, told: Declared, refused: Refusal, mend: Mend) -> tuple[str, Declared]:
    """The question and the catalog after one cure. Fails where it does not say what to do."""
    match mend.to:
        case "question":
            return mend.put, told
        case "catalog":
            return text, _declared(told, mend)
        case "all words":
            while (place := _span(text, mend.over, 0)) is not None:
                text = f"{text[: place[0]]}\0{text[place[1] :]}"
            return text.replace("\0", mend.put), told
        case "group by":
            return _grouped(text, mend), told
        case "words":
            place = re.fullmatch(r"line (\d+), column (\d+)", refused.where)
            start = 0
            if place:
                start = sum(len(line) + 1 for line in text.split("\n")[: int(place[1]) - 1]) + int(place[2]) - 1
            found = _span(text, mend.over, start) or _span(text, mend.over, 0)
            if found is None:
                text = render(parse(text))
                found = _span(text, mend.over, 0)
            assert found is not None, (text, mend)
            return text[: found[0]] + mend.put + text[found[1] :], told
    raise AssertionError(mend)


def _words(text: str) -> list[tuple[str, int, int]]:
    """Each word with its place; what stands in quotes keeps its case."""
    return [
        (text[one.start : one.end + 1] if one.token_type.name in ("STRING", "IDENTIFIER") else one.text.upper(),
         one.start, one.end + 1)
        for one in Tokenizer().tokenize(text)
    ]


def _span(text: str, over: str, start: int) -> tuple[int, int] | None:
    wanted = [word for word, *_ in _words(over)]
    have = _words(text)
    for n in range(len(have) - len(wanted) + 1):
        if have[n][1] >= start and [word for word, *_ in have[n : n + len(wanted)]] == wanted:
            return have[n][1], have[n + len(wanted) - 1][2]
    return None


def _grouped(text: str, mend: Mend) -> str:
    """With one more key in GROUP BY, or one fewer."""
    head, word, rest = text.partition(" GROUP BY ")
    after = re.search(r" (HAVING|ORDER BY|LIMIT) ", rest if word else head)
    body, tail = rest if word else head, ""
    if after:
        body, tail = body[: after.start()], body[after.start() :]
    if mend.put:
        return f"{head} GROUP BY {body}, {mend.put}{tail}" if word else f"{body} GROUP BY {mend.put}{tail}"
    written = {_plainly(render(parse(f"SELECT {one} FROM t"))): one for one in _split(body)}
    items = _split(head.removeprefix("SELECT ").partition(" FROM ")[0])
    gone = _plainly(render(parse(f"SELECT {mend.over} FROM t")))
    kept = [
        one for spelled, one in written.items()
        if spelled != gone and not (one.isdecimal() and _key(items[int(one) - 1]) == gone)
    ]
    assert len(kept) < len(written), (text, mend)
    return f"{head}{' GROUP BY ' + ', '.join(kept) if kept else ''}{tail}"


def _key(item: str) -> str:
    return _plainly(render(parse(f"SELECT {item} FROM t")))


def _plainly(text: str) -> str:
    return re.sub(r" AS \S+ FROM", " FROM", text).lower()


def _split(text: str) -> list[str]:
    parts, depth, last = [], 0, 0
    for n, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append(text[last:n].strip())
            last = n + 1
    return [*parts, text[last:].strip()]


def _declared(told: Declared, mend: Mend) -> Declared:
    """The line put under its header, in the place of one for the same name."""
    told = copy.deepcopy(told)
    under: Any = told
    path: Any = tomllib.loads(f"{mend.over}\nx = 1")
    while "x" not in path:
        ((name, path),) = path.items()
        under = under[name]
    under.update(tomllib.loads(mend.put))
    return told


# --- the family -------------------------------------------------------------------------------------------------------

VALID = (
    "SELECT COUNT(*) FROM visits",
    "SELECT AVG(age) FROM visits",
    "SELECT city, COUNT(*) AS n FROM visits GROUP BY city ORDER BY n DESC",
    "SELECT smoker, AVG(cost) FROM visits WHERE age > 18 GROUP BY smoker",
    "SELECT SUM(cost * 2) FROM visits WHERE city = 'Leeds' AND NOT smoker",
    "SELECT DATE_TRUNC('month', day) AS month, COUNT(*) FROM visits GROUP BY month",
    "SELECT COUNT(DISTINCT patient_id) FROM visits WHERE note LIKE '%fever%'",
    "SELECT FLOOR(age / 10) * 10 AS decade, AVG(cost) FROM visits GROUP BY decade HAVING COUNT(*) > 5",
    "SELECT AVG(CASE WHEN age >= 65 THEN 1 ELSE 0 END) AS share FROM visits WHERE doctor IS NOT NULL",
    "SELECT diagnosis, COUNT(*) FROM visits GROUP BY diagnosis",
    "SELECT SUM(CLIP(weight, 0, 200)) / COUNT(*) FROM visits WHERE at >= '2024-03-01T00:00:00Z'",
    "SELECT AVG(\"net gain\") FROM visits WHERE born < '2000-01-01'",
)
COLUMNS = tuple(declared()["tables"]["visits"]["columns"])
FUNCTIONS = ("COUNT", "AVG", "SUM", "FLOOR", "CLIP", "DATE_TRUNC")
UNBOUNDED = ("weight", "weight * 2", "weight + age", "COALESCE(weight, 0)", "parity", "parity - 1", "ABS(parity)",
             "CAST(note AS INTEGER)", "CAST(doctor AS DOUBLE) / 3", "1 / cost", "LN(cost)", "EXP(weight)",
             "DATE_DIFF('day', born, day)", "DATE_DIFF('hour', at, TIMESTAMP '2024-01-01T00:00:00Z')",
             "DATE_DIFF('minute', TIMESTAMP '2024-01-01T00:00:00Z', at + INTERVAL '1 hour')",
             "CASE WHEN smoker THEN weight END", "day - born", "ROUND(weight, 1)")
NO_NUMBERS = ("city", "note", "patient_id", "doctor", "day", "at", "born", "LOWER(note)", "city || 'x'",
              "DATE_TRUNC('month', day)", "day + INTERVAL '1 day'", "CAST(age AS TEXT)", "DATE(at)")
NOT_THERE = ("MAX", "MIN", "MEDIAN", "STD", "VAR", "STDEVP", "VARP", "MODE", "BOOL_AND", "EVERY", "BOOL_OR",
             "LOGICAL_AND")
LITERALS = {
    "age": ("'65'", "'x'", "'6.5'", "TRUE", "DATE '2024-01-01'"), "cost": ("'65.5'", "'cheap'", "FALSE"),
    "city": ("5", "2.5", "TRUE", "DATE '2024-01-01'"), "smoker": ("'yes'", "'no'", "1", "0", "'true'"),
    "day": ("2024", "'2024-01-01 00:00:00'", "TIMESTAMP '2024-01-01 00:00:00'", "'01/02/2024'", "'2024-02-30'",
            "'2024-1-1'", "TIMESTAMP '2024-01-01T00:00:00Z'", "DATE '2024'"),
    "at": ("'2024-01-01'", "'2024-01-01 12:00:00'", "'2024-01-01T12:00:00'", "TIMESTAMP '2024-01-01'",
           "TIMESTAMP '2024-01-01 10:00'", "DATE '2024-01-01'", "2024", "'yesterday'", "'2024-01-01 12:00:00 UTC'"),
    "DATE_TRUNC('year', at)": ("TIMESTAMP '2024-01-01'", "TIMESTAMP '2024-01-01 00:00:00'", "2024"),
    "YEAR(day)": ("'2024'", "DATE '2024-01-01'"),
    "at AT TIME ZONE 'Europe/Paris'": ("'2024-01-01T10:00:00Z'", "2024"),
}
UNLISTED = ("note", "doctor", "at", "born", "parity", "weight", "patient_id", "UPPER(note)", "DATE_TRUNC('hour', at)",
            "DATE_TRUNC('month', born)", "parity + 1", "LEFT(patient_id, 1)", "weight * 2", "cost / 100", "cost",
            "DATE_TRUNC('month', at)")
LARGE = ("age * age * age * age * age * age * age * age * age * age", "FLOOR(EXP(age))",
         'age * age * age * age * age * age * age * "net gain" * "net gain"')
TYPES = ("WHERE age LIKE '1%'", "WHERE cost LIKE '1%'", "WHERE day LIKE '2024%'", "WHERE city + 1 > 1",
         "WHERE -note > 1", "WHERE smoker + 1 > 1", "WHERE day + INTERVAL '1 hour' > day", "WHERE at = day",
         "WHERE at > born", "WHERE age = note", "WHERE cost < doctor", "WHERE day = note", "WHERE smoker = age",
         "WHERE age", "WHERE NOT city", "WHERE age AND smoker", "WHERE cost OR smoker", "WHERE YEAR(note) = 2024",
         "WHERE YEAR('2024-01-01') = 2024", "WHERE EXTRACT(yaer FROM day) = 2024", "WHERE LOWER(age) = '1'",
         "WHERE DATE_TRUNC('mnth', day) = '2024-01-01'", "WHERE day AT TIME ZONE 'UTC' = day",
         "WHERE LENGTH(cost) > 3", "WHERE at BETWEEN '2024-01-01' AND '2024-02-01'", "WHERE age IN ('1', '2')",
         "WHERE day IN (2023, 2024)", "WHERE cost || 'x' = 'y'")
ELSEWHERE = (
    "SELECT `city`, COUNT(*) FROM visits GROUP BY `city`", "SELECT TOP 5 city FROM visits GROUP BY city",
    "(SELECT COUNT(*) FROM visits)", "EXPLAIN SELECT COUNT(*) FROM visits", "SELECT COUNT(*) FROM main.visits",
    "EXPLAIN ANALYZE SELECT AVG(age) FROM visits", 'SELECT COUNT(*) FROM visits WHERE city = "Leeds"',
    'SELECT COUNT(*) FROM visits WHERE note LIKE "%x%"', "SELECT AVG(v.age) FROM visits",
    "SELECT AVG(visits.age) FROM visits AS v", "SELECT AVG(net gain) FROM visits", 'SELECT AVG("Age") FROM visits',
    "SELECT LOWER(city) FROM visits", "SELECT YEAR(day), COUNT(*) FROM visits", "SELECT ABS(cost) FROM visits",
)


def _misspelt(word: str, make: random.Random) -> str:
    n = make.randrange(1, len(word))
    return make.choice((
        word[:n] + word[n + 1 :] if len(word) > 3 else word + word[-1],
        word[:n] + word[n - 1] + word[n:],
        word[: n - 1] + word[n] + word[n - 1] + word[n + 1 :],
        word + "s",
    ))


def _typos(rounds: int) -> Iterator[Mistake]:
    make = random.Random(12)
    kinds = (("a misspelt column", COLUMNS), ("a misspelt table", ("visits",)), ("a misspelt function", FUNCTIONS))
    for _ in range(rounds):
        for valid in VALID:
            for kind, names in kinds:
                for name in names:
                    written = f'"{name}"' if " " in name else name
                    wrong = _misspelt(name, make)
                    text = re.sub(rf"(?<![\w']){re.escape(written)}(?![\w'])",
                                  f'"{wrong}"' if " " in name else wrong, valid, count=1)
                    if text != valid and wrong.lower() not in (*COLUMNS, "n", "share"):
                        yield Mistake(kind, text, valid)


def _inner() -> Iterator[Mistake]:
    """Questions of an inner question that only narrows rows, and what they mean."""
    for a in ("COUNT(*) AS n", "AVG(age) AS a, SUM(cost) AS s", "city, COUNT(DISTINCT patient_id) AS n"):
        by = " GROUP BY city" if a.startswith("city") else ""
        for narrow in ("", " WHERE age > 65", " WHERE age > 65 OR smoker"):
            for more in ("", " WHERE cost < 100", " WHERE city = 'Hull' OR cost < 100"):
                inner = f"(SELECT * FROM visits{narrow})"
                both = [text.removeprefix(" WHERE ") for text in (narrow, more) if text]
                where = f" WHERE {' AND '.join(f'({one})' for one in both)}" if both else ""
                meant = f"SELECT {a} FROM visits{where}{by}"
                yield Mistake("an inner question", f"WITH kept AS {inner} SELECT {a} FROM kept{more}{by}", meant)
                yield Mistake("an inner question", f"SELECT {a} FROM {inner} AS kept{more}{by}", meant)
    yield Mistake("an inner question", "WITH k AS (SELECT age, cost FROM visits) SELECT AVG(k.cost) AS c FROM k "
                  "WHERE k.age > 3", "SELECT AVG(cost) AS c FROM visits WHERE age > 3")


def mistakes(rounds: int = 1) -> list[Mistake]:
    """The family. rounds: how often each name is misspelt, every time otherwise."""
    found = list(_typos(rounds))
    count = "SELECT COUNT(*) FROM visits"
    found += [
        Mistake("a window", f"SELECT NTILE({n}) OVER ({over}ORDER BY {x}) AS q, {a} FROM visits GROUP BY {by}")
        for n in (4, 10) for over in ("", "PARTITION BY city ") for x in ("age", "cost", "weight * 2", "parity DESC")
        for a in ("COUNT(*)", "AVG(age)") for by in ("q", "1")
    ]
    found += [Mistake("no bounds", f"SELECT {f}({x}) FROM visits") for f in ("SUM", "AVG") for x in UNBOUNDED]
    found += [Mistake("no number", f"SELECT {f}({x}) FROM visits") for f in ("SUM", "AVG") for x in NO_NUMBERS]
    found += [
        Mistake("no such function", f"SELECT {f}({x}) FROM visits")
        for f in NOT_THERE
        for x in ("age", "cost", "age + 1", "day")
        if x != "day" or f in ("MAX", "MIN")
    ]
    found += [
        Mistake("a literal of another type", f"{count} WHERE {x} {op} {value}")
        for x, values in LITERALS.items()
        for value in values
        for op in ("=", ">=")
    ]
    found += [
        Mistake("keys nobody listed", f"SELECT {x}, {a} FROM visits GROUP BY {by}")
        for x in UNLISTED
        for a in ("COUNT(*)", "AVG(age)")
        for by in (x, "1")
    ]
    found += [
        Mistake("no GROUP BY", f"SELECT {x}, {a} FROM visits")
        for x in COLUMNS
        if x != "net gain"
        for a in ("COUNT(*)", "AVG(cost) AS c")
    ]
    found += [
        Mistake("no GROUP BY", f"SELECT {x}, {y}, COUNT(*) FROM visits GROUP BY {y}")
        for x in ("city", "smoker", "day", "note")
        for y in ("diagnosis", "FLOOR(age / 10)")
    ]
    found += [
        Mistake("single rows", f"SELECT {x} FROM visits{rest}")
        for x in ("*", "city", "age", "cost", "patient_id", "note", "at", "age + 1")
        for rest in ("", " LIMIT 10", " WHERE age > 50")
    ]
    found += [Mistake("single rows", f"{count} ORDER BY {x}") for x in ("age", "city")]
    found += list(_inner())
    found += [
        Mistake("DISTINCT", text)
        for text in (
            "SELECT DISTINCT city FROM visits",
            "SELECT DISTINCT city, smoker FROM visits WHERE age > 3",
            *(f"SELECT COUNT(DISTINCT {x}) FROM visits" for x in ("city", "doctor", "age", "LOWER(city)", "day")),
            "SELECT SUM(DISTINCT age) FROM visits",
            "SELECT AVG(DISTINCT cost) FROM visits",
        )
    ]
    found += [Mistake("too large", f"SELECT {f}({x}) FROM visits") for f in ("SUM", "AVG") for x in LARGE]
    found += [Mistake("types that do not go together", f"{count} {rest}") for rest in TYPES]
    found += [Mistake("habits from elsewhere", text) for text in ELSEWHERE]
    return found
