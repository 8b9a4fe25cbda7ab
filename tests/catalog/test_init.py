"""`init`: a draft says what is left to declare, loads once that is done, and never writes over a file."""

import re

import duckdb
import pytest

from dpcurator.catalog.init import draft, write_draft
from dpcurator.catalog.load import load
from dpcurator.errors import Misconfigured

CSV = '\ufeffpatient id,,age,age,when,ok,ref,"a\nb"\n' + "".join(
    f"p{i},x,{i},{i}.5,2024-01-0{i},yes,123e4567-e89b-12d3-a456-42661417400{i},NA\n" for i in range(1, 9)
)


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "my visits.csv"
    path.write_text(CSV, encoding="utf-8")
    return path


def filled(text):
    text = text.replace('protects = "?"', 'protects = "patients"').replace('epsilon = "?"', "epsilon = 4")
    return re.sub(r'(max_rows|max_groups) = "\?"', r"\1 = 3", text).replace('unit = "?"', 'unit = "patient id"')


def test_names_are_real_and_types_are_guesses(source):
    declared = load(filled(draft(source)))
    (table,) = declared.tables
    assert table.name == "my_visits"
    assert [(column.name, column.type) for column in table.columns] == [
        ("patient id", "text"), ("column 2", "text"), ("age", "integer"), ("age 4", "float"), ("when", "date"),
        ("ok", "boolean"), ("ref", "uuid"), ("a\nb", "text"),
    ]  # fmt: skip
    assert declared.sources[0].csv.rename == ((2, "column 2"), (4, "age 4"))


def test_every_blank_is_told_with_its_line(source):
    text = draft(source)
    with pytest.raises(Misconfigured) as caught:
        load(text)
    told = str(caught.value).splitlines()
    assert [line.split()[1] for line in told] == ["protects", "epsilon", "unit", "max_rows", "max_groups"]
    for line in told:
        number = int(line.split(":")[1])
        assert text.splitlines()[number - 1].startswith(line.split()[1])


def test_nothing_but_names_and_types_is_taken_from_the_data(source):
    before = draft(source, salt="0" * 32)
    source.write_text(CSV.replace("p1,x,1,", "p77,x,50000,"), encoding="utf-8")
    assert draft(source, salt="0" * 32) == before


def test_a_salt_is_drawn_for_each_draft(source):
    salts = {load(filled(draft(source))).salt for _ in range(3)}
    assert len(salts) == 3
    assert all(re.fullmatch("[0-9a-f]{32}", salt) for salt in salts)


def test_parquet(tmp_path):
    path = tmp_path / "it's [1].parquet"
    columns = "1::TINYINT a, 1.5::DECIMAL(9,2) b, true c, DATE '2024-01-01' d, now() e, uuid() f, 'x' g, [1] h"
    duckdb.connect().execute(f"CREATE TABLE t AS SELECT {columns}; COPY t TO '{tmp_path}/plain.parquet'").close()
    (tmp_path / "plain.parquet").rename(path)
    declared = load(filled(draft(path)).replace('unit = "patient id"', 'unit = "a"'))
    types = ["integer", "float", "boolean", "date", "timestamp", "uuid", "text", "text"]
    assert [column.type for column in declared.tables[0].columns] == types


@pytest.mark.parametrize("name", ["none.csv", "none.parquet", "."])
def test_absent_files(tmp_path, name):
    with pytest.raises(Misconfigured):
        draft(tmp_path / name)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"PAR1 no"])
def test_unusable_files(tmp_path, content):
    for name in ("x.csv", "x.parquet"):
        path = tmp_path / name
        path.write_bytes(content)
        if name.endswith("csv") and content.startswith(b"PAR1"):
            assert "[tables.x]" in draft(path)  # one column with an odd name: the steward will see
        else:
            with pytest.raises(Misconfigured):
                draft(path)


def test_it_never_overwrites(source, tmp_path, monkeypatch):
    target = tmp_path / "curator.toml"
    monkeypatch.chdir(tmp_path)
    write_draft("my visits.csv", to=target)
    before = target.read_text(encoding="utf-8")
    assert 'file = "my visits.csv"' in before
    with pytest.raises(Misconfigured, match="already a file"):
        write_draft("my visits.csv", to=target)
    assert target.read_text(encoding="utf-8") == before


def test_a_draft_elsewhere_points_to_its_source(source, tmp_path, monkeypatch):
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path)
    write_draft("my visits.csv", to=tmp_path / "inner" / "c.toml")
    assert 'file = "../my visits.csv"' in (tmp_path / "inner" / "c.toml").read_text(encoding="utf-8")
