"""Engines: what turns a core plan and a stored table into exact integers, and does nothing else.

An engine never rounds, chooses, samples, logs or shows; on one plan and one table all engines give the same integers.
ENGINES is the one list: the product opens the first in it that reads a snapshot (`stored_engine`), `break-me` compares
all that run in its process, and the tests of engines run each against `reference` and against tables worked by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from dpcurator.engines.engine import Engine, StoredEngine
from dpcurator.errors import Misconfigured
from dpcurator.plan.core import CorePlan


class Known(NamedTuple):
    """One engine of the list. `load` imports its class; `opens`: the same, where it opens snapshots. beside: it runs
    beside this process, as what has to be installed and started, so `break-me` leaves it out."""

    name: str
    load: Callable[[], type[Engine]]
    opens: Callable[[], type[StoredEngine]] | None = None
    beside: bool = False


def _reference() -> type[Engine]:
    from dpcurator.engines.reference import Reference

    return Reference


def _duckdb() -> type[StoredEngine]:
    from dpcurator.engines.duckdb.engine import DuckDB

    return DuckDB


def _spark() -> type[StoredEngine]:
    from dpcurator.engines.spark.engine import Spark

    return Spark


ENGINES: Final = (Known("reference", _reference), Known("duckdb", _duckdb, _duckdb),
                  Known("spark", _spark, _spark, beside=True))


def stored_engine(name: str = "duckdb") -> type[StoredEngine]:
    """The engine of this name, which opens snapshots and answers. Raises Misconfigured where there is none."""
    for one in ENGINES:
        if one.name == name and one.opens is not None:
            return one.opens()
    raise Misconfigured(f"No engine {name} answers questions here.", where="[curator] engine",
                        cure='Leave engine out, for "duckdb".')


def check_on(engine: Engine, cores: Sequence[CorePlan]) -> None:
    """Raises Refusal where this engine has a limit of its own that these plans pass, by the plans alone. Before a
    charge, beside `limits.check_core`, which holds for every engine."""
    own = getattr(engine, "check", None)
    if own is not None:
        own(cores)


__all__ = ["ENGINES", "Engine", "Known", "StoredEngine", "check_on", "stored_engine"]
