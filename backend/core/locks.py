"""Advisory locks of PostgreSQL, each known by a 64-bit number that no caller can choose.

All advisory locks of a database share one space of numbers, and parts of some names are chosen by callers. A number is
therefore the lock's purpose in its highest byte and 56 bits of a keyed digest of its name below. Without the key of the
installation no one can find two names with one number, and names of different purposes never share one.

The key is in the database, so every process of an installation has the same one, and it is never rotated.
"""

from enum import IntEnum, unique
from typing import Any

import psycopg
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession

from backend.core.encryption import mac

DIGEST_BITS = 56
"""Bits of a number below its purpose. Among a million names locked at the same time, two share a number with a
probability of 1 in 140,000."""
MIGRATION = 0x5167_6E75
"""The lock under which migrations run, so that two starts do not race. It is fixed and below all others: migrations run
without any key, and in every version of Signum."""


@unique
class Purpose(IntEnum):
    """What a lock is for. 0 is for fixed numbers: migrations, and the workflow engine's own locks."""

    IDEMPOTENCY_KEY = 1
    EXECUTOR = 2
    CHAIN_INDEXER = 3
    HIERARCHY = 4
    MEMBERS = 5
    WALLETS = 6
    ISSUER = 7
    BRIDGES = 8
    ORDER_CANCELLATION = 9
    REQUEST_ORDER = 10
    WALLET_SIGN_IN = 11
    RECIPIENTS = 12
    PARTY_IMPORT = 13
    INTENT = 14
    DAILY_TOTALS = 15


def number(purpose: Purpose, name: object) -> int:
    """Return the number of a lock, a positive bigint."""
    digest = mac(str(name), f"advisory lock {purpose.value}")
    return purpose << DIGEST_BITS | int(digest[: DIGEST_BITS // 4], 16)


async def wait(session: AsyncSession, purpose: Purpose, name: object) -> None:
    """Wait until no other transaction holds a lock, and hold it until the transaction ends."""
    await _ask(session, "pg_advisory_xact_lock", purpose, name)


async def wait_shared(session: AsyncSession, purpose: Purpose, name: object) -> None:
    """Do the same, together with others that share it."""
    await _ask(session, "pg_advisory_xact_lock_shared", purpose, name)


async def attempt(session: AsyncSession, purpose: Purpose, name: object) -> bool:
    """Hold a lock until the transaction ends, if no one else holds it; return whether it is held."""
    return bool(await _ask(session, "pg_try_advisory_xact_lock", purpose, name))


def waited(purpose: Purpose, name: object) -> sa.ColumnElement[Any]:
    """Return `wait` as a column of a statement that also reads something that no other transaction changes."""
    return sa.func.pg_advisory_xact_lock(number(purpose, name))


def attempted(purpose: Purpose, name: object) -> sa.ColumnElement[bool]:
    """Return `attempt` as a column of a statement that also does something else."""
    return sa.func.pg_try_advisory_xact_lock(number(purpose, name), type_=sa.Boolean)


async def wait_on_connection(connection: AsyncConnection, purpose: Purpose, name: object) -> None:
    """Wait until no one else holds a lock, and hold it until the connection ends."""
    await _ask(connection, "pg_advisory_lock", purpose, name)


async def attempt_on_connection(connection: psycopg.AsyncConnection[Any], purpose: Purpose, name: object) -> bool:
    """Hold a lock until the connection ends, if no one else holds it; return whether it is held."""
    cursor = await connection.execute("select pg_try_advisory_lock(%s)", [number(purpose, name)])
    row = await cursor.fetchone()
    return row is not None and bool(row[0])


async def release_on_connection(connection: psycopg.AsyncConnection[Any], purpose: Purpose, name: object) -> None:
    """Release a lock that the connection holds."""
    await connection.execute("select pg_advisory_unlock(%s)", [number(purpose, name)])


async def _ask(on: AsyncSession | AsyncConnection, function: str, purpose: Purpose, name: object) -> Any:
    return await on.scalar(sa.text(f"select {function}(:number)"), {"number": number(purpose, name)})
