"""The Spark session: made once a process, with every setting that touches rows written down.

Spark's words quote values: an error of a cast names what was cast, and its log repeats the error. So the JVM that is
started here writes to nothing, its log is off, and so is the logger with which PySpark repeats errors; what goes wrong
is told in constant words by whoever asked. A session over Spark Connect has the same settings, and a log of its own at
its server, which is the steward's to set. A forked child makes a session of its own: sockets are not shared.
Checked in tests/engines/spark/test_session.py.
"""

from __future__ import annotations

import atexit
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import warnings
from typing import TYPE_CHECKING, Any, Final

from dpcurator.engines.settings import MIB, Settings
from dpcurator.errors import Misconfigured

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INSTALL: Final = "Run: pip install 'dpcurator[spark]'"
MASTER: Final = re.compile(r"local\[[1-9][0-9]{0,2}\]|spark://[^\s]+|yarn|k8s://[^\s]+|sc://[^\s]+")
SETTINGS: Final = {  # of SQL: these touch rows, or what is said of them
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.ansi.enforceReservedKeywords": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.variable.substitute": "false",  # no ${...} within a statement
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",  # a quotient has 32 digits before its point, not 20
    # No conditions of Spark's own on what an expression computes: each writes the whole of it out once more at every
    # level below, in time exponential in the depth.
    "spark.sql.constraintPropagation.enabled": "false",
    # Nor are conditions moved below what is computed: that writes each column out again at every level it crosses.
    "spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.PushDownPredicates,"
                                         "org.apache.spark.sql.catalyst.optimizer.PushPredicateThroughNonJoin",
    "spark.sql.optimizer.dynamicPartitionPruning.enabled": "false",
    "spark.sql.optimizer.runtime.bloomFilter.enabled": "false",
    "spark.sql.optimizer.runtimeFilter.semiJoinReduction.enabled": "false",
    "spark.sql.analyzer.maxIterations": "1000",  # it resolves a table within another in each
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.legacy.ctePrecedencePolicy": "CORRECTED",  # of two tables of one name the inner one is meant
    "spark.sql.storeAssignmentPolicy": "ANSI",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.parquet.binaryAsString": "false",
    "spark.sql.parquet.mergeSchema": "false",
    "spark.sql.parquet.datetimeRebaseModeInRead": "EXCEPTION",
    "spark.sql.parquet.int96RebaseModeInRead": "EXCEPTION",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
    "spark.sql.debug.maxToStringFields": "25",
}
_QUIET: Final = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
_LOCK = threading.RLock()
_OPENED: Final[dict[int, tuple[str, Any]]] = {}  # by process: the master, and the session
_LEFT: Final[list[Any]] = []  # of a parent process: kept, since an end of theirs would speak through its sockets


def spark_session(master: str, *, settings: Settings) -> SparkSession:
    """The session of this process, made with its first engine and joined by others.

    master: local[2], spark://host:7077, yarn, k8s://host:port, or sc://host:15002 for a server of Spark Connect.
    settings: threads and memory are those of the driver, where this process starts it; a driver that runs keeps its
    own. Raises Misconfigured.

    Source: Zaharia et al., NSDI 2012 (resilient distributed datasets); the settings are those of Spark 4.
    """
    if not MASTER.fullmatch(master):
        raise Misconfigured("This is no master of Spark.", where="[curator] spark", cure="Write local[2], "
                            "spark://host:7077, yarn, k8s://host:6443 or sc://host:15002.")
    with _LOCK:
        standing = _OPENED.get(os.getpid())
        if standing is not None and _alive(standing[1]):
            if standing[0] != master:
                raise Misconfigured("This process uses Spark with another master already.", where="[curator] spark",
                                    cure="Use one master in a process, or start another process.")
            return _written_down(standing[1], settings)
        _quiet()
        session = _connected(master) if master.startswith("sc://") else _started(master, settings)
        _OPENED[os.getpid()] = (master, session)
        return _written_down(session, settings)


def is_connect(session: Any) -> bool:
    """Does a server of Spark Connect hold the session, rather than this process?"""
    return type(session).__module__.startswith("pyspark.sql.connect")


def _written_down(session: Any, settings: Settings) -> SparkSession:
    """Every time: somebody else in this process may have set others."""
    for name, value in SETTINGS.items():
        session.conf.set(name, value)
    session.conf.set("spark.sql.shuffle.partitions", str(settings.partitions))
    written: SparkSession = session
    return written


def _alive(session: Any) -> bool:
    if is_connect(session):
        return not session.is_stopped
    context = session._sc
    gateway = getattr(context, "_gateway", None)
    process = getattr(gateway, "proc", None)
    return context._jsc is not None and (process is None or process.poll() is None)


