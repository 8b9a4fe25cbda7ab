"""E1: a law for cures. Every cure, pasted back, is accepted, or leads in one more step to what is.

Over a generated family of mistakes (tests/support/cures.py). The counts are printed with `pytest -s`.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

import pytest
from cures import VALID, Declared, Mistake, asked, declared, mended, mistakes, refusal

from dpcurator.errors import Mend, Refusal
from dpcurator.language.instead import OF_MANY, OF_ROWS


@dataclass
class Outcome:
    """How the refusal of each mistake ended."""

    mistakes: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)
    cures: int = 0
    refused: list[str] = field(default_factory=list)  # cures that lead to no accepted question
    without: list[str] = field(default_factory=list)


def leads(text: str, told: Declared, refused: Refusal, mend: Mend) -> str | None:
    """The accepted question that a cure leads to in at most two steps."""
    for _ in range(2):
        text, told = mended(text, told, refused, mend)
        again = refusal(text, told)
        if again is None:
            return text
        if not again.mends or str(again) == str(refused):
            return None
        refused, mend = again, again.mends[0]
    return None


def outcome(family: list[Mistake]) -> Outcome:
    found, told = Outcome(), declared()
    for one in family:
        refused = refusal(one.text, told)
        if refused is None:  # the change made another valid question
            continue
        found.mistakes[one.kind] += 1
        ends = [leads(one.text, told, refused, mend) for mend in refused.mends]
        found.cures += len(ends)
        pairs = zip(refused.mends, ends, strict=True)
        found.refused += [f"{one.text} | {refused} | {mend}" for mend, end in pairs if end is None]
        for mend in refused.mends:
            assert mend.to == "question" or mend.put in refused.cure, "the sentence says what is pasted"
        end = ends[0] if ends else None
        if end and (one.meant is None or asked(end, told) == asked(one.meant, told)):
            found.right[one.kind] += 1
        else:
            found.without.append(f"{one.kind}: {one.text} | {refused}")
    return found


def held(found: Outcome) -> None:
    total, right = found.mistakes.total(), found.right.total()
    for kind, count in found.mistakes.items():
        print(f"{kind}: {found.right[kind]} of {count}")
    print(f"in all {right} of {total} mistakes have the right cure; {found.cures} cures were pasted back")
    print("\n".join(found.without))
    assert found.refused == []
    assert right >= 0.95 * total


def test_what_the_mistakes_are_made_of_is_valid():
    assert [refusal(text, declared()) for text in VALID] == [None] * len(VALID)


def test_e1_every_cure_pasted_back_is_accepted():
    found = outcome(mistakes()[::8])
    assert found.mistakes.total() >= 37
    held(found)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_e1_every_cure_pasted_back_is_accepted_of_many_more(part):
    held(outcome(mistakes(rounds=20)[part::8]))


@pytest.mark.parametrize("text", [
    "WITH a AS (SELECT city, COUNT(*) AS n FROM visits GROUP BY city) SELECT COUNT(*) FROM a",
    "WITH a AS (SELECT * FROM visits LIMIT 3) SELECT COUNT(*) FROM a",
    "WITH a AS (SELECT age FROM visits) SELECT AVG(cost) FROM a",
    "WITH a AS (SELECT DISTINCT city FROM visits) SELECT COUNT(*) FROM a",
    "WITH a AS (SELECT * FROM visits WHERE age > (SELECT AVG(age) FROM visits)) SELECT COUNT(*) FROM a",
    "SELECT COUNT(*) FROM (SELECT city FROM visits GROUP BY city) AS a",
    "SELECT COUNT(*) FROM (SELECT * FROM visits) AS a JOIN visits ON TRUE",
    "WITH " + "(" * 5000,
])
def test_e1_an_inner_question_that_is_no_relation_of_units_is_told_why(text):
    refused = refusal(text, declared())
    assert refused is not None
    assert refused.cure
    assert all(mend.to != "question" for mend in refused.mends)


_ARGUMENTS = {"DAYOFMONTH": ["born"], "DAYOFYEAR": ["born"], "WEEKOFYEAR": ["born"], "ISODOW": ["born"],
              "LAST_DAY": ["born"], "MONTHS_BETWEEN": ["born", "DATE '1990-01-01'"], "MID": ["city", "1", "2"],
              "IFF": ["age > 3", "1", "0"], "SUM_IF": ["age", "city = 'Leeds'"], "SUMIF": ["age", "smoker"],
              "AVG_IF": ["age", "smoker"], "AVGIF": ["age", "age > 3"], "LOG1P": ["weight"]}
_PUT = [name for table in (OF_ROWS, OF_MANY) for name, line in table.items() if not line.endswith(".")]


@pytest.mark.parametrize("name", _PUT)
@pytest.mark.parametrize("first", ["age", "age + 1"])
def test_e1_a_function_of_another_dialect_is_told_what_means_the_same(name, first):
    """The paste is a question that is answered, or one that lacks only limits that nobody but the asker knows."""
    arguments = list(_ARGUMENTS.get(name, ["age", "0.5", "0.5"]))
    line = {**OF_ROWS, **OF_MANY}[name]
    arguments = arguments[: 1 + max(int(place) for place in re.findall(r"\{(\d)\}", line))]
    arguments = [first if one == "age" else one for one in arguments]
    call, told = f"{name}({', '.join(arguments)})", declared()
    text = f"SELECT {call if name in OF_MANY else f'COUNT({call})'} AS x FROM visits"
    refused = refusal(text, told)
    assert refused is not None
    [mend] = refused.mends
    assert mend.put in refused.cure
    assert leads(text, told, refused, mend) is not None, (text, str(refused))


@pytest.mark.parametrize(("name", "line"), [
    one for table in (OF_ROWS, OF_MANY) for one in table.items() if one[1].endswith(".")])
def test_e1_a_function_of_another_dialect_is_told_what_comes_nearest(name, line):
    inside = name in OF_ROWS
    refused = refusal(f"SELECT COUNT({name}('%Y', city)) FROM visits" if inside else f"SELECT {name}(city) FROM visits",
                      declared())
    assert refused is not None
    assert name in refused.what
    assert refused.cure.endswith((line.replace("{0}", "city"), line.replace("{0}", "x")))


@pytest.mark.parametrize(("written", "clipped"), [
    ("DATE_TRUNC('week', since)", "DATE_TRUNC('week', CLIP(since, DATE '2000-01-01', DATE '2030-12-31'))"),
    ("DATE_DIFF('day', since, DATE '2024-01-01')", "CLIP(DATE_DIFF('day', since, DATE '2024-01-01'), 0, 30)"),
])
def test_e1_a_key_of_days_without_bounds_is_told_where_its_limits_go(written, clipped):
    told = declared()
    told["tables"]["visits"]["columns"]["since"] = "date"
    text = f"SELECT {written} AS w, COUNT(*) FROM visits GROUP BY w"
    refused = refusal(text, told)
    assert refused is not None
    assert refused.mends[0].put == clipped
    assert leads(text, told, refused, refused.mends[0]) is not None


@pytest.mark.parametrize(("condition", "meant"), [
    ("DATE_TRUNC('year', at) = TIMESTAMP '2024-01-01 00:00:00'", "DATE_TRUNC('year', at) = '2024-01-01'"),
    ("at >= TIMESTAMP '2024-03-01 12:00:00+00'", "at >= '2024-03-01T12:00:00Z'"),
    ("at >= '2024-03-01 12:00:00+0000'", "at >= '2024-03-01T12:00:00Z'"),
    ("at >= '2024-03-01 12:00:00-07'", "at >= '2024-03-01T19:00:00Z'"),
    ("at >= DATE '2024-03-01'", "at >= '2024-03-01T00:00:00Z'"),
    ("at >= '2024-03-01'", "at >= '2024-03-01T00:00:00Z'"),
])
def test_e4_timestamps_as_people_write_them(condition, meant):
    """E4: accepted, or told the one that is meant."""
    told = declared()
    text, right = (f"SELECT COUNT(*) FROM visits WHERE {one}" for one in (condition, meant))
    refused = refusal(text, told)
    if refused is not None:
        [mend] = refused.mends
        text, told = mended(text, told, refused, mend)
    assert asked(text, told) == asked(right, told)


@pytest.mark.parametrize("text", [
    "EXPLAIN SELECT COUNT(*) FROM visits", "(SELECT COUNT(*) FROM visits)",
])
def test_e5_another_opening_is_told_what_to_write_and_not_that_nothing_can_be_changed(text):
    refused = refusal(text, declared())
    assert refused is not None
    assert "changed" not in str(refused)
    assert [mend.put for mend in refused.mends] == ["SELECT COUNT(*) FROM visits"]


def test_e11_sums_that_could_pass_the_limit_are_told_clip_and_cast():
    refused = refusal("SELECT SUM(age * age * age * age * age * age * age * age * age * age) FROM visits", declared())
    assert refused is not None
    assert "2^126" in refused.what
    assert "SUM(CLIP(" in refused.cure
    assert "AS DOUBLE))" in refused.cure
