"""A register as it is, from `init` to the right answer, with nothing but what the draft and the report say.

The answers are those of tests/support/registry.py, worked out of the rows that were meant; with an epsilon of a billion
no noise is left but with a probability below 1e-300.
"""

import tomllib

import pytest
from shell import run

import registry
from dpcurator.curator.opening import open_curator

# What a steward writes: the blanks, and for four columns what `init` and the first `refresh` told.
EDITS = [
    ('protects = "?"', 'protects = "patients"'), ('epsilon = "?"', 'epsilon = "1e12"'),
    ('unit = "?"', 'unit = "Fall-Nr"'),
    ('max_total = "?"', 'max_total = 4\ndistinct = ["Besuch"]\nmissing = ["", "?"]'),
    ('Fall-Nr    = "text?"', 'Fall-Nr = { type = "text", clean = ["trim"] }'),
    ('Alter      = "integer?"', 'Alter = { type = "integer", na_values = ["999", "-1"], valid = [0, 105] }'),
    ('Geschlecht = "text?"', 'Geschlecht = { type = "text", clean = ["trim", "lower"], keys = ["w", "m"], '
     'map = { weiblich = "w", female = "w", "männlich" = "m", male = "m" } }'),
    ('Ort        = "text?"', 'Ort = { type = "text", clean = ["trim", "lower"], keys = ["München", "Köln", "Bremen"], '
     'map = { "münchen" = "München", "köln" = "Köln", bremen = "Bremen" } }'),
    ('Besuch     = "integer?"', 'Besuch = "integer"'),
    ('"Größe"    = "float?"', '"Größe" = { type = "float", bounds = [140, 200] }'),
    ('type = "date?"', 'bounds = ["1920-01-01", "2020-12-31"], type = "date"'),
    ('type = "float?", thousands = "."', 'type = "float", thousands = ".", bounds = [0, 4000]'),
    ('type = "boolean?"', 'type = "boolean"'),
]
QUESTIONS = {
    "sex": "SELECT Geschlecht, COUNT(*) AS n FROM register GROUP BY Geschlecht",
    "age": 'SELECT AVG("Alter") AS v FROM register',
    "cost": "SELECT Ort, SUM(Kosten) AS v FROM register GROUP BY Ort",
    "born": "SELECT COUNT(DISTINCT \"Fall-Nr\") AS n FROM register WHERE geboren < DATE '1970-01-01'",
    "height": "SELECT AVG(\"Größe\") AS v FROM register WHERE Notfall",
}


def from_init_to_answers(tmp_path, monkeypatch, capsys, count):
    meant = registry.rows(count)
    written = registry.lines(meant)
    (tmp_path / "register.csv").write_bytes("\r\n".join(written).encode("cp1252") + b"\r\n")
    monkeypatch.chdir(tmp_path)
    drafted = run(capsys, "init", "register.csv")
    assert drafted.code == 0, drafted.err
    text = (tmp_path / "curator.toml").read_text("utf-8")
    table = tomllib.loads(text)["tables"]["register"]
    assert (table["delimiter"], table["encoding"], table["decimal"]) == (";", "cp1252", ",")
    assert sorted(table["columns"]["geboren"]["format"]) == ["D MON YYYY", "D/M/YYYY", "DD.MM.YYYY", "YYYY-MM-DD"]
    assert table["columns"]["Notfall"] == {"type": "boolean?", "true_words": ["j", "ja"], "false_words": ["n", "nein"]}
    for told in ('missing = ["", "?"]', 'na_values = ["-1", "999"]', 'clean = ["trim"]', 'clean = ["lower"]'):
        assert told in drafted.out
    for before, after in EDITS:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    (tmp_path / "curator.toml").write_text(text, "utf-8")
    read = run(capsys, "refresh", "--json")
    assert read.code == 0, read.err
    return meant, written, read.json


def answers(tmp_path):
    curator = open_curator(tmp_path / "curator.toml")
    return {name: curator.ask(sql, epsilon="1e9") for name, sql in QUESTIONS.items()}


def is_right(tmp_path, monkeypatch, capsys, count):
    meant, written, report = from_init_to_answers(tmp_path, monkeypatch, capsys, count)
    true = registry.truth(meant)
    (table,) = report["tables"]
    assert table["rows"] == len(written) - 1
    assert table["repeats"] == len(written) - 1 - len(meant)
    assert table["unreadable"] == {}
    found = answers(tmp_path)
    assert dict(found["sex"].rows) == true["sex"]
    assert found["born"].rows == [(true["born"],)]
    for name in ("age", "height"):
        ((value,),) = found[name].rows
        assert float(value) == pytest.approx(float(true[name]), rel=1e-9)
    for town, value in found["cost"].rows:
        assert float(value) == pytest.approx(float(true["cost"][town]), rel=1e-9)


def test_c11_a_register_as_it_is_from_init_to_the_right_answer(tmp_path, monkeypatch, capsys):
    is_right(tmp_path, monkeypatch, capsys, 1_500)


@pytest.mark.slow
def test_c11_the_same_with_200_000_rows(tmp_path, monkeypatch, capsys):
    is_right(tmp_path, monkeypatch, capsys, 200_000)
