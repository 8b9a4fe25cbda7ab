"""A refresh on Spark reads what a refresh on DuckDB reads, tells the same of it, and leaves the version before whole.

The small parts of it, which need no session, are tried in the ordinary run beside one whole refresh.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
from spark_session import spark_or_skip

from dpcurator.catalog.declaration import Declaration
from dpcurator.catalog.load import load
from dpcurator.catalog.through import as_read
from dpcurator.curator.opening import refresh_all
from dpcurator.errors import Misconfigured
from dpcurator.snapshot import spark_dataset, spark_parts, spark_refresh
from dpcurator.snapshot.refresh import load_file, refresh
from dpcurator.snapshot.report import Report, TableReport, Trouble
from dpcurator.snapshot.spark_dataset import DatasetDraft
from dpcurator.snapshot.store import alone, open_snapshot

CITIES = 'public = true\nfile = "cities.csv"\ncolumns = { city = "text", people = "integer" }'
VISITS = """
file = "visits*.csv"
columns.who = "text"
columns.visit = "integer"
columns.city = { type = "text", keys = { table = "cities", column = "city" } }
columns.age = { type = "integer", bounds = [0, 110] }
columns.cost = { type = "float", bounds = [0, 100] }
"""
OWNED = 'unit = "who"\nmax_total = 5\nmax_groups = 2\n'
SPARK = 'engine = "spark"\nspark = { master = "local[2]", partitions = 3 }\n'


def files(folder: Path) -> None:
    """Rows that are set aside, values that cannot be read, repeats, quoted line breaks, several files."""
    folder.mkdir(exist_ok=True)
    (folder / "cities.csv").write_text("city,people\nLeeds,3\nYork,4\nYork,-4\n")
    (folder / "visits1.csv").write_text(
        'who,visit,city,age,cost\na,1,Leeds,30,1.5\na,1,Leeds,30,0.5\nb,2,"Yo\nrk",x,nan\n"bro"ken,1,1,1,1\n'
        "c,3,York,200,-0.0\nc,4,york ,7\n")
    (folder / "visits2.csv").write_text("who,visit,city,age,cost\n" + "".join(
        f"u{i % 7},{i},York,{i % 150},{i}.5\n" for i in range(10, 40)) + ",99,York,1,2\n\né,5,Leeds,seven,inf\n")
    duckdb.sql("SELECT i::BIGINT AS visit, (i % 13)::INTEGER AS price FROM range(0, 50) AS t(i)").write_parquet(
        str(folder / "items.parquet"))


def declared(folder: Path, tables: dict[str, str], engine: str = "", **curator: str) -> Declaration:
    """The same catalog in a directory for each engine, beside the same files."""
    files(folder)
    more = "".join(f"{name} = {value}\n" for name, value in curator.items())
    sections = "".join(f"[tables.{name}]\n{fields}\n" for name, fields in tables.items())
    (folder / "curator.toml").write_text(
        f'[curator]\nprotects = "patients"\n{engine}{more}[ledger]\nepsilon = 4\n{sections}')
    return load(folder / "curator.toml")


def rows_of(declaration: Declaration) -> dict[str, list[Any]]:
    """The stored rows of each table, in one order."""
    info, found = open_snapshot(declaration), {}
    with duckdb.connect(str(info.path) if info.path.is_file() else ":memory:", read_only=info.path.is_file()) as run:
        for i, table in enumerate(declaration.tables):
            own = ", ".join(f"c{j}" for j in range(len(table.columns)))
            source = f"t{i}" if info.path.is_file() else f"'{info.path}/t{i}/*.parquet'"
            found[table.name] = sorted(run.execute(f"SELECT {own} FROM {source}").fetchall(), key=repr)
    return found


def told(report: Report) -> dict[str, Any]:
    """What a report says; shares are doubles, and their sums depend on the order."""
    found = report.as_json()
    for table in found["tables"]:
        for over in table["over_caps"].values():
            over["rows"] = round(over["rows"], 9)
    return found


def law(folder: Path, tables: dict[str, str], frames: Any = None, **curator: str) -> tuple[Declaration, Report]:
    """Both engines store the same rows, find the same public facts, and tell the steward the same."""
    here = declared(folder / "duckdb", tables, **curator)
    there = declared(folder / "spark", tables, SPARK, **curator)
    one, two = refresh(here, frames), spark_refresh.refresh(there, spark_or_skip(), frames)
    assert told(two) == told(one)
    assert rows_of(there) == rows_of(here)
    assert open_snapshot(there).facts == open_snapshot(here).facts
    return there, two


def test_a_small_refresh_on_spark_is_that_on_duckdb(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    tmp_path = tmp_path / "a b%20c"  # as a directory may be called
    for engine in ("duckdb", "spark"):
        (tmp_path / engine).mkdir(parents=True)
        (tmp_path / engine / "v.csv").write_text('who,x\n1,2\n1,"2"\n"3",a\n"4\n",5\n6\n')
    there, report = law(tmp_path, {"v": SMALL["v"].replace("max_total = 5\n", "")})
    assert rows_of(there)["v"] == [(1, 2), (1, 2), (3, None), (None, 5)]
    assert (report.tables[0].set_aside.count, report.tables[0].unreadable["x"].count) == (1, 1)
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_a_refresh_on_spark_is_that_on_duckdb(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    there, report = law(tmp_path, {"cities": CITIES, "visits": f'{OWNED}distinct = ["visit"]\n{VISITS}'})
    assert report.tables[1].set_aside.count == 2
    assert report.tables[1].repeats == 1
    assert capfd.readouterr() == ("", "")
    schema = json.loads((open_snapshot(there).path / "schema.json").read_text())
    assert schema["t1"] == {"c0": "text", "c1": "integer", "c2": "text", "c3": "integer", "c4": "float"}


@pytest.mark.slow
@pytest.mark.parametrize("more", [
    'one_row_per = ["who", "city"]\n', "per_unit", 'distinct = ["visit"]\n', "",
])
def test_every_rule_over_whole_tables_is_that_of_duckdb(tmp_path: Path, more: str) -> None:
    visits = VISITS
    if more == "per_unit":
        more, visits = "", VISITS.replace("bounds = [0, 110]", "bounds = [0, 110], per_unit = 1")
    items = ('unit = { through = "visits", on = "visit" }\nmax_total = 3\nfile = "items.parquet"\n'
             'columns = { visit = "integer", price = { type = "integer", bounds = [0, 10] } }')
    law(tmp_path, {"items": items, "cities": CITIES, "visits": f"{OWNED}{more}{visits}"})


@pytest.mark.slow
def test_each_row_of_a_public_number_stays_though_it_cannot_be_read(tmp_path: Path) -> None:
    visits = VISITS.replace('{ table = "cities", column = "city" }', '["York"]')
    law(tmp_path, {"visits": f'unit = "each row"\n{visits}'}, neighbours='"replace-one"', units="40")


@pytest.mark.slow
def test_folders_frames_and_duckdb_files_are_read_as_on_duckdb(tmp_path: Path) -> None:
    for engine in ("duckdb", "spark"):
        for site in (1, 2):
            (tmp_path / engine / f"site={site}").mkdir(parents=True)
            (tmp_path / engine / f"site={site}" / "v.csv").write_text(f"who,x\n{site},3\n,x\n")
        with duckdb.connect(str(tmp_path / engine / "own.duckdb")) as run:
            run.execute("CREATE TABLE s AS SELECT 1 AS who, DATE '2020-01-02' AS day")
    law(tmp_path, {
        "v": 'unit = "who"\nmax_total = 5\nfile = "site=*/v.csv"\nfolders = ["site"]\n'
             'columns = { who = "integer", x = "integer", site = "integer" }',
        "s": 'unit = "who"\nmax_total = 5\nduckdb = { file = "own.duckdb", table = "s" }\n'
             'columns = { who = "integer", day = "date" }',
        "f": 'unit = "who"\nmax_total = 5\ncolumns = { who = "integer", x = "float" }',
    }, {"f": {"who": [1, 2, None], "x": [1.5, None, 2.5]}})


TYPED = """
unit = "who"
max_total = 5
columns.who = "integer"
columns.word = "text"
columns.truth = "boolean"
columns.cost = { type = "float", bounds = [0, 1000] }
columns.price = { type = "float", bounds = [0, 1000] }
columns.day = "date"
columns.instant = "timestamp"
"""
ROWS = """SELECT * FROM VALUES
    (1, 'a', true, 1.5D, 2.25BD, DATE '2020-02-03', TIMESTAMP '2020-02-03 04:05:06.000007'),
    (2, 'é', NULL, double('NaN'), -1.00BD, DATE '0001-01-01', TIMESTAMP '1969-12-31 23:59:59'),
    (NULL, NULL, false, -0.0D, NULL, NULL, NULL) AS t(who, word, truth, cost, price, day, instant)"""


@pytest.mark.slow
def test_a_table_of_sparks_is_read_by_type(tmp_path: Path) -> None:
    spark = spark_or_skip()
    spark.sql(ROWS).createOrReplaceTempView("typed")
    there = declared(tmp_path, {"v": TYPED + 'spark = { table = "typed" }'}, SPARK)
    report = spark_refresh.refresh(there, spark)
    assert report.clean
    assert rows_of(there)["v"] == sorted([
        (1, "a", 1, 1.5, 2.25, 18295, 1580702706000007), (2, "é", None, None, -1.0, -719162, -1000000),
        (None, None, 0, 0.0, None, None, None),
    ], key=repr)
    for what, fields, cure in (("has no column", "columns.wrd = \"text\"", "Did you mean"),
                               ("cannot read", "spark = { table = \"lake.absent\" }", "SHOW TABLES")):
        text = TYPED + (f'spark = {{ table = "typed" }}\n{fields}' if "columns" in fields else fields)
        with pytest.raises(Misconfigured, match=what) as found:
            spark_refresh.refresh(declared(tmp_path, {"v": text}, SPARK), spark)
        assert cure in found.value.cure
    assert open_snapshot(there).version == 1


@pytest.mark.slow
def test_a_database_is_read_through_its_jdbc_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Derby's driver comes with Spark."""
    spark = spark_or_skip()
    spark.sparkContext._jvm.java.lang.System.setProperty("derby.stream.error.file", str(tmp_path / "derby.log"))
    address = f"jdbc:derby:{tmp_path / 'derby'};create=true"
    spark.sql("SELECT 1 AS who, 'a' AS word UNION ALL SELECT 2, NULL").write.jdbc(address, "APP.VISITS")
    fields = ('unit = "who"\nmax_total = 5\ncolumns = { who = "integer", word = "text" }\n'
              'spark = { table = "APP.VISITS", jdbc = "env:CLINIC_JDBC" }')
    there = declared(tmp_path / "c", {"v": fields}, SPARK)
    for value, what in (("", "is not set"), ("postgresql://secret@h/d", "no JDBC address"),
                        ("jdbc:nobody://secret/d", "cannot read")):
        monkeypatch.setenv("CLINIC_JDBC", value)
        with pytest.raises(Misconfigured, match=what) as found:
            spark_refresh.refresh(there, spark)
        assert "secret" not in str(found.value)
    monkeypatch.setenv("CLINIC_JDBC", address)
    spark_refresh.refresh(there, spark)
    assert rows_of(there)["v"] == [(1, "a"), (2, None)]


