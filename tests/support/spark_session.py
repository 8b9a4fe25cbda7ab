"""The Spark session of a test run: `local[2]`, one a process; where pyspark or Java is missing, tests are skipped."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from dpcurator.engines.settings import Settings

MASTER = "local[2]"
PLAIN = {"codegen_factoryMode": "NO_CODEGEN", "codegen_wholeStage": "false", "adaptive_enabled": "false"}  # for speed
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")  # a third of the processor's time


def spark_or_skip(*, master: str = MASTER) -> Any:
    """The session. Skips the test, with the reason, where there can be none."""
    if (lacking := what_is_lacking()) is not None:
        pytest.skip(lacking)
    from dpcurator.engines.spark.session import spark_session

    return spark_session(master, settings=Settings(master=master))


def what_is_lacking() -> str | None:
    """Why there can be no session here."""
    if importlib.util.find_spec("pyspark") is None:
        return "the extra spark is not installed"
    return "no Java is installed" if shutil.which("java") is None else None


@contextmanager
def settings(**values: str) -> Iterator[None]:
    """Engines run with these settings of SQL: ansi_enabled for spark.sql.ansi.enabled."""
    from dpcurator.engines.spark.session import SETTINGS

    named = {f"spark.sql.{name.replace('_', '.')}": value for name, value in values.items()}
    before, session = dict(SETTINGS), spark_or_skip()
    held = {name: session.conf.get(name, None) for name in named}
    SETTINGS.update(named)
    try:
        yield
    finally:
        SETTINGS.clear()
        SETTINGS.update(before)
        for name, value in held.items():
            session.conf.unset(name) if value is None else session.conf.set(name, value)
