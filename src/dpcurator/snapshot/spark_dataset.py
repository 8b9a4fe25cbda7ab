"""Datasets of the Spark engine: `PATH/vNNNN-xxxxxxxx/t0`, `t1`, ... of Parquet files; `facts.json` names one of them.

A version is written under a name that no other has, made durable, and only then named by the record beside the catalog,
which is replaced by one rename on this machine: so the storage of a cluster needs no rename of its own, and a crash at
any point leaves the version before in force, whole. Its leavings are cleared by the next refresh. The version before is
kept for questions that are being answered. A directory that holds anything else is left alone. Checked in
tests/snapshot/test_spark_refresh.py.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from dpcurator.catalog.declaration import Declaration
from dpcurator.catalog.problems import text
from dpcurator.catalog.spark import PATTERN
from dpcurator.errors import Misconfigured
from dpcurator.snapshot.store import put_in_force, recorded, sync
from dpcurator.values import read_json

MARKER: Final = "dpcurator.json"  # says whose datasets a directory has
SCHEMA: Final = "schema.json"  # {"t0": {"c0": "integer", ...}, ...}: a dataset's tables, which nothing infers
_NAME: Final = re.compile(r"v(\d{4,})-[0-9a-f]{8}")
_SNAPSHOT: Final = re.compile(r"snapshot-(\d{4,})\.duckdb")


class DatasetDraft:
    """A dataset being written: nothing sees it until `publish`, and leaving without that removes it."""

    def __init__(self, declaration: Declaration, after: int = 0) -> None:
        import duckdb

        self.write_errors: tuple[type[Exception], ...] = (duckdb.Error, OSError)
        self.declaration, self.state, self.place = declaration, declaration.state, declaration.datasets
        before = recorded(self.state) or {}
        self.names: dict[str, int] = before.get("names", {})
        self.kinds: list[list[Any]] = before.get("kinds", [])
        self.previous: str | None = before.get("dataset")
        _claim(self.place, self.state)
        self._clear()
        taken = [before.get("version", 0), after]
        taken += [int(found[1]) for entry in self.state.iterdir() if (found := _SNAPSHOT.fullmatch(entry.name))]
        taken += [int(found[1]) for entry in self.place.iterdir() if (found := _NAME.fullmatch(entry.name))]
        self.version = max(taken) + 1
        self.path = self.place / f"v{self.version:04d}-{uuid.uuid4().hex[:8]}"
        _make(self.path)
        self.parts = self.path / "parts"  # what was read, before rules that look at whole tables
        _make(self.parts)

    def publish(
        self, keys: list[tuple[tuple[str, str], tuple[Any, ...]]], name: str | None,
        most: Mapping[tuple[str, str], int], ends: Mapping[tuple[str, str], tuple[str, str]],
    ) -> None:
        """Put the dataset in force. As `store.Draft.publish`."""
        shutil.rmtree(self.parts)
        schema = {f"t{i}": {f"c{j}": column.kind for j, column in enumerate(table.columns)}
                  for i, table in enumerate(self.declaration.tables)}
        (self.path / SCHEMA).write_text(json.dumps(schema), encoding="ascii")
        _durable(self.path)
        sync(self.place)
        names = self.names if name is None else self.names | {name: self.version}
        put_in_force(self.declaration, self.version, keys, most, ends,
                     {"name": name, "names": names, "dataset": self.path.name, "kinds": self.kinds})
        self._clear(self.path.name)

    def discard(self) -> None:
        """Remove what was not published."""
        if (recorded(self.state) or {}).get("dataset") != self.path.name:
            shutil.rmtree(self.path, ignore_errors=True)

    def _clear(self, *keep: str) -> None:
        """Remove what refreshes that were killed have left, and versions that nobody can be asking any more."""
        for entry in self.place.iterdir():
            if _NAME.fullmatch(entry.name) and entry.name not in (self.previous, *keep):
                shutil.rmtree(entry, ignore_errors=True)


def _claim(place: Path, state: Path) -> None:
    """Make the directory of datasets, or see that it is this catalog's. Raises Misconfigured."""
    where, shown = "[curator] spark", text(str(place))
    if PATTERN.search(str(place.resolve())):
        raise Misconfigured(f"{shown} has one of * ? [ ] {{ }} and \\, which Spark reads as a pattern.", where=where,
                            cure="Name another directory as path.")
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        marker, mine = place / MARKER, str(state.resolve())
        if marker.exists():
            if read_json(marker.read_text("utf-8")).get("catalog") == mine:
                _try(place)
                return
            raise Misconfigured(f"{shown} holds datasets of another catalog.", where=where,
                                cure="Name a directory of its own as path. Or, where that catalog was moved here or is "
                                f"gone, remove {MARKER} and what is beside it.")
        if any(place.iterdir()):
            raise Misconfigured(f"{shown} is not empty, and holds no datasets of this catalog.", where=where,
                                cure="Name an empty directory, or one that is not there yet, as path.")
        marker.write_text(json.dumps({"catalog": mine}), encoding="utf-8")
    except FileExistsError:
        raise Misconfigured(f"{shown} is no directory.", where=where, cure="Name a directory as path.") from None
    except (OSError, ValueError, AttributeError):
        raise Misconfigured(f"{shown} cannot be written.", where=where,
                            cure="Check the permissions and the room there, or name another directory as path."
                            ) from None


def _try(place: Path) -> None:
    """Raises OSError where nothing can be written."""
    tried = place / f".{uuid.uuid4().hex[:8]}"
    tried.touch()
    tried.unlink()


def _make(path: Path) -> None:
    """A directory for those that its parent is for: executors may run as another user than this process."""
    path.mkdir()
    path.chmod(stat.S_IMODE(path.parent.stat().st_mode))


def _durable(path: Path) -> None:
    for directory, _, files in os.walk(path):
        for name in files:
            sync(Path(directory) / name)
        sync(Path(directory))
