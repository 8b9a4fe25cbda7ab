"""The bytes of one connection: read to a length, sent on, ended; and how long each of these may take.

Checked in tests/server/test_wire.py.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from dataclasses import dataclass
from typing import Final

from dpcurator.server.wire import messages as wire
from dpcurator.server.wire.messages import Malformed

SLOWEST_START: Final = 10.0  # seconds to sign in
SLOWEST_MESSAGE: Final = 20.0  # seconds for the rest of a message
SLOWEST_READER: Final = 60.0
LARGEST_START: Final = 8192  # bytes of a message before the client has signed in


class Ended(Exception):
    """The connection is over; what is to be said was said."""


@dataclass
class Link:
    """The bytes of one connection. waiting: those that were put and not sent."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    waiting: int = 0

    @classmethod
    async def open(cls, accepted: socket.socket, certificate: ssl.SSLContext | None) -> Link:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=1 << 16, loop=loop)
        protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
        timed = (
            {}
            if certificate is None
            else {"ssl_handshake_timeout": SLOWEST_START, "ssl_shutdown_timeout": SLOWEST_START}
        )
        transport, _ = await loop.connect_accepted_socket(lambda: protocol, accepted, ssl=certificate, **timed)
        return cls(reader, asyncio.StreamWriter(transport, protocol, reader, loop))

    async def exactly(self, size: int) -> bytes:
        return await self.reader.readexactly(size)

    async def message(self, largest: int) -> tuple[bytes, bytes]:
        """The next message. Raises Malformed for one that is too large."""
        kind = await self.exactly(1)
        async with asyncio.timeout(SLOWEST_MESSAGE):
            size = int.from_bytes(await self.exactly(4), "big")
            if not 4 <= size <= largest:
                await self.fatal("08P01", "this message is too large, or none of the protocol.", "")
            return kind, await self.exactly(size - 4)

    async def password(self) -> bytes:
        kind, content = await self.message(LARGEST_START)
        if kind != b"p":
            raise Malformed
        return content

    def put(self, *parts: bytes) -> None:
        for one in parts:
            self.writer.write(one)
            self.waiting += len(one)

    async def flush(self) -> None:
        """Raises TimeoutError where the client takes nothing."""
        self.waiting = 0
        async with asyncio.timeout(SLOWEST_READER):
            await self.writer.drain()

    async def fatal(self, code: str, what: str, cure: str) -> None:
        """Says it and raises Ended."""
        self.put(wire.told(b"E", "FATAL", code, what, hint=cure))
        await self.flush()
        self.writer.close()
        try:
            async with asyncio.timeout(1):
                await self.writer.wait_closed()
        except (OSError, TimeoutError):
            pass
        raise Ended

    def abort(self) -> None:
        self.writer.transport.abort()


async def exactly(loop: asyncio.AbstractEventLoop, accepted: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        more = await loop.sock_recv(accepted, size - len(found))
        if not more:
            raise Ended
        found += more
    return found
