"""Notifications of PostgreSQL, awaited without polling.

psycopg looks ten times a second whether its wait was interrupted; three connections that wait for notifications cost a
third of what an idle server costs. Here the event loop waits for the socket, and psycopg reads what has arrived.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from psycopg import AsyncConnection, Notify

READ = 0.01
"""Seconds in which psycopg reads what has arrived."""


async def received(connection: AsyncConnection[Any], seconds: float) -> AsyncIterator[Notify]:
    """Yield the notifications that arrive within some seconds. Raises psycopg.OperationalError if the connection is
    lost."""
    end = time.monotonic() + seconds
    while True:
        async for notice in connection.notifies(timeout=READ):
            yield notice
        if (remaining := end - time.monotonic()) <= 0:
            return
        await _readable(connection, remaining)


async def _readable(connection: AsyncConnection[Any], seconds: float) -> None:
    """Wait until there is something to read, at most some seconds."""
    loop, socket, is_readable = asyncio.get_running_loop(), connection.fileno(), asyncio.Event()
    loop.add_reader(socket, is_readable.set)
    try:
        with suppress(TimeoutError):
            await asyncio.wait_for(is_readable.wait(), seconds)
    finally:
        loop.remove_reader(socket)
