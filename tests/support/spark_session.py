"""The Spark session of a test run: `local[2]`, one a process; where pyspark or Java is missing, tests are skipped."""

from __future__ import annotations

import importlib.util
import shutil
from typing import Any

import pytest

from dpcurator.engines.settings import Settings

MASTER = "local[2]"


def spark_or_skip(*, master: str = MASTER) -> Any:
    """The session. Skips the test, with the reason, where there can be none."""
    if importlib.util.find_spec("pyspark") is None:
        pytest.skip("the extra spark is not installed")
    if shutil.which("java") is None:
        pytest.skip("no Java is installed")
    from dpcurator.engines.spark.session import spark_session

    return spark_session(master, settings=Settings(master=master))