def _started(master: str, settings: Settings) -> Any:
    """A driver in a JVM of this process."""
    _java()
    try:
        from pyspark import SparkConf, SparkContext
        from pyspark.java_gateway import launch_gateway
        from pyspark.sql import SparkSession
    except ImportError:
        raise Misconfigured("Spark is reached through pyspark, which is not installed.", where="[curator] spark",
                            cure=INSTALL) from None
    if SparkContext._active_spark_context is not None and SparkContext._active_spark_context._jsc is not None:
        raise Misconfigured("This process has a Spark session of its own, whose log may show values.",
                            where="[curator] spark", cure="Stop it before the curator is opened: session.stop(). Or "
                            "use a process of its own, or a server of Spark Connect.")
    if SparkContext._gateway is not None:  # of a session that was stopped, or whose JVM has ended
        _forget(SparkContext)
    conf = SparkConf(loadDefaults=False)
    for name, value in _driver(master, settings).items():
        conf.set(name, value)
    failed = False
    try:
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        launch: Any = launch_gateway
        gateway = launch(conf, popen_kwargs=silent)
        context = SparkContext(conf=conf, gateway=gateway)
        context.setLogLevel("OFF")
        if master.startswith("local") and "PYSPARK_PYTHON" not in os.environ:
            context.pythonExec = sys.executable
        session = SparkSession(context)
    except Exception:  # its words may name hosts and tokens
        failed = True
    if failed:
        raise Misconfigured("Spark cannot be started at the master that is declared.", where="[curator] spark",
                            cure="Check the master and that Java 17 or later is here; to see why, run: spark-submit "
                            "--master MASTER --version")
    atexit.register(_stop, session, os.getpid())
    return session


def _driver(master: str, settings: Settings) -> dict[str, str]:
    """What can be said only when a driver starts."""
    own = settings.spill
    if own is None:
        own = tempfile.mkdtemp(prefix="dpcurator-spark-")
        atexit.register(_remove, own, os.getpid())
    else:
        os.makedirs(own, mode=0o700, exist_ok=True)
    place = os.path.abspath(os.fspath(own))
    local = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    return (local if master.startswith("local") else {}) | {
        "spark.master": master,
        "spark.app.name": "dpcurator",
        "spark.driver.memory": f"{settings.memory // MIB:d}m",
        "spark.driver.maxResultSize": "0",  # no limit of Spark's own, 1 GB, on how many keys the data has
        "spark.local.dir": place,
        "spark.sql.warehouse.dir": os.path.join(place, "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.eventLog.enabled": "false",  # it keeps the words of errors
        "spark.log.level": "OFF",
        "spark.executor.syncLogLevel.enabled": "true",
    }


def _java() -> None:
    """Raises Misconfigured where there is none."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which(os.path.join(home, "bin", "java")) if home else shutil.which("java")
    if found is None:
        raise Misconfigured("Spark needs Java, and there is none" + (" where JAVA_HOME says." if home else "."),
                            where="[curator] spark", cure="Install Java 17 or later, as in: apt-get install "
                            "openjdk-17-jre-headless" + ("; or unset JAVA_HOME." if home else "."))


def _connected(master: str) -> Any:
    """A session at a server of Spark Connect."""
    failed = ""
    try:
        from pyspark.sql.connect.session import SparkSession

        session = SparkSession.builder.remote(master).create()
        session.version  # noqa: B018  # it asks the server
    except ImportError:
        failed = "import"
    except Exception:
        failed = "server"
    if failed == "import":
        raise Misconfigured("Spark Connect is reached through pyspark and grpcio, which are not installed.",
                            where="[curator] spark", cure=INSTALL)
    if failed:
        raise Misconfigured("The server of Spark Connect cannot be reached.", where="[curator] spark",
                            cure="Check that it runs, its host, port and token: sc://host:15002/;token=...")
    return session


def _quiet() -> None:
    """PySpark repeats each error of a statement on stderr, with the value that it is about; and it warns of versions of
    pandas, which nothing here uses."""
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    try:
        from pyspark.logger import PySparkLogger
    except ImportError:
        return
    for name in _QUIET:
        logger = PySparkLogger.getLogger(name)
        logger.setLevel(logging.CRITICAL + 1)
        logger.disabled = True


def _stop(session: Any, process: int) -> None:
    if os.getpid() == process:
        with _LOCK:
            try:
                session.stop()
            except Exception:  # its JVM has ended
                return


def _remove(directory: str, process: int) -> None:
    if os.getpid() == process:  # a forked child ends too
        shutil.rmtree(directory, ignore_errors=True)


def _forget(context: Any) -> None:
    """Let the next session start a JVM anew."""
    from pyspark.sql import SparkSession

    _LEFT.append((context._gateway, context._jvm, context._active_spark_context, SparkSession._instantiatedSession))
    context._gateway = context._jvm = context._active_spark_context = None
    SparkSession._instantiatedSession = None


def _abandon() -> None:
    """In a forked child: never speak through the parent's sockets."""
    global _LOCK
    _LOCK = threading.RLock()
    _LEFT.extend(_OPENED.values())
    _OPENED.clear()
    module = sys.modules.get("pyspark.core.context")
    if module is None or module.SparkContext._gateway is None:
        return
    client = getattr(module.SparkContext._gateway, "_gateway_client", None)
    if client is not None:
        client.is_connected = False  # or an object's end would tell the JVM
    _forget(module.SparkContext)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon)
