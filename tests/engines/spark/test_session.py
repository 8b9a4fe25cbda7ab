"""The Spark session: what it writes, which settings it has, and what it says where there can be none."""

from __future__ import annotations

import subprocess
import sys

import pytest
from spark_session import MASTER, spark_or_skip

from dpcurator.engines.settings import Settings
from dpcurator.engines.spark.session import SETTINGS, spark_session
from dpcurator.errors import Misconfigured

FORCED = """
import os, sys
from dpcurator.engines.settings import Settings
from dpcurator.engines.spark.session import spark_session

spark = spark_session(sys.argv[1], settings=Settings())
failed = 0
for query in ("SELECT CAST(c AS INT) FROM VALUES ('SECRET-CAST') AS t(c)",
              "SELECT CAST(concat('SECRET-CAST', id) AS INT) FROM range(10)",
              "SELECT raise_error(concat('SECRET-TASK', id)) FROM range(10)", "SELECT secret_column FROM range(10)"):
    try:
        spark.sql(query).collect()
    except Exception:
        failed += 1

def broken(batches):
    print("SECRET-PRINTED")
    print("SECRET-PRINTED", file=sys.stderr)
    raise ValueError("SECRET-PYTHON")

try:
    spark.range(4).mapInArrow(broken, "id long").collect()
except Exception:
    failed += 1
child = os.fork()
if not child:
    try:
        ok = spark_session(sys.argv[1], settings=Settings()).range(5).count() == 5
    except Exception:
        ok = False
    sys.exit(0 if ok else 1)
forked = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print("failed", failed, "rows", spark.range(7).count(), "child", forked)
"""


@pytest.mark.slow
def test_a_forced_failure_writes_no_value_to_stdout_or_stderr_and_a_forked_child_makes_its_own() -> None:
    spark_or_skip()
    ran = subprocess.run([sys.executable, "-c", FORCED, MASTER], capture_output=True, text=True, timeout=600)
    assert ran.stdout == "failed 5 rows 7 child 0\n", ran.stderr
    assert "SECRET" not in ran.stderr.upper()


def test_every_setting_that_touches_rows_is_written_down_again_for_each_engine(
    capfd: pytest.CaptureFixture[str],
) -> None:
    spark = spark_or_skip()
    spark.conf.set("spark.sql.ansi.enabled", "false")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    assert spark_session(MASTER, settings=Settings(partitions=3)) is spark
    assert {name: spark.conf.get(name) for name in SETTINGS} == SETTINGS
    assert spark.conf.get("spark.sql.shuffle.partitions") == "3"
    assert spark.sparkContext.getConf().get("spark.log.level") == "OFF"
    # else a question ends where the keys that nobody listed pass 1 GB
    assert spark.sparkContext.getConf().get("spark.driver.maxResultSize") == "0"
    with pytest.raises(Exception, match="SECRET"):
        spark.sql("SELECT CAST(c AS INT) FROM VALUES ('SECRET') AS t(c)").collect()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("master", ["", "local", "local[0]", "local[*]", "http://host", "sc://", "local[2] x"])
def test_a_wrong_master_is_told_with_its_cure(master: str) -> None:
    with pytest.raises(Misconfigured, match="no master of Spark") as found:
        spark_session(master, settings=Settings())
    assert "local[2]" in found.value.cure


def test_one_process_has_one_master() -> None:
    spark_or_skip()
    with pytest.raises(Misconfigured, match="another master already"):
        spark_session("local[3]", settings=Settings())


@pytest.mark.parametrize("home", [True, False])
def test_a_missing_java_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: object, home: bool) -> None:
    pytest.importorskip("pyspark", reason="the extra spark is not installed")
    monkeypatch.setattr("dpcurator.engines.spark.session._OPENED", {})
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path)) if home else monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(Misconfigured, match="Spark needs Java") as found:
        spark_session(MASTER, settings=Settings())
    assert "openjdk-17-jre-headless" in found.value.cure


def test_a_missing_pyspark_is_told_with_the_extra_that_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpcurator.engines.spark.session._OPENED", {})
    monkeypatch.setattr("dpcurator.engines.spark.session._java", lambda: None)
    for name in [name for name in sys.modules if name == "pyspark" or name.startswith("pyspark.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyspark", None)  # type: ignore[arg-type]
    for master in (MASTER, "sc://localhost:1"):
        with pytest.raises(Misconfigured, match="not installed") as found:
            spark_session(master, settings=Settings())
        assert "pip install 'dpcurator[spark]'" in found.value.cure


def test_a_session_of_somebody_else_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    spark_or_skip()
    monkeypatch.setattr("dpcurator.engines.spark.session._OPENED", {})
    with pytest.raises(Misconfigured, match="Spark session of its own"):
        spark_session(MASTER, settings=Settings())
    monkeypatch.undo()
    assert spark_or_skip().range(3).count() == 3
