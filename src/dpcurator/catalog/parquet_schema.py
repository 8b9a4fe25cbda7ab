"""The column names and types of a Parquet file, for `init`; no row is read. Checked in tests/catalog/test_init.py."""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from dpcurator.errors import Misconfigured


def parquet_columns(path: Path) -> list[tuple[str, str]]:
    """(name, DuckDB type) per column. Raises Misconfigured when the file is not there or is no Parquet file."""
    import duckdb

    if not path.is_file():
        raise Misconfigured("There is no such file.", where=path.name, cure="Check its name.")
    with contextlib.closing(duckdb.connect()) as connection, plainly_named(path) as plain:
        try:
            rows = connection.execute("DESCRIBE SELECT * FROM read_parquet(?)", [plain]).fetchall()
        except duckdb.Error:
            raise Misconfigured("This is no Parquet file.", where=path.name, cure="Check that it is whole.") from None
    return [(str(row[0]), str(row[1])) for row in rows]


@contextlib.contextmanager
def plainly_named(path: Path) -> Iterator[str]:
    """The path under a name in which DuckDB sees no pattern: a link where the real one has such characters."""
    resolved = path.resolve()
    if not re.search(r"[*?\[\]{}:]", str(resolved)):
        yield str(resolved)
        return
    with tempfile.TemporaryDirectory(prefix="dpcurator-") as directory:
        link = Path(directory) / "source.parquet"
        link.symlink_to(resolved)
        yield str(link)
