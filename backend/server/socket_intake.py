"""Bytes of unfinished messages that a WebSocket holds in this process.

The server assembles a message in native code, up to 64 MiB, and the application sees only whole messages. The kernel
counts the bytes that a connection has received and those still in its own buffer. The server has read the difference;
the part that exceeds the messages passed to the application belongs to an unfinished message.
"""

import asyncio
import fcntl
import os
import socket
import struct
import sys
import termios
from collections.abc import Iterable, MutableMapping
from contextlib import suppress
from ipaddress import IPv6Address, ip_address
from typing import Any

import structlog

from backend.server.connection_guard import duplicate

log = structlog.get_logger()
Peer = tuple[str, int]
"""Address and port of the peer."""
EVERY = 0.2
"""Seconds between checks of all sockets."""
MASKED_HEAD = 6
"""Bytes of the shortest header of a client's frame."""
_FILES = "/dev/fd"
_BYTES_RECEIVED = 128
"""Offset in Linux's tcp_info of the received bytes (tcpi_bytes_received, Linux 4.1 and later)."""


class Intake:
    """The bytes of one connection. Owns a duplicate of the connection's file; `close` closes it."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._taken = self._read()

    @property
    def unfinished(self) -> int:
        """Return the bytes that the server has read of a message that the application has not received yet."""
        return self._read() - self._taken

    def take(self, size: int) -> None:
        """Subtract a whole message of `size` bytes, with the header of one frame."""
        self._taken += size + MASKED_HEAD + (0 if size < 126 else 2 if size < 65_536 else 8)

    def cut(self) -> None:
        """Close the connection, and with it the message."""
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the duplicate."""
        self._connection.close()

    def _read(self) -> int:
        """Return the received bytes, without those in the kernel's buffer.

        Data that arrives between the two calls can only make the result smaller.
        """
        info = self._connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _BYTES_RECEIVED + 8)
        received = struct.unpack_from("Q", info, _BYTES_RECEIVED)[0]
        waiting = struct.unpack("i", fcntl.ioctl(self._connection, termios.FIONREAD, b"\0" * 4))[0]
        return int(received - waiting)


class Watch:
    """Finds the connections of sockets, and cuts those with too many unfinished bytes."""

    def __init__(self) -> None:
        self._watched: dict[Intake, int] = {}
        self._wanted: dict[Peer, asyncio.Future[socket.socket | None]] = {}
        self._finding: asyncio.Task[None] | None = None
        self._checking: asyncio.TimerHandle | None = None
        self._has_warned = False

    async def begin(self, client: Any, most: int) -> Intake | None:
        """Watch the connection of a client before its socket is accepted; None where it cannot be found."""
        connection = await self._found((str(client[0]), int(client[1]))) if client and sys.platform == "linux" else None
        intake = None
        if connection is not None:
            try:
                intake = Intake(connection)
            except (OSError, struct.error):
                connection.close()
        if intake is None:
            self._warn_once()
            return None
        self._watched[intake] = most
        if self._checking is None:
            self._check_soon()
        return intake

    def end(self, intake: Intake | None) -> None:
        """Stop watching."""
        if intake is not None:
            self._watched.pop(intake, None)
            intake.close()

    def check(self) -> int:
        """Cut the connections with too many unfinished bytes; return how many."""
        count = 0
        for intake, most in self._watched.items():
            with suppress(OSError):
                if intake.unfinished > most:
                    intake.cut()
                    count += 1
        return count

    def _check_soon(self) -> None:
        self._checking = asyncio.get_running_loop().call_later(EVERY, self._check_again) if self._watched else None

    def _check_again(self) -> None:
        self._check_soon()
        self.check()

    def _warn_once(self) -> None:
        if not self._has_warned:
            self._has_warned = True
            log.warning("socket.not_watched", reason="the connection was not found; see docs/security.md")

    async def _found(self, peer: Peer) -> socket.socket | None:
        """Return the connection to a peer.

        One search at a time serves all waiting callers, however many files are open.
        """
        wanted = self._wanted.setdefault(peer, asyncio.get_running_loop().create_future())
        if self._finding is None or self._finding.done():
            self._finding = asyncio.create_task(self._find())
        return await wanted

    async def _find(self) -> None:
        while self._wanted:
            wanted, self._wanted = self._wanted, {}
            try:
                found = await asyncio.to_thread(connections_to, wanted)
            except OSError:
                found = {}
            for peer, future in wanted.items():
                _hand_over(future, found.pop(peer, None))


def _hand_over(future: "asyncio.Future[socket.socket | None]", connection: socket.socket | None) -> None:
    if not future.done():
        future.set_result(connection)
    elif connection is not None:
        connection.close()  # the client has disconnected


def connections_to(peers: Iterable[Peer]) -> dict[Peer, socket.socket]:
    """Return duplicates of this process's TCP connections to some peers."""
    by_key = {(_plain(host), port): (host, port) for host, port in peers}
    found: dict[Peer, socket.socket] = {}
    for name in os.listdir(_FILES):
        if len(found) == len(by_key):
            break
        own = duplicate(int(name))
        if own is None:
            continue
        peer = by_key.get(_peer(own) or ("", 0))
        if peer is None or peer in found:
            own.close()
        else:
            found[peer] = own
    return found


def _peer(own: socket.socket) -> Peer | None:
    if own.family not in (socket.AF_INET, socket.AF_INET6):
        return None
    try:
        host, port = own.getpeername()[:2]
    except OSError:
        return None
    return _plain(host), port


def _plain(host: str) -> str:
    """Return the canonical form of an address: without its zone, IPv4-mapped IPv6 as IPv4."""
    try:
        parsed = ip_address(host.partition("%")[0])
    except ValueError:
        return host
    mapped = parsed.ipv4_mapped if isinstance(parsed, IPv6Address) else None
    return str(mapped or parsed)


def size_of(message: MutableMapping[str, Any]) -> int:
    """Return the bytes of a WebSocket message."""
    text = message.get("text")
    if isinstance(text, str):
        return len(text) if text.isascii() else len(text.encode())
    return len(message.get("bytes") or b"")