SMALL = {"v": 'unit = "who"\nmax_total = 5\nfile = "v.csv"\ncolumns = { who = "integer", x = "integer" }'}


def draft_of(declaration: Declaration) -> DatasetDraft:
    declaration.state.mkdir(exist_ok=True)
    return DatasetDraft(declaration)


def published(declaration: Declaration, x: int) -> None:
    """A version of one row, without Spark."""
    with alone(declaration, lambda: DatasetDraft(declaration)) as draft:
        (draft.path / "t0").mkdir()
        duckdb.sql(f"SELECT 1 AS c0, {x} AS c1").write_parquet(str(draft.path / "t0" / "part.parquet"))
        draft.publish([], None, {}, {})


@pytest.mark.parametrize("step", ["_durable", "put_in_force", "sync"])
def test_a_crash_at_any_step_of_publishing_leaves_the_version_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    declaration = declared(tmp_path, SMALL, SPARK)
    published(declaration, 7)

    def failing(*_: Any) -> None:
        raise OSError("a secret cell")

    with monkeypatch.context() as patched:
        patched.setattr(spark_dataset, step, failing)
        with pytest.raises(Misconfigured, match="cannot be written") as found:
            published(declaration, 8)
    assert "secret" not in str(found.value)
    assert rows_of(declaration)["v"] == [(1, 7)]
    names = {path.name for path in declaration.datasets.iterdir()}
    assert names == {"dpcurator.json", open_snapshot(declaration).path.name}
    published(declaration, 9)
    assert (rows_of(declaration)["v"], open_snapshot(declaration).version) == ([(1, 9)], 2)


