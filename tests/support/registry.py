"""A register as offices send it: cp1252, semicolons, decimal commas, dates in four spellings, ages that are 999 or `?`,
blanks at the ends, one word in several spellings, and rows that repeat another. With the rows that it means.

`rows(n)` is what is meant; `lines(rows)` spells each row in a way that the generator draws, and repeats some of them in
another spelling. `truth` works the answers out of the meant rows in plain Python, by no code of the project.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
TOWNS = ("M\u00fcnchen", "K\u00f6ln", "Bremen")
WORDS = {"w": ("w", "W", "weiblich", " Weiblich", "female"), "m": ("m", "M ", "m\u00e4nnlich", "MALE")}
HEADER = "Fall-Nr;Besuch;Geschlecht;Gr\u00f6\u00dfe;Alter;Ort;geboren;Kosten;Notfall"


@dataclass(frozen=True)
class Row:
    """One visit. None is missing."""

    who: str
    visit: int
    sex: str | None
    height: Fraction | None
    age: int | None
    town: str
    born: date
    cost: Fraction | None
    urgent: bool


def rows(n: int, seed: int = 0) -> list[Row]:
    """n visits of people who come one to four times each."""
    draw = random.Random(seed)
    made: list[Row] = []
    person = 0
    while len(made) < n:
        person += 1
        sex, town = draw.choice("wm"), draw.choice(TOWNS)
        born = date(1930, 1, 1) + timedelta(days=draw.randrange(30_000))
        for visit in range(1, draw.randrange(1, 5) + 1):
            made.append(Row(
                f"P{person:06d}", visit, sex if draw.random() < 0.97 else None,
                Fraction(draw.randrange(1400, 2000), 10) if draw.random() < 0.95 else None,
                draw.randrange(0, 101) if draw.random() < 0.9 else None, town, born,
                Fraction(draw.randrange(0, 400_000), 100) if draw.random() < 0.95 else None, draw.random() < 0.3,
            ))
    return made[:n]


def lines(meant: list[Row], seed: int = 1) -> list[str]:
    """The lines of the file, without line breaks; about one row in twenty is there twice, in two spellings."""
    draw = random.Random(seed)
    written = []
    for row in meant:
        written.append(_line(row, draw))
        if draw.random() < 0.05:
            written.append(_line(row, draw))
    draw.shuffle(written)
    return [HEADER, *written]


def _line(row: Row, draw: random.Random) -> str:
    blank = draw.choice(("", " ", "  "))
    age = str(row.age) if row.age is not None else draw.choice(("999", "?", "", "-1"))
    return ";".join((
        f"{row.who}{blank}", str(row.visit), draw.choice(WORDS[row.sex]) if row.sex else draw.choice(("", "?")),
        _decimal(row.height, 1, ""), age, f"{blank}{draw.choice((row.town, row.town.upper()))}", _date(row.born, draw),
        _decimal(row.cost, 2, "."), "J" if row.urgent else "N",
    ))


def _decimal(value: Fraction | None, places: int, mark: str) -> str:
    if value is None:
        return ""
    whole, rest = divmod(int(value * 10**places), 10**places)
    return f"{whole:,}".replace(",", mark) + f",{rest:0{places}d}"


def _date(day: date, draw: random.Random) -> str:
    return draw.choice((
        day.isoformat(), f"{day.day:02d}.{day.month:02d}.{day.year}", f"{day.day}/{day.month}/{day.year}",
        f"{day.day} {MONTHS[day.month - 1]} {day.year}",
    ))


def truth(meant: list[Row]) -> dict[str, object]:
    """Visits by sex, mean age, sum of costs by town, people born before 1970, mean height of urgent visits."""
    ages = [row.age for row in meant if row.age is not None]
    heights = [row.height for row in meant if row.height is not None and row.urgent]
    return {
        "sex": {sex: sum(row.sex == sex for row in meant) for sex in "mw"},
        "age": Fraction(sum(ages), len(ages)),
        "cost": {town: sum((row.cost for row in meant if row.town == town and row.cost is not None), Fraction(0))
                 for town in TOWNS},
        "born": len({row.who for row in meant if row.born < date(1970, 1, 1)}),
        "height": sum(heights, Fraction(0)) / len(heights),
        "missing ages": len(meant) - len(ages),
    }
