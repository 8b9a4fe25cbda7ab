"""What `init` takes of files as other programs write them, and what it says of them to the steward alone."""

import tomllib

import duckdb
import pyarrow as pa
import pytest

from dpcurator.catalog.guesses import decimal_of, guess
from dpcurator.catalog.init import draft, drafted
from dpcurator.errors import Misconfigured

ROWS = "who,note,x\na,b,1\nc,d,2\n"
DIALECTS = [
    (ROWS, {}), (ROWS.replace(",", ", "), {"space_after_delimiter": True}),
    ("A report\n\nmade in May\n" + ROWS, {"skip_lines": 3}), ("# a note\n# more\n" + ROWS, {"comment": "#"}),
    ("who,note,x\n'a','b, e',1\n'c','d',2\n'e','f',3\n", {"quote": "'"}),
    ('who,note,x\n"a","b \\"e\\"",1\n"c","d",2\n', {"escape": "\\"}),
    ("who,note,x\na,b\\, c,1\nb,c,2\n", {"escape": "\\"}),
    ("who\tnote\tx\na\tsize 5\" or so\t1\nb\t\"c\t2\n", {"delimiter": "\t", "quote": ""}),
    ("who;note;x\na;b, c;1,5\nb;c;2,5\n", {"delimiter": ";", "decimal": ","}),
    ("Title\nwho|note|x\na|b|1\nc|d|2\n", {"skip_lines": 1, "delimiter": "|"}),
]
FIELDS = ("delimiter", "quote", "escape", "space_after_delimiter", "skip_lines", "comment", "decimal", "encoding")


@pytest.mark.parametrize(("text", "taken"), DIALECTS)
def test_c11_the_dialect_of_a_file_is_taken_and_no_value(tmp_path, text, taken):
    (tmp_path / "d.csv").write_text(text)
    table = tomllib.loads(draft(tmp_path / "d.csv"))["tables"]["d"]
    assert {name: table[name] for name in FIELDS if name in table} == taken
    assert list(table["columns"]) == ["who", "note", "x"]
    assert "'a'" not in str(table)


def test_hunt_14_a_file_packed_by_zstandard(tmp_path):
    (tmp_path / "d.csv.zst").write_bytes(pa.compress(ROWS.encode(), codec="zstd", asbytes=True))
    table = tomllib.loads(draft(tmp_path / "d.csv.zst"))["tables"]["d"]
    assert table["columns"] == {"who": "text?", "note": "text?", "x": "integer?"}
    (tmp_path / "d.csv.zst").write_bytes(b"no")
    with pytest.raises(Misconfigured, match="no whole packed file"):
        draft(tmp_path / "d.csv.zst")


def test_c4_the_tables_of_a_duckdb_file_are_listed(tmp_path):
    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        connection.execute("CREATE TABLE visits (who VARCHAR); CREATE TABLE labs (who VARCHAR)")
    with pytest.raises(Misconfigured, match='There is "labs", "visits"'):
        draft(tmp_path / "d.duckdb")


FOUR = ["2024-03-05", "5.3.2024", "15.12.2023", "5/13/2024", "7 Mar 2024", "1/31/2023", "9 Apr 2024", "2023-01-02"]
GUESSES = [
    (FOUR, "date", {"format": ["YYYY-MM-DD", "M/D/YYYY", "D.M.YYYY", "D MON YYYY"]}),
    (["05/13/2024", "05.03.2024"] * 9, "date", {"format": "?"}),  # 05.03. may be May or March
    (["05/13/2024 4:05 PM", "01/02/2024 12:00 AM"], "timestamp", {"format": "MM/DD/YYYY h:mm AM", "zone": "?"}),
    (["13.05.2024 14:05", "01.02.2024 09:10"], "timestamp", {"format": "DD.MM.YYYY HH:mm", "zone": "?"}),
    (["09:30", "17:05"], "integer", {"format": "HH:mm"}), (["9:30:00", "17:05:59"], "integer", {"format": "H:mm:ss"}),
    (["J", "n", "j"], "boolean", {"true_words": ["j", "ja"], "false_words": ["n", "nein"]}),
    (["1,234", "12,000,000", "5"], "integer", {"thousands": ","}), (["1'234.5", "17.5"], "float", {"thousands": "'"}),
    (["1,234.50", "2.5"], "float", {"thousands": ","}), (["20240305", "20231231"], "integer", {}),
    (["A-17", "B-18"], "text", {}), (["12 Main Street", "14 High Street"], "text", {}), (["N", "N"], "text", {}),
]


@pytest.mark.parametrize(("values", "type", "fields"), GUESSES)
def test_c11_guesses(values, type, fields):
    found = guess(values)
    assert found.type == type
    written = "\n".join(f"{name} = {value}" for name, value in found.fields)
    assert tomllib.loads(written) == fields


def test_one_cell_adds_no_format():
    values = ["2024-03-05"] * 30 + ["5.3.2024"]
    assert guess(values).fields == ()
    assert guess(values).note == "1 of the first 31 values are not written so"


@pytest.mark.parametrize(
    ("columns", "mark"),
    [([["1,5", "2"]], ","), ([["1.5"], ["1,5"]], "."), ([["1,234", "5,678"]], "."), ([["1.234,5"], ["x"]], ","),
     ([["a,b"], ["1"]], "."), ([[]], ".")],
)
def test_the_decimal_mark_is_that_of_numbers_that_cannot_be_grouped(columns, mark):
    assert decimal_of(columns) == mark


def test_what_may_mean_missing_is_told_to_the_steward_and_not_written(tmp_path):
    ages = [str(age) for age in range(20, 60)] + ["999", "999", "?", "-9", "-9"]
    names = ["Leeds", " leeds"] * 22 + ["York"]
    lines = [f"{age},{name}" for age, name in zip(ages, names, strict=True)]
    (tmp_path / "d.csv").write_text("\n".join(["age,city", *lines]) + "\n")
    made = drafted(tmp_path / "d.csv")
    told = "\n".join(made.told())
    assert 'missing = ["", "?"]' in told
    assert 'na_values = ["-9", "999"]' in told
    assert 'clean = ["trim"]' in told
    parsed = tomllib.loads(made.text())["tables"]["d"]
    assert "missing" not in parsed
    assert parsed["columns"] == {"age": "integer?", "city": "text?"}