def test_the_version_before_stays_for_questions_that_are_being_answered_and_leavings_go(tmp_path: Path) -> None:
    declaration = declared(tmp_path, SMALL, SPARK)
    for x in (1, 2, 3):
        published(declaration, x)
    (declaration.datasets / "v0009-0123abcd" / "parts").mkdir(parents=True)  # of a refresh that was killed
    published(declaration, 4)
    kept = sorted(path.name[:5] for path in declaration.datasets.iterdir())
    assert kept == ["dpcur", "v0003", "v0004"]


def test_what_stands_in_the_declared_directory_is_left_alone(tmp_path: Path) -> None:
    engine = 'engine = "spark"\nspark = { master = "local[2]", path = "lake" }\n'
    declaration = declared(tmp_path / "a", SMALL, engine)
    lake = tmp_path / "a" / "lake"
    lake.mkdir()
    (lake / "thesis.txt").write_text("mine")
    with pytest.raises(Misconfigured, match="is not empty") as found:
        draft_of(declaration)
    assert "Name an empty directory" in found.value.cure
    assert (lake / "thesis.txt").read_text() == "mine"
    (lake / "thesis.txt").unlink()
    published(declaration, 1)
    other = declared(tmp_path / "b", SMALL, engine.replace('"lake"', f'"{lake}"'))
    with pytest.raises(Misconfigured, match="datasets of another catalog") as found:
        draft_of(other)
    assert "remove dpcurator.json" in found.value.cure
    with pytest.raises(Misconfigured, match="reads as a pattern"):
        draft_of(declared(tmp_path / "a", SMALL, engine.replace("lake", "la{k,e}")))
    shutil.rmtree(lake)
    lake.write_text("a file")
    with pytest.raises(Misconfigured, match="is no directory"):
        draft_of(declaration)


