"""Limit on the open connections of an address.

The server accepts connections in native code without a count per address, so the process inspects its own sockets every
second and closes the surplus, the longest idle first. Closing a connection also ends a request that runs on it.
Connections of trusted proxies and of this machine do not count by address: a proxy limits its own clients (see
docs/production.md).
"""

import asyncio
import os
import resource
import socket
import struct
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address

import structlog

from backend.limits.client_address import group

log = structlog.get_logger()
PER_ADDRESS = 1_024
CAPACITY = 16_384
"""Total connections, where the system allows the process that many files."""
RESERVED = 1_024
"""Files of the process itself: database, chains, logs."""
FULL = 0.75
"""Share of the capacity above which idle connections of any address are closed."""
IDLE_SECONDS = 5.0
EVERY = 1.0
LOG_SECONDS = 600.0
_FILES = "/dev/fd"
_ESTABLISHED = 1
SENT_SECONDS = 20.0
"""How long a connection counts as used after data was sent on it: longer than the pauses of an event stream, which
receives nothing."""
_SENT_AT = 44
"""Offset in Linux's tcp_info of the milliseconds since data was last sent (tcpi_last_data_sent)."""
_RECEIVED_AT = 52
"""That of the milliseconds since the last data arrived (tcpi_last_data_recv)."""
_SENT_SEGMENTS = 156
"""That of the number of segments with data that were sent (tcpi_data_segs_out)."""


@dataclass(frozen=True)
class Connection:
    """An open connection: its file, the address it counts for (None if exempt), and for how many seconds it is idle."""

    file: int
    address: str | None
    idle: float


def raise_file_limit() -> int:
    """Raise the process's file limit to the maximum; return how many connections fit beside its own files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CAPACITY + RESERVED
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if most > soft:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
            soft = most
    return max(min(soft, wanted) - min(RESERVED, soft // 2), 64)


def surplus(connections: Iterable[Connection], capacity: int, per_address: int = PER_ADDRESS) -> list[Connection]:
    """Return the connections to close, the longest idle first: those above an address's share, and idle ones where the
    server is nearly full.
    """
    each: dict[str, list[Connection]] = defaultdict(list)
    idle_first = sorted(connections, key=lambda one: -one.idle)
    for one in idle_first:
        if one.address is not None:
            each[one.address].append(one)
    closed = {one.file: one for held in each.values() for one in held[: max(0, len(held) - per_address)]}
    crowd = len(idle_first) - len(closed) - int(capacity * FULL)
    if crowd > 0:
        idle = [one for one in idle_first if one.idle >= IDLE_SECONDS and one.file not in closed]
        closed |= {one.file: one for one in idle[:crowd]}
    return list(closed.values())


async def run(port: int, capacity: int, proxies: Sequence[IPv4Network | IPv6Network]) -> None:
    """Close surplus connections every second, until cancelled. Logged at most every ten minutes."""
    loop = asyncio.get_running_loop()
    silent_until = 0.0
    while True:
        closed = await asyncio.to_thread(sweep, port, capacity, proxies)
        if closed and loop.time() >= silent_until:
            silent_until = loop.time() + LOG_SECONDS
            log.warning("connections.closed", count=closed, reason="too many from one address, or in all")
        await asyncio.sleep(EVERY)


def sweep(
    port: int, capacity: int, proxies: Sequence[IPv4Network | IPv6Network], per_address: int = PER_ADDRESS
) -> int:
    """Close surplus connections now; return how many."""
    if len(os.listdir(_FILES)) <= per_address:
        return 0
    held = dict(_held(port, proxies))
    try:
        chosen = surplus(held, capacity, per_address)
        for one in chosen:
            with suppress(OSError):
                held[one].shutdown(socket.SHUT_RDWR)
        return len(chosen)
    finally:
        for own in held.values():
            own.close()


def _held(port: int, proxies: Sequence[IPv4Network | IPv6Network]) -> Iterator[tuple[Connection, socket.socket]]:
    """Yield the connections to the port, each with a duplicate of its file: a file number may be reused at any time, a
    duplicate stays the same.
    """
    made: set[int] = set()
    for name in os.listdir(_FILES):
        # The listing includes the file used to read it; a duplicate may have got that number since.
        if int(name) in made or (own := duplicate(int(name))) is None:
            continue
        made.add(own.fileno())
        found = _seen(own, port, proxies)
        if found is None:
            own.close()
        else:
            yield found, own


def duplicate(file: int) -> socket.socket | None:
    """Return a socket with its own file; None where the file is not a socket, or is already closed."""
    try:
        copy = os.dup(file)
    except OSError:
        return None
    try:
        return socket.socket(fileno=copy)
    except OSError:
        os.close(copy)
        return None


def _seen(own: socket.socket, port: int, proxies: Sequence[IPv4Network | IPv6Network]) -> Connection | None:
    try:
        if own.family not in (socket.AF_INET, socket.AF_INET6) or own.getsockname()[1] != port:
            return None
        peer = str(own.getpeername()[0])
        info = (
            own.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _SENT_SEGMENTS + 4) if sys.platform == "linux" else b""
        )
    except OSError:
        return None
    if info and info[0] != _ESTABLISHED:
        return None
    address = group(peer.partition("%")[0])
    counts = not _is_exempt(peer.partition("%")[0], proxies)
    return Connection(own.fileno(), address if counts else None, _idle(info))


def _idle(info: bytes) -> float:
    """Return the seconds since the last data. After sent data they pass more slowly, and reach IDLE_SECONDS after
    SENT_SECONDS."""
    received, sent, segments = (_number(info, at) for at in (_RECEIVED_AT, _SENT_AT, _SENT_SEGMENTS))
    idle, since = received / 1_000, sent / 1_000
    if segments and since < SENT_SECONDS:
        return min(idle, since * IDLE_SECONDS / SENT_SECONDS)
    return idle


def _number(info: bytes, at: int) -> int:
    return int(struct.unpack_from("I", info, at)[0]) if len(info) >= at + 4 else 0


def _is_exempt(peer: str, proxies: Sequence[IPv4Network | IPv6Network]) -> bool:
    address = ip_address(peer)
    return address.is_loopback or any(address in network for network in proxies)
