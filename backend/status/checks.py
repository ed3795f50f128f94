"""Checks of what a process needs to do its work: the database, the disk of the data folder, the workflow engine.

Their results are public, so they contain no paths and no addresses.
"""

import asyncio
import os
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import psycopg
import structlog

from backend.core.connections import database
from backend.core.readiness import readiness
from backend.core.runtime import runtime
from backend.core.settings import settings
from backend.engine import progress
from backend.status.notes import notes
from backend.status.schemas import Ready

log = structlog.get_logger()
FRESH = 1.0
"""Seconds for which results are cached, regardless of how often they are requested."""
PATIENCE = 2.0
"""Seconds within which the database must answer."""
MIB = 1024 * 1024


@dataclass
class Checks:
    """The latest results of an event loop, and its own connection: the pools may be exhausted for other reasons."""

    faults: list[str] = field(default_factory=list)
    checked_at: float = -FRESH
    connection: psycopg.AsyncConnection[Any] | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


async def ready() -> Ready:
    """Return the readiness of this process. Notes are omitted while the database does not answer."""
    found = await faults()
    return Ready(
        ready=readiness().is_ready and not found,
        waiting=list(readiness().waiting),
        failure=readiness().failure,
        faults=found,
        notes=[] if found else await notes(),
    )


async def faults() -> list[str]:
    """Return what currently prevents this process from its work."""
    checks = runtime.loop_part(Checks)
    async with checks.lock:
        if time.monotonic() - checks.checked_at >= FRESH:
            found = (await _database(checks), disk(), progress.fault())
            checks.faults = [fault for fault in found if fault is not None]
            checks.checked_at = time.monotonic()
            if checks.faults:
                log.warning("ready.faults_found", faults=checks.faults)
    return list(checks.faults)


async def close() -> None:
    """Close this event loop's connection."""
    checks = runtime.loop_part(Checks)
    connection, checks.connection = checks.connection, None
    if connection is not None:
        with suppress(psycopg.Error, OSError):
            await connection.close()


async def _database(checks: Checks) -> str | None:
    if "migrations" in readiness().waiting:
        return None
    asking = asyncio.create_task(_ask(checks))
    done, _ = await asyncio.wait({asking}, timeout=PATIENCE)
    if not done:
        asking.cancel()  # not awaited: the driver tries to cancel its statement for a while
        asking.add_done_callback(lambda task: task.cancelled() or task.exception())
    return None if done and asking.result() else "The database does not respond."


async def _ask(checks: Checks) -> bool:
    """Return whether the database answers. The connection is kept only then."""
    connection, checks.connection = checks.connection, None
    try:
        connection = connection or await database.own_connection()
        await connection.execute("select 1")
        checks.connection, connection = connection, None
    except (psycopg.Error, OSError):
        return False
    finally:
        if connection is not None:
            await connection.close()
    return True


def disk() -> str | None:
    """Return why the data folder cannot be written; None if it can."""
    try:
        state = os.statvfs(settings().home)
    except OSError as error:
        return f"The data folder cannot be read: {error.strerror}."
    if state.f_flag & os.ST_RDONLY:
        return "The disk of the data folder is read-only."
    free, least = state.f_bavail * state.f_frsize // MIB, settings().min_free_mib
    if free < least or (state.f_files and not state.f_favail):
        return f"The disk of the data folder is full: {free} MiB are free, {least} MiB are required."
    return None
