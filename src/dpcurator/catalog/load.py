"""`load`: from curator.toml to a `Declaration`, or to every fault of the file at once, each with its line and cure.

Reading order: TOML (tomllib), shape (schema), meaning (in `promise`, `tables`, `columns`). Nothing is read but the file
itself: sources are not opened, so `load` is free and depends on public facts alone. Checked in tests/catalog.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dpcurator.catalog.declaration import Cluster, Declaration, LedgerServer, Source
from dpcurator.catalog.limits import LARGEST_FILE, within_limits
from dpcurator.catalog.model import Table
from dpcurator.catalog.parts import read, section
from dpcurator.catalog.positions import line_of, positions
from dpcurator.catalog.problems import Problems, dotted, nearest
from dpcurator.catalog.promise import declare_promise, unknown_keys_are_paid_for
from dpcurator.catalog.schema import CuratorFields, LedgerFields
from dpcurator.catalog.spark import names_master
from dpcurator.catalog.tables import declare_tables
from dpcurator.errors import Misconfigured
from dpcurator.postgres import variable_of

_MANY_DIGITS = re.compile(r"[0-9_]{4000}")
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_PLACE = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)")


def load(source: str | Path | Mapping[str, Any], *, directory: Path | None = None) -> Declaration:
    """The catalog in a file (a path), in TOML text (a str with a line break), or in a dict of the same fields.

    directory: what relative paths are relative to and where `.dpcurator` is; default the file's own, else the current
    one. Raises Misconfigured, whose text has a line `curator.toml:17: what. cure` for every fault.
    """
    if isinstance(source, Mapping):
        return _declare(source, Problems("catalog"), directory or Path.cwd())
    if isinstance(source, str) and "\n" in source:
        return _parse(source, "curator.toml", directory or Path.cwd())
    path = Path(source)
    return _parse(_read(path), path.name, directory or path.resolve().parent)


def _read(path: Path) -> str:
    cure = "Draft one with `dpcurator init data.csv`."
    try:
        data = path.read_bytes() if path.stat().st_size <= LARGEST_FILE else None
    except FileNotFoundError:
        raise Misconfigured("There is no such catalog file.", where=path.name, cure=cure) from None
    except IsADirectoryError:
        raise Misconfigured("This is a directory, not a catalog file.", where=path.name, cure=cure) from None
    except (OSError, ValueError):  # ValueError: a NUL character in the path
        raise Misconfigured("The catalog file cannot be opened.", where=path.name,
                            cure="Check its name and permissions.") from None
    if data is None:
        raise Misconfigured(f"The catalog file has more than {LARGEST_FILE:,} bytes, the limit.", where=path.name,
                            cure="Long key lists belong in a public table: keys = { table = ... }.")
    try:
        return data.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise Misconfigured("The file is not UTF-8 here.", where=f"{path.name}:{line}",
                            cure="Save it as UTF-8, as TOML asks.") from None


def _parse(text: str, name: str, directory: Path) -> Declaration:
    lines = positions(text)
    try:
        raw = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise _syntax(error, text, name, lines) from None
    except ValueError:  # of Python's int: the one thing tomllib does not refuse in its own words
        line = next((i for i, one in enumerate(text.splitlines(), 1) if _MANY_DIGITS.search(one)), 1)
        raise Misconfigured("This number has more than 4,000 digits.", where=f"{name}:{line}",
                            cure="Write a smaller one.") from None
    return _declare(raw, Problems(name, lines, max(1, len(text.splitlines()))), directory)


def _syntax(error: Exception, text: str, name: str, lines: dict[Any, list[int]]) -> Misconfigured:
    message = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "Nested too deeply"
    found = _PLACE.search(message)
    line = int(found[1]) if found and found[1] else text.count("\n") + 1
    for path, at in lines.items():
        if len(at) > 1 and line in at[1:]:
            return Misconfigured(
                f"{dotted(path)} is given twice, first on line {at[0]}.",
                where=f"{name}:{line}",
                cure="Keep one of them.",
            )
    return Misconfigured(f"This is not TOML: {_PLACE.sub('', message)}.", where=f"{name}:{line}",
                         cure="Mend this line; text goes in quotes, lists in [ ], a name appears once.")


def _declare(raw: Mapping[str, Any], problems: Problems, directory: Path) -> Declaration:
    if not within_limits(raw, problems):
        problems.raise_all()
    known = ("curator", "ledger", "tables")
    for name in raw:
        if name not in known:
            problems.add((name,), f"{dotted((name,))} is no section of a catalog.", nearest(name, known))
    curator = read(CuratorFields, section(raw, "curator", problems), ("curator",), problems)
    ledger = read(LedgerFields, section(raw, "ledger", problems), ("ledger",), problems)
    promise = declare_promise(curator, ledger, problems)
    threads, memory = _resources(curator, problems)
    server, cluster = _server(ledger, problems), _cluster(curator, problems)
    declared = declare_tables(section(raw, "tables", problems), problems)
    _spark_tables(declared.tables, declared.sources, cluster, problems)
    unknown_keys_are_paid_for(promise, declared.tables, problems)
    problems.raise_all()
    places = {path: line_of(problems.lines, path) for path in problems.lines if path[0] == "tables"}
    return Declaration(
        name=problems.name, directory=Path(directory), protects=promise.protects, neighbours=promise.neighbours,
        units=promise.units, epsilon=promise.epsilon, delta=promise.delta, tables=declared.tables,
        sources=declared.sources, public_keys=declared.public_keys, rho=promise.rho, salt=promise.salt,
        threads=threads, memory=memory, spark=cluster, ledger=server,
        lines={_short(path): line for path, line in places.items() if line and len(path) in (2, 4)},
    )


def _server(fields: LedgerFields | None, problems: Problems) -> LedgerServer | None:
    """Where `[ledger] store` says that the ledger is."""
    if fields is None or fields.store is None:
        return None
    try:
        return ledger_server(fields.store.postgres, fields.store.schema_)
    except Misconfigured as error:
        problems.add(("ledger", "store", error.where), error.what, error.cure)
        return None


def ledger_server(postgres: str, schema: str) -> LedgerServer:
    """The place these two fields name. Raises Misconfigured, whose `where` is the field that is wrong."""
    if not variable_of(postgres):
        raise Misconfigured("This names no environment variable.", where="postgres", cure="Write env:LEDGER_DSN, and "
                            "put the connection string into that environment variable.")
    if not _SCHEMA.fullmatch(schema) or schema.startswith("pg_"):
        raise Misconfigured("A schema's name has up to 63 small letters, digits and _, no digit first, and does not "
                            "begin with pg_.", where="schema", cure="Leave it out, for dpcurator.")
    return LedgerServer(postgres, schema)


def _cluster(fields: CuratorFields | None, problems: Problems) -> Cluster | None:
    """Where `[curator] spark` says that the engine runs."""
    if fields is None:
        return None
    here = ("curator", "engine")
    if fields.engine not in ("duckdb", "spark"):
        problems.add(here, 'engine must be "duckdb" or "spark".', nearest(fields.engine, ("duckdb", "spark")))
    if fields.spark is not None and fields.engine == "duckdb":
        problems.add(("curator", "spark"), 'spark is for engine = "spark".', 'Add engine = "spark", or leave it out.')
    if fields.engine != "spark":
        return None
    if fields.spark is None:
        problems.add(here, "engine is spark, and nothing says where Spark runs.",
                     'Add a line: spark = { master = "local[2]" }')
        return None
    given = fields.spark
    where = ("curator", "spark")
    if not names_master(given.master):
        problems.add((*where, "master"), "master is no address of Spark, and names no environment variable.",
                     'Write master = "local[2]", "spark://host:7077", "yarn", "sc://host:15002" or "env:SPARK_REMOTE".')
    elif ";token=" in given.master or "@" in given.master:
        problems.add((*where, "master"), "master holds a token or a password.",
                     'Put the address into an environment variable: master = "env:SPARK_REMOTE".')
    if not given.path or "\0" in given.path or "://" in given.path:
        problems.add((*where, "path"), "path is no directory that this machine reaches.",
                     'Write a path as in path = "/lake/dpcurator", where the storage of the cluster is mounted.')
    partitions = given.partitions
    if type(partitions) is not int or not 1 <= partitions <= 100_000:
        problems.add((*where, "partitions"), "partitions must be a whole number from 1 to 100000.",
                     "Write partitions = 8.")
        partitions = 8
    return Cluster(given.master, given.path, partitions)


def _spark_tables(
    tables: Sequence[Table], sources: Sequence[Source], cluster: Cluster | None, problems: Problems
) -> None:
    """What goes with one engine alone."""
    for table, source in zip(tables, sources, strict=True):
        path = ("tables", table.name)
        if source.kind == "spark" and cluster is None:
            problems.add((*path, "spark"), "A table of Spark's is read with engine = \"spark\" alone.",
                         'Write engine = "spark" under [curator], and spark = { master = "local[2]" }.')
        if source.append_only and cluster is not None:
            problems.add((*path, "append_only"), "append_only is for the engine duckdb.",
                         "Leave it out: Spark reads all files at each refresh.")


def _resources(fields: CuratorFields | None, problems: Problems) -> tuple[int, int]:
    """Threads of the engine and the MiB it may use."""
    if fields is None:
        return 4, 1536
    threads, memory = fields.threads, fields.memory
    if type(threads) is not int or not 1 <= threads <= 256:
        problems.add(("curator", "threads"), "threads must be a whole number from 1 to 256.", "Write threads = 4.")
        threads = 4
    least = 512 + 240 * threads  # MiB; engines/settings.py says why, and refuses less
    memory = max(1536, least) if memory is None else memory
    if type(memory) is not int or not least <= memory <= 2**30:
        problems.add(("curator", "memory"), f"memory must be a whole number of MiB, at least {least:,} with "
                     f"{threads} threads.", f"Write memory = {max(1536, least)}.")
        memory = max(1536, least)
    return threads, memory


def _short(path: tuple[str | int, ...]) -> tuple[str, ...]:
    """("tables", "visits", "columns", "age") as ("visits", "age")."""
    return tuple(str(part) for part in (path[1], *path[3:]))