def test_a_directory_that_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    declaration = declared(tmp_path, SMALL, SPARK)
    published(declaration, 1)

    def refused(*_: Any, **__: Any) -> None:
        raise PermissionError("secret")

    monkeypatch.setattr(Path, "touch", refused)
    with pytest.raises(Misconfigured, match="cannot be written") as found:
        draft_of(declaration)
    assert "permissions" in found.value.cure
    assert rows_of(declaration)["v"] == [(1, 1)]


def test_a_snapshot_of_one_engine_is_not_opened_by_the_other(tmp_path: Path) -> None:
    there = declared(tmp_path, SMALL, SPARK)
    published(there, 1)
    here = declared(tmp_path, SMALL)
    with pytest.raises(Misconfigured, match="another engine than duckdb") as found:
        open_snapshot(here)
    assert found.value.cure == "Run `dpcurator refresh`."
    (tmp_path / "v.csv").write_text("who,x\n1,5\n")
    assert refresh(here).version == 2  # above that of the other engine
    with pytest.raises(Misconfigured, match="another engine than spark"):
        open_snapshot(declared(tmp_path, SMALL, SPARK))


def job_of(folder: Path, name: str, **more: Any) -> spark_parts.Job:
    declaration = as_read(declared(folder, SMALL, SPARK))
    return spark_parts.Job(declaration, 0, (str(folder / name),), str(folder), str(folder), (), None, **more)


