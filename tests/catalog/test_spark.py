"""`[curator] engine` and `spark`, and tables that Spark reads: what is declared, and what is told of each fault."""

from __future__ import annotations

import pytest

from dpcurator.catalog.bind import schema_fingerprint
from dpcurator.catalog.declaration import Cluster, Declaration
from dpcurator.catalog.load import load
from dpcurator.catalog.spark import master_of
from dpcurator.errors import Misconfigured

CATALOG = """
[curator]
protects = "patients"
{curator}

[ledger]
epsilon = 4

[tables.visits]
unit = "who"
max_total = 5
{table}
columns = {{ who = "integer", age = {{ type = "integer", bounds = [0, 110] }} }}
"""
LOCAL = 'engine = "spark"\nspark = { master = "local[2]" }'


def declared(curator: str = LOCAL, table: str = 'file = "visits.csv"') -> Declaration:
    return load(CATALOG.format(curator=curator, table=table))


def test_the_engine_is_declared_and_is_part_of_no_fingerprint() -> None:
    assert declared(LOCAL).spark == Cluster("local[2]", ".dpcurator/datasets", 8)
    given = declared('engine = "spark"\nspark = { master = "env:SPARK_REMOTE or local[2]", path = "/lake/dp", '
                     "partitions = 400 }")
    assert given.spark == Cluster("env:SPARK_REMOTE or local[2]", "/lake/dp", 400)
    assert str(given.datasets) == "/lake/dp"
    plain = declared("")
    assert plain.spark is None
    assert schema_fingerprint(plain) == schema_fingerprint(given)


@pytest.mark.parametrize("master", ["local[2]", "spark://host:7077", "yarn", "k8s://host:6443", "sc://host:15002",
                                    "env:SPARK_REMOTE", "env:SPARK_REMOTE or sc://host:15002"])
def test_masters(master: str) -> None:
    spark = declared(f'engine = "spark"\nspark = {{ master = "{master}" }}').spark
    assert spark is not None
    assert spark.master == master


def test_tables_that_spark_reads() -> None:
    own, other = (declared(table=f"spark = {given}").sources[0] for given in (
        '{ table = "lake.visits" }', '{ table = "public.visits", jdbc = "env:CLINIC_JDBC" }'))
    assert (own.kind, own.place, own.relation) == ("spark", "", "lake.visits")
    assert (other.kind, other.place, other.relation) == ("spark", "env:CLINIC_JDBC", "public.visits")


@pytest.mark.parametrize(("curator", "told", "cure"), [
    ('engine = "sparks"', 'engine must be "duckdb" or "spark"', 'Did you mean "spark"'),
    ('engine = "spark"', "nothing says where Spark runs", 'spark = { master = "local[2]" }'),
    ('spark = { master = "local[2]" }', 'spark is for engine = "spark"', 'Add engine = "spark"'),
    ('engine = "spark"\nspark = { master = "local" }', "no address of Spark", 'master = "local[2]"'),
    ('engine = "spark"\nspark = { master = "local[2] or env:X" }', "no address of Spark", '"env:SPARK_REMOTE"'),
    ('engine = "spark"\nspark = { master = "env:X or here" }', "no address of Spark", '"env:SPARK_REMOTE"'),
    ('engine = "spark"\nspark = { master = "sc://h:1/;token=abc" }', "holds a token", "environment variable"),
    ('engine = "spark"\nspark = { master = "local[2]", path = "s3a://lake/dp" }', "no directory", "mounted"),
    ('engine = "spark"\nspark = { master = "local[2]", path = "" }', "no directory", "mounted"),
    ('engine = "spark"\nspark = { master = "local[2]", partitions = 0 }', "from 1 to 100000", "partitions = 8"),
    ('engine = "spark"\nspark = { master = "local[2]", partitions = true }', "from 1 to 100000", "partitions = 8"),
    ('engine = "spark"\nspark = { path = "/lake" }', "has no master", "master ="),
])
def test_faults_of_the_engine(curator: str, told: str, cure: str) -> None:
    with pytest.raises(Misconfigured) as found:
        declared(curator)
    assert told in str(found.value)
    assert cure in str(found.value)
    assert "abc" not in str(found.value)


@pytest.mark.parametrize(("curator", "table", "told", "cure"), [
    ("", 'spark = { table = "visits" }', 'engine = "spark" alone', 'engine = "spark" under [curator]'),
    (LOCAL, 'spark = { table = "visits; DROP" }', "no name of a table", "make a view"),
    (LOCAL, 'spark = { table = "visits", jdbc = "jdbc:postgresql://h/?password=abc" }', "no environment variable",
     'jdbc = "env:CLINIC_JDBC"'),
    (LOCAL, 'spark = { table = "visits" }\nfile = "visits.csv"', "one source", "Leave one out"),
    (LOCAL, 'file = "*.csv"\nappend_only = true', "append_only is for the engine duckdb", "Leave it out"),
])
def test_faults_of_the_tables(curator: str, table: str, told: str, cure: str) -> None:
    with pytest.raises(Misconfigured) as found:
        declared(curator, table)
    assert told in str(found.value)
    assert cure in str(found.value)
    assert "abc" not in str(found.value)


def test_the_master_is_the_environments_where_it_has_one_and_no_message_repeats_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    both, one = Cluster("env:SPARK_AT or local[2]", "", 8), Cluster("env:SPARK_AT", "", 8)
    monkeypatch.delenv("SPARK_AT", raising=False)
    assert master_of(both) == "local[2]"
    with pytest.raises(Misconfigured, match="SPARK_AT is not set") as found:
        master_of(one)
    assert "env:SPARK_AT or local[2]" in found.value.cure
    monkeypatch.setenv("SPARK_AT", "sc://host:15002/;token=secret")
    assert master_of(both) == master_of(one) == "sc://host:15002/;token=secret"
    monkeypatch.setenv("SPARK_AT", "host:15002;token=secret")
    with pytest.raises(Misconfigured, match="SPARK_AT is no address of Spark") as found:
        master_of(both)
    assert "secret" not in str(found.value)
