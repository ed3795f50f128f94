"""The database of this process: its engines, the places of their callers, and connections outside the pools."""

from dataclasses import dataclass, field
from typing import Any

import psycopg
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import AsyncEngine

from backend.core import logins
from backend.core.connections import engines, process_label
from backend.core.connections.pools import IN_A_CROWD, KEEPALIVE, PATIENCE, REPLICA, ROLES, TIMEOUTS, WAITS, sizes
from backend.core.fair_places import Places
from backend.core.runtime import runtime


@dataclass
class Database:
    """The database of this process: the owner's URL, from `start` to `stop`."""

    url: str | None = field(default=None, repr=False)


@dataclass
class Pools:
    """Engines and places by name, per event loop (requests have one, workflows another): waiters belong to one loop."""

    engines: dict[str, AsyncEngine] = field(default_factory=dict)
    places: dict[str, Places] = field(default_factory=dict)


def start(url: str) -> None:
    """Set the owner's URL. Engines are created from it on demand. `stop` undoes it. Raises RuntimeError where this
    process has another database: its engines would continue to use that."""
    part = runtime.part(Database)
    if part.url not in (None, url):
        raise RuntimeError("database.start was called with another database")
    part.url = url


async def stop() -> None:
    """Close every connection."""
    runtime.part(Database).url = None
    pools = runtime.loop_parts(Pools)
    made = [engine for pool in pools for engine in pool.engines.values()]
    for pool in pools:
        pool.engines.clear()
    for engine in made:
        await engine.dispose()


def _owner_url() -> str:
    url = runtime.part(Database).url
    if url is None:
        raise RuntimeError("database.start has not been called")
    return url


def engine(name: str) -> AsyncEngine:
    """Return the engine of a pool, in this event loop."""
    owner, made = _owner_url(), runtime.loop_part(Pools).engines
    if name not in made:
        url = logins.replica_url(owner) if name == REPLICA else None
        made[name] = engines.engine(
            url or logins.role_url(owner, ROLES[name]),
            pool_size=sizes().kept[name],
            max_overflow=sizes().overflow[name],
            pool_timeout=WAITS[name],
            connect_args={"options": TIMEOUTS[name], "application_name": process_label.application_name()},
        )
    return made[name]


def places(name: str) -> Places:
    """Return the places of a pool, which its callers share, in this event loop."""
    return runtime.loop_part(Pools).places.setdefault(
        name, Places(sizes().places[name], PATIENCE[name], crowded=IN_A_CROWD[name])
    )


def thread_connection() -> psycopg.Connection[Any]:
    """Return a connection of the worker's role outside the pools and event loops: for keys, which are read while a
    caller may hold a connection of a pool.

    The caller closes it.
    """
    url = logins.conninfo(logins.role_url(_owner_url(), ROLES["worker"]))
    return psycopg.connect(url, connect_timeout=5, application_name=process_label.application_name())


async def own_connection() -> psycopg.AsyncConnection[Any]:
    """Return a connection of the worker's role outside the pools, in autocommit mode: for session locks and
    notifications.

    The caller closes it.
    """
    url = make_url(logins.role_url(_owner_url(), ROLES["worker"]))
    named: dict[str, Any] = {**url.translate_connect_args(username="user", database="dbname"), **url.query}
    connection = await psycopg.AsyncConnection.connect(
        **named, application_name=process_label.application_name(), autocommit=True
    )
    await connection.execute(KEEPALIVE)
    return connection
