"""Leases of executors: rows that a process renews while it makes progress.

A process that hangs, is stopped or is suspended keeps its connections and their locks. Its lease expires, and the
others take over its work and end its connections. All times are the database's.
"""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from backend.core import db
from backend.core.connections import process_label

LEASE = 20
"""Seconds without a renewal after which an executor's work is taken over."""
_JOIN = sa.text(
    "insert into executor_leases (id, epoch, progress, joined_at, renewed_at) values (:id, 1, 0, now(), now())"
    " on conflict (id) do update set epoch = executor_leases.epoch + 1, joined_at = now(), renewed_at = now()"
    " returning epoch"
)
_RENEW = sa.text(
    "update executor_leases set renewed_at = now(), progress = progress + 1,"
    " epoch = epoch + (renewed_at < now() - make_interval(secs => :lease))::int"
    " where id = :id returning epoch"
)
_EXPIRED = sa.text(
    "select id from executor_leases where id <> :own and renewed_at < now() - make_interval(secs => :lease)"
    " and renewed_at > now() - interval '1 day'"
)
_LEAVE = sa.text("delete from executor_leases where id = :id or renewed_at < now() - interval '1 day'")
_DISCONNECT = sa.text(
    "select pg_terminate_backend(pid) from pg_stat_activity"
    " where usename = current_user and application_name = :label and pid <> pg_backend_pid()"
)


async def join(connection: AsyncConnection, name: str) -> int:
    """Take a lease; return its epoch."""
    return int((await connection.execute(_JOIN, {"id": name})).scalar_one())


async def renew(connection: AsyncConnection, name: str) -> int:
    """Renew a lease; return its epoch, which is another one if the lease had expired."""
    epoch = await connection.scalar(_RENEW, {"id": name, "lease": LEASE})
    return await join(connection, name) if epoch is None else int(epoch)


async def leave(connection: AsyncConnection, name: str) -> None:
    """Delete a lease, and those that are too old to matter."""
    await connection.execute(_LEAVE, {"id": name})


async def expired(own: str) -> list[str]:
    """Return the other executors whose lease has expired."""
    async with db.worker() as session:
        return list(await session.scalars(_EXPIRED, {"own": own, "lease": LEASE}))


async def disconnect(names: Sequence[str]) -> None:
    """End the connections of executors in the worker's role, and with them their locks: of the indexer and of
    signers."""
    for name in names:
        async with db.worker() as session:
            await session.execute(_DISCONNECT, {"label": process_label.of_executor(name)})
