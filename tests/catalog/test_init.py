"""`init`: a draft says what is left to declare, loads once that is done, and never writes over a file."""

import gzip
import re
import tomllib
import zipfile

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpcurator.catalog.guesses import guess
from dpcurator.catalog.init import draft, drafted, write_draft
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
    """As a steward does who finds all guesses right."""
    text = re.sub(r'"(\w+)\?"', r'"\1"', text).replace('zone = "?"', 'zone = "UTC"')
    text = text.replace('protects = "?"', 'protects = "patients"').replace('epsilon = "?"', "epsilon = 4")
    text = re.sub(r'(max_total) = "\?"', r"\1 = 3", text).replace('unit = "?"', 'unit = "patient id"')
    return re.sub(r'= "\?"$', '= "text"', text, flags=re.MULTILINE)  # a column without a value


def test_names_are_real_and_types_are_guesses(source):
    declared = load(filled(draft(source)))
    (table,) = declared.tables
    assert table.name == "my_visits"
    assert [(column.name, column.type) for column in table.columns] == [
        ("patient id", "text"), ("column 2", "text"), ("age", "integer"), ("age 4", "float"), ("when", "date"),
        ("ok", "boolean"), ("ref", "uuid"), ("a\nb", "text"),
    ]
    assert declared.sources[0].csv.rename == ((2, "column 2"), (4, "age 4"))


def test_every_blank_is_told_with_its_line(source):
    text = draft(source)
    with pytest.raises(Misconfigured) as caught:
        load(text)
    told = str(caught.value).splitlines()
    blanks, guesses, without_value = told[:4], told[4], told[5]
    assert [line.split()[1] for line in blanks] == ["protects", "epsilon", "unit", "max_total"]
    assert 'The types of "patient id", "column 2", "age", "age 4", "when", "ok", "ref" are guesses' in guesses
    assert '"a\\nb" is still blank' in without_value
    for line in blanks:
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


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"PAR1 no", b"a,b\n1,\0\n"])
def test_unusable_files(tmp_path, content):
    for name in ("x.csv", "x.parquet"):
        path = tmp_path / name
        path.write_bytes(content)
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


HEADLESS = [
    "39,State-gov,1984-02-11,ann@example.org\n50,Private,1971-01-02,bob@example.org\n",
    "p1,Leeds\np2,York\np3,Leeds\n",  # a word of the first line comes again below it
    "ann,+44 113 496 0000\nbob,x\n",
    "ann,the patient came in the morning and complained of a headache that had lasted for more than three days\n1,2\n",
    "who,12.02.2024\na,b\n",
    "who;1,5\na;2,5\n",
    "who,https://example.org/ann\na,b\n",
]


@pytest.mark.parametrize("content", HEADLESS)
def test_a6_a_first_line_that_looks_like_a_row_is_refused_without_being_shown(tmp_path, content):
    (tmp_path / "d.csv").write_text(content)
    with pytest.raises(Misconfigured, match="The first line looks like a row, not like names: see its field") as caught:
        draft(tmp_path / "d.csv")
    for cell in re.split("[,;\n]", content.splitlines()[0]):
        assert len(cell) < 3 or cell not in str(caught.value)
    assert "--no-header" in caught.value.cure
    assert '"c1"' in draft(tmp_path / "d.csv", header=False)
    assert "header = false" not in draft(tmp_path / "d.csv", header=True)


def test_a6_a_draft_without_a_header_is_by_position_and_loads(tmp_path):
    (tmp_path / "d.csv").write_text(HEADLESS[0])
    text = filled(draft(tmp_path / "d.csv", header=False)).replace('"patient id"', '"c4"')
    declared = load(text.replace('unit = "?"', 'unit = "c4"'))
    assert declared.sources[0].csv.names == ("c1", "c2", "c3", "c4")
    assert [c.type for c in declared.tables[0].columns] == ["integer", "text", "date", "text"]
    assert "ann" not in text


@pytest.mark.parametrize("header", ["no,t,f,yes", "visit 1,visit 2,x", "a,b,c", "größe,年齢,Datum (ISO)", "id,age65,q"])
def test_a6_names_are_not_taken_for_rows(tmp_path, header):
    (tmp_path / "d.csv").write_text(header + "\n" + ",".join("10" for _ in header.split(",")) + "\n", encoding="utf-8")
    assert '"integer?"' in draft(tmp_path / "d.csv")


def test_a7_types_are_questions_and_one_cell_turns_none_unseen(tmp_path):
    cells = [str(i) for i in range(100)]
    cells[2] = "n/a!"
    (tmp_path / "d.csv").write_text("\n".join(["age", *cells]) + "\n")
    made = drafted(tmp_path / "d.csv")
    assert made.text().splitlines()[-1] == 'age = "integer?"'
    assert made.told() == ['"age" 1 of the first 100 values are not written so']
    assert "100" not in made.text().splitlines()[-1]
    with pytest.raises(Misconfigured, match='The types of "age" are guesses'):
        load(made.text())


GUESSES = [
    (["007", "12"], "text"),
    (["00501", "10001"], "text"),
    (["12e5", "77e1", "345"], "text"),
    (["1234567890123456", "7"], "text"),
    (["0", "10", "-5"], "integer"),
    (["0.5", "1e-3"], "float"),
    (["1.5", "2"], "float"),
    ([True, False, None], "boolean"),
    (["yes", "no"], "boolean"),
    (["1", "0"], "integer"),
    ([1.0, float("nan"), 3.0], "integer"),
    ([1, 2.5], "float"),
    (["2024-01-01", ""], "date"),
    (["x", "y"], "text"),
    ([[1], [2]], "text"),
]


