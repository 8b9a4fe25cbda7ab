"""The engine over Spark Connect: a server of its own beside the test, a client in a process of its own."""

from __future__ import annotations

import importlib.util
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from spark_session import what_is_lacking

CLIENT = """
import sys
from pathlib import Path
from dpcurator.catalog.load import load
from dpcurator.curator.opening import curator_of, refresh_all
from dpcurator.errors import Misconfigured
from dpcurator.engines.spark.session import is_connect, spark_session
from dpcurator.curator.opening import settings_of

folder = Path(sys.argv[1])
TEXT = '''
[curator]
protects = "patients"
{engine}
[ledger]
epsilon = 1000000000000
[tables.cities]
public = true
file = "cities.csv"
columns = {{ city = "text" }}
[tables.visits]
unit = "who"
max_total = 4
max_groups = 2
file = "visits*.csv"
distinct = ["visit"]
[tables.visits.columns]
who = "text"
visit = "integer"
city = {{ type = "text", keys = {{ table = "cities", column = "city" }} }}
age = {{ type = "integer", bounds = [0, 110] }}
'''
QUESTION = "SELECT city, COUNT(*) AS n, SUM(age) AS total FROM visits GROUP BY city"
answers, told = [], []
SPARK = 'engine = "spark"\\nspark = { master = "env:SPARK_AT", partitions = 3 }'
for name, engine in (("duckdb", ""), ("spark", SPARK)):
    (folder / name).mkdir()
    (folder / name / "cities.csv").write_text("city\\nLeeds\\nYork\\n")
    for n in (1, 2):
        rows = "".join(f"p{i % 5},{i},{'York' if i % 3 else 'Leeds'},{i * n % 120}\\n" for i in range(n, 40))
        (folder / name / f"visits{n}.csv").write_text("who,visit,city,age\\n" + rows + '"bro"ken,1,1,1\\n,5,Hull,x\\n')
    declaration = load(TEXT.format(engine=engine), directory=folder / name)
    told.append(refresh_all(declaration).as_json())
    answers.append(sorted(curator_of(declaration).ask(QUESTION, spend="1%").rows))
settings = settings_of(declaration)
session = spark_session(settings.master, settings=settings)
assert is_connect(session)
try:
    session.sql("SELECT CAST(concat('SECRET', id) AS INT) FROM range(4)").collect()
except Exception:
    pass
(folder / "spark" / "visits1.csv").unlink()
(folder / "spark" / "visits2.csv").write_text("who,visit\\n1,2\\n")
try:
    refresh_all(declaration)
except Misconfigured as error:
    print(error.what)
print(answers[0] == answers[1], told[0] == told[1], len(answers[0]))
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """The address of a server of Spark Connect."""
    lacking = what_is_lacking() or ("grpcio is not installed" if importlib.util.find_spec("grpc") is None else "")
    if lacking:
        pytest.skip(lacking)
    import pyspark

    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    settings = {"spark.connect.grpc.binding.port": port, "spark.ui.enabled": "false", "spark.log.level": "OFF",
                "spark.driver.memory": "1g", "spark.local.dir": tmp_path, "spark.driver.host": "127.0.0.1",
                "spark.driver.bindAddress": "127.0.0.1", "spark.sql.warehouse.dir": tmp_path / "warehouse"}
    more = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    kind = "org.apache.spark.sql.connect.service.SparkConnectServer"
    started = subprocess.Popen(
        [str(submit), "--class", kind, "--master", "local[2]", *more], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, env=os.environ | {"PYSPARK_PYTHON": sys.executable}, cwd=tmp_path)
    try:
        while started.poll() is None:
            with socket.socket() as tried:
                if tried.connect_ex(("localhost", port)) == 0:
                    break
            time.sleep(0.5)
        assert started.poll() is None
        yield f"sc://localhost:{port}"
    finally:
        started.terminate()
        started.wait(60)


@pytest.mark.slow
def test_a_server_of_spark_connect_reads_and_answers_as_duckdb_does(server: str, tmp_path: Path) -> None:
    (tmp_path / "client").mkdir()
    ran = subprocess.run([sys.executable, "-c", CLIENT, str(tmp_path / "client")], capture_output=True, text=True,
                         timeout=900, env=os.environ | {"SPARK_AT": server})
    assert ran.stdout == '"visits2.csv" has no column "city".\nTrue True 2\n', ran.stderr[-3000:]
    assert "SECRET" not in ran.stderr.upper()
