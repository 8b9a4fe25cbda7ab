"""Running the server: where it listens, how it ends, and connections that never say what they want.

It listens on this machine alone unless told otherwise, and to others without TLS only when told so in so many words. A
stop waits for the requests that are being answered, so no charge is left without its answer; what a kill leaves, the
same request resumes. Several workers are processes over one ledger, which is what keeps them within one budget.
Checked in tests/server/test_running.py.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import os
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any, Final

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.supervisors import Multiprocess

from dpcurator.errors import DpcuratorError, Misconfigured
from dpcurator.server.access import Access
from dpcurator.server.application import application
from dpcurator.server.limits import LARGEST_HEAD, Application, Receive, Scope, Send, Work
from dpcurator.server.standing import Standing
from dpcurator.server.wire.listening import Wire
from dpcurator.values import read_json

_SETTINGS: Final = "DPCURATOR_SERVE_SETTINGS"  # the variable that tells workers what to serve
_MOST_CONNECTIONS: Final = 1000
SLOWEST_HEAD: Final = 10.0  # seconds for them to arrive
SLOWEST_READER: Final = 60.0  # seconds for a reply to be taken on


@dataclass(frozen=True, slots=True)
class Settings:
    """catalog: a path. tick: seconds, 0 for none. certificate and its key: files, for TLS. postgres_port: where
    database clients connect; 0: nowhere."""

    catalog: str
    host: str = "127.0.0.1"
    port: int = 8642
    workers: int = 1
    tick: float = 0.0
    certificate: str = ""
    certificate_key: str = ""
    without_tls: bool = False
    delay: float = 1.0
    postgres_port: int = 0

    def check(self) -> None:
        """Raises Misconfigured for what must not be served."""
        if bool(self.certificate) != bool(self.certificate_key):
            raise Misconfigured("TLS needs a certificate and its key.", cure="Give both --tls-cert and --tls-key.")
        if self.port == self.postgres_port:
            raise Misconfigured("HTTP and PostgreSQL's clients need a port each.", where=f"--port {self.port}",
                                cure="Name another --postgres-port.")
        for name in filter(None, (self.certificate, self.certificate_key)):
            if not os.access(name, os.R_OK):
                raise Misconfigured("this file cannot be read.", where=name, cure="Name the certificate and its key.")
        if not _is_here(self.host) and not self.certificate and not self.without_tls:
            raise Misconfigured(
                "without TLS, tokens and answers cross the network in the clear.",
                where=f"--host {self.host}",
                cure="Give --tls-cert and --tls-key, or listen on 127.0.0.1 behind a proxy that has TLS. To do it "
                "all the same: --without-tls",
            )


def _is_here(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def made() -> Application:
    """What a worker serves: as the settings in its environment say."""
    settings = Settings(**read_json(os.environ[_SETTINGS]))
    if settings.certificate:
        impatient(asyncio.get_running_loop())
    access, work = Access(settings.delay), Work(tick=settings.tick)
    app = application(Path(settings.catalog), access=access, work=work)
    return Beside(app, settings, access, work) if settings.postgres_port else app


@dataclass
class Beside:
    """The HTTP server, and beside it, in the same process, the one for database clients."""

    inner: Application
    settings: Settings
    access: Access
    work: Work

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            await self.inner(scope, receive, send)
            return
        await receive()
        wire = self._wire()
        try:
            wire.listen(self.settings.host, self.settings.postgres_port, shared=self.settings.workers > 1)
        except DpcuratorError as error:
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            return
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await wire.close()
        await send({"type": "lifespan.shutdown.complete"})

    def _wire(self) -> Wire:
        certificate = None
        if self.settings.certificate:
            certificate = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            certificate.minimum_version = ssl.TLSVersion.TLSv1_2
            certificate.load_cert_chain(self.settings.certificate, self.settings.certificate_key)
        return Wire(Standing(Path(self.settings.catalog), self.settings.tick), self.access, self.work, certificate)


def impatient(loop: Any) -> None:
    """What the loop listens to from here on with TLS gets `SLOWEST_HEAD` seconds to agree on it, and to end it: before
    it has agreed there is no connection yet that `Patient` could end, and the loop by itself waits for a minute."""
    loop.create_server = partial(
        loop.create_server, ssl_handshake_timeout=SLOWEST_HEAD, ssl_shutdown_timeout=SLOWEST_HEAD
    )


class Begun(uvicorn.Server):
    """A server that says when it listens."""

    def __init__(self, config: uvicorn.Config, said: Callable[[], None]) -> None:
        super().__init__(config)
        self.said = said

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self.said()


def serve(settings: Settings, said: Callable[[], None] = lambda: None) -> None:
    """Serves until it is stopped by SIGINT or SIGTERM. said: called once, when it listens. Raises Misconfigured where
    it cannot begin."""
    settings.check()
    application(Path(settings.catalog))  # a catalog that cannot be used is told now, not by each worker
    os.environ[_SETTINGS] = json.dumps(asdict(settings))
    config = uvicorn.Config(
        "dpcurator.server.running:made", factory=True, host=settings.host, port=settings.port, http=Patient,
        loop="asyncio", ws="none", workers=settings.workers, lifespan="on" if settings.postgres_port else "off",
        access_log=False, server_header=False, log_level="warning", proxy_headers=False, timeout_keep_alive=15,
        limit_concurrency=_MOST_CONNECTIONS, h11_max_incomplete_event_size=LARGEST_HEAD,
        ssl_certfile=settings.certificate or None, ssl_keyfile=settings.certificate_key or None,
    )
    try:
        if settings.workers > 1:
            _in_processes(config, said)
        else:
            server = Begun(config, said)
            with suppress(KeyboardInterrupt):
                server.run()
            if not server.started:
                raise SystemExit(1)
    except SystemExit as end:
        if not end.code:
            return
        ports, where = "--port", f"{settings.host}:{settings.port}"
        if settings.postgres_port:
            ports, where = "--port or --postgres-port", f"{where} and {settings.postgres_port}"
        raise Misconfigured("the server could not begin.", where=where,
                            cure=f"See that no other program listens there, or name another {ports}.") from None


def _in_processes(config: uvicorn.Config, said: Callable[[], None]) -> None:
    """Workers that take their connections from one socket, which listens before they are there."""
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    try:
        shared = socket.create_server((config.host, config.port), family=family, backlog=config.backlog)
    except OSError:
        raise SystemExit(1) from None
    said()
    own = {"target": uvicorn.Server(config).run} if "target" in signature(Multiprocess).parameters else {}
    with shared, suppress(KeyboardInterrupt):
        shared.set_inheritable(True)
        Multiprocess(config, sockets=[shared], **own).run()


class Patient(H11Protocol):
    """HTTP, with a limit to how long the head of a request may take, and how long a reply may wait for its reader: else
    each half-open connection would stay, and with enough of them nobody is served."""

    _head: asyncio.TimerHandle | None = None
    _reader: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        import h11

        if self.conn.their_state is not h11.IDLE:
            self._done()
        elif self._head is None and (self.cycle is None or self.cycle.response_complete) and self.conn.trailing_data[0]:
            self._unset_keepalive_if_required()
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._done()
        self._read()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._given_up()

    def resume_writing(self) -> None:
        if not self.transport.is_closing():
            self._read()
        super().resume_writing()

    def _given_up(self) -> None:
        self._read()
        self._reader = self.loop.call_later(SLOWEST_READER, self.transport.abort)

    def _read(self) -> None:
        if self._reader is not None:
            self._reader.cancel()
            self._reader = None

    def on_response_complete(self) -> None:
        self._done()
        super().on_response_complete()
        self._flushed()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._flushed()

    def _flushed(self) -> None:
        """A connection that is closing first sends what it still holds: a reader has as long for that."""
        if self.transport.is_closing():
            self._given_up()

    def _wait(self) -> None:
        self._head = self.loop.call_later(SLOWEST_HEAD, self._end)

    def _done(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None

    def _end(self) -> None:
        self._head = None
        if not self.transport.is_closing():
            self.transport.abort()