def part(job: spark_parts.Job) -> dict[str, Any]:
    found = spark_parts.stored(job, 0, lambda loader: load_file(
        loader, 0, job.source, Path(job.files[0]), job.declaration))
    return json.loads(json.dumps(found))


def test_a_part_sends_what_a_report_needs_and_nothing_that_went_wrong_in_words(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("who,x\n1,2\n3,secret\n4\n,5\n")
    found = part(job_of(tmp_path, "v.csv"))
    report = TableReport("v", unreadable={"who": Trouble(), "x": Trouble()})
    spark_parts.add_part(report, found["report"])
    alone_report = refresh(declared(tmp_path, SMALL)).tables[0]
    assert report.as_json() == alone_report.as_json()
    assert not list(tmp_path.glob("dpcurator-part-*"))
    absent = part(job_of(tmp_path, "absent.csv"))
    assert "There is no file" in absent["wrong"][0]
    unwritten = job_of(tmp_path, "v.csv")
    shutil.rmtree(tmp_path / "gone", ignore_errors=True)
    object.__setattr__(unwritten, "parts", str(tmp_path / "gone"))
    assert "An executor cannot read a part of the data, or write it" in part(unwritten)["wrong"][0]
    other = part(job_of(tmp_path, "v.csv", version="0.0.0"))
    assert "Install the same version" in other["wrong"][2]
    assert "secret" not in str([absent, other])


@pytest.mark.slow
def test_a_worker_that_is_lost_is_told_and_the_version_before_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    spark, declaration = spark_or_skip(), declared(tmp_path, SMALL, SPARK)
    (tmp_path / "v.csv").write_text("who,x\n1,5\n")
    spark_refresh.refresh(declaration, spark)
    before = rows_of(declaration)

    def dying(job: Any) -> Any:
        def run(batches: Any) -> Any:
            print("SECRET", file=sys.stderr)
            os._exit(9)
            yield from batches

        return run

    def raising(job: Any) -> Any:
        def run(batches: Any) -> Any:
            raise ValueError(f"SECRET {list(batches)}")
            yield

        return run

    for broken in (dying, raising):
        monkeypatch.setattr(spark_refresh, "of_files", broken)
        with pytest.raises(Misconfigured, match="Spark did not end the refresh") as found:
            spark_refresh.refresh(declaration, spark)
        assert "SECRET" not in str(found.value)
        assert found.value.__cause__ is None
        assert found.value.__context__ is None
    assert rows_of(declaration) == before
    assert {path.name for path in declaration.datasets.iterdir()} == {"dpcurator.json",
                                                                     open_snapshot(declaration).path.name}
    assert "SECRET" not in "".join(capfd.readouterr())


KILLED = """
import os, signal, sys
from pathlib import Path
from dpcurator.catalog.load import load
from dpcurator.curator.opening import refresh_all
def killed(*_):
    os.kill(os.getpid(), signal.SIGKILL)
refresh_all(load(Path(sys.argv[1])), progress=killed)
"""


@pytest.mark.slow
def test_a_refresh_that_is_killed_leaves_the_version_before_and_nothing_after_the_next(tmp_path: Path) -> None:
    spark_or_skip()
    declaration = declared(tmp_path, SMALL, SPARK)
    (tmp_path / "v.csv").write_text("who,x\n1,5\n")
    refresh_all(declaration)
    (tmp_path / "v.csv").write_text("who,x\n1,6\n")
    command = [sys.executable, "-c", KILLED, str(tmp_path / "curator.toml")]
    ran = subprocess.run(command, capture_output=True, timeout=600)
    assert ran.returncode == -signal.SIGKILL, ran.stderr
    assert ran.stdout + ran.stderr == b""
    assert len(list(declaration.datasets.glob("v*"))) == 2
    assert rows_of(declaration)["v"] == [(1, 5)]
    refresh_all(declaration)
    assert rows_of(declaration)["v"] == [(1, 6)]
    assert sorted(path.name[:5] for path in declaration.datasets.glob("v*")) == ["v0001", "v0002"]