@pytest.mark.parametrize(("values", "type"), GUESSES)
def test_c7_identifiers_are_not_guessed_to_be_numbers(values, type):
    assert guess(values).type == type


def test_guesses_that_need_more_are_questions_too():
    assert guess(["31.12.2020", "01.02.2021"]).fields == (("format", '"DD.MM.YYYY"'),)
    assert guess(["31/12/2020"]).fields == (("format", '"DD/MM/YYYY"'),)
    assert guess(["01/02/2020"]).fields == (("format", '"?"'),)
    assert guess(["2020-01-01T10:00"]).fields == (("zone", '"?"'),)
    assert guess(["2020-01-01T10:00Z"]).fields == ()
    assert guess(["", None]).type == ""


ROWS = [["who", "day", "cost"], ["a", "2024-01-01", "1.5"], ["b", "2024-01-02", "2.5"], ["c", "2024-01-02", "3"]]
SPLIT = [(";", "d.csv"), ("\t", "d.tsv"), ("|", "d.txt"), (",", "d.csv"), (";", "d.csv.gz"), ("\t", "d.tsv.gz")]


@pytest.mark.parametrize(("mark", "name"), SPLIT)
def test_c4_other_delimiters_and_packed_files_are_drafted_and_load(tmp_path, mark, name):
    data = "".join(mark.join(row) + "\n" for row in ROWS).encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    text = filled(draft(tmp_path / name)).replace('"patient id"', '"who"')
    declared = load(text)
    assert declared.sources[0].csv.delimiter == mark
    assert [(c.name, c.type) for c in declared.tables[0].columns] == [
        ("who", "text"), ("day", "date"), ("cost", "float")
    ]


def test_c4_decimal_commas_and_other_encodings_are_questions(tmp_path):
    (tmp_path / "d.csv").write_bytes("who;größe\né;1,5\nb;12,25\n".encode("cp1252"))
    made = drafted(tmp_path / "d.csv")
    parsed = tomllib.loads(made.text())["tables"]["d"]
    assert (parsed["delimiter"], parsed["decimal"], parsed["encoding"]) == (";", ",", "cp1252")
    assert parsed["columns"] == {"who": "text?", "größe": "float?"}
    assert made.told() == ["the file is not UTF-8: check the letters with accents"]
    (tmp_path / "d.csv").write_text("who\na\n", encoding="utf-16")
    assert 'encoding = "utf-16"' in draft(tmp_path / "d.csv")


def test_c4_patterns_and_folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("csv", "deep/year=1"):
        (tmp_path / folder).mkdir(parents=True)
    for i in (1, 2):
        (tmp_path / "csv" / f"{i}.csv").write_text("who,age\na,1\n")
        pq.write_table(pa.table({"who": ["a"], "age": [1]}), f"deep/year=1/{i}.parquet")
    for given, file in (("csv", "csv/*.csv"), ("csv/", "csv/*.csv"), ("csv/*.csv", "csv/*.csv"),
                        ("deep", "deep/**/*.parquet")):
        parsed = tomllib.loads(draft(given))["tables"]
        (table,) = parsed.values()
        folders = {"year": "integer?"} if given == "deep" else {}
        assert (table["file"], table["columns"]) == (file, {"who": "text?", "age": "integer?"} | folders)
        assert table.get("folders", []) == list(folders)
    assert "the first of 2 files was looked at" in drafted("deep").told()
    with pytest.raises(Misconfigured, match="No file matches"):
        draft("none/*.csv")


def test_c4_a_duckdb_file_is_drafted_by_its_table(tmp_path):
    path = tmp_path / "d.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE visits (who VARCHAR, seen_at TIMESTAMP)")
    parsed = tomllib.loads(draft(path))["tables"]["visits"]
    assert parsed["duckdb"] == {"file": str(path), "table": "visits"}
    assert parsed["columns"] == {"who": "text?", "seen_at": {"type": "timestamp?", "zone": "?"}}
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE labs (who VARCHAR)")
    with pytest.raises(Misconfigured, match=r"has 2 tables\. Name one: dpcurator init FILE --table NAME"):
        draft(path)
    assert 'table = "labs"' in draft(path, table="labs")
    with pytest.raises(Misconfigured, match=r'no table of this name\. Did you mean "labs"'):
        draft(path, table="lab")


def test_c4_what_cannot_be_read_is_refused_with_what_to_do(tmp_path):
    with zipfile.ZipFile(tmp_path / "d.zip", "w") as file:
        file.writestr("d.csv", "a,b\n")
    packed = (tmp_path / "d.zip").read_bytes()
    contents = {"d.xlsx": packed, "zip.csv": packed, "gz.csv": gzip.compress(b"a\n"), "d.jsonl": b'{"a": 1}\n',
                "json.csv": b'[{"a": 1}]\n', "parquet.csv": b"PAR1....", "d.csv.gz": b"no", "sqlite.csv":
                b"SQLite format 3\0", "noise.csv": bytes(range(256)) * 4}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(Misconfigured) as caught:
            draft(tmp_path / name)
        assert caught.value.cure, name


def test_a4_a_parquet_file_with_repeated_names_is_refused_by_init(tmp_path):
    pq.write_table(pa.table([[1], [2], [3]], names=["id", "x", "x"]), tmp_path / "d.parquet")
    with pytest.raises(Misconfigured, match="Columns 2 and 3 have the same name"):
        draft(tmp_path / "d.parquet")
    pq.write_table(pa.table([[1], [2]], names=["id", "ID"]), tmp_path / "d.parquet")
    assert tomllib.loads(draft(tmp_path / "d.parquet"))["tables"]["d"]["columns"] == {
        "id": "integer?",
        "ID": "integer?",
    }
