"""Engines whose connections cost no round trip besides a transaction's own statements.

The server's end of a connection is noticed at its socket instead of by a query before each use, and a transaction
begins together with the settings that it starts with, in one message.
"""

import select
from functools import partial
from typing import Any

import psycopg
import sqlalchemy as sa
from psycopg import sql
from psycopg.rows import namedtuple_row
from pydantic_core import from_json
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection

BEGIN_WITH = "begin_with"
"""The execution option with the text that begins a transaction."""
_BEGAN = "began_with"
_SEEN = ("organization_ids", "user_id", "proven", "investor")
_SEE = sql.SQL("select ") + sql.SQL(", ").join(
    sql.SQL("current_setting({}, true) as {}").format(f"app.{name}", sql.Identifier(name)) for name in _SEEN
)
BEGIN = "begin"
READ_ONLY = "begin read only; set local idle_in_transaction_session_timeout = 0"
"""A long list may be sent to a slow client: a transaction that only reads blocks no one."""
NOTHING = ""
"""What a session begins with that reads one statement: none."""


def engine(url: str | sa.URL, **options: Any) -> AsyncEngine:
    """Return an engine; `options` are those of SQLAlchemy."""
    made = create_async_engine(
        url, isolation_level="AUTOCOMMIT", hide_parameters=True, json_deserializer=from_json, **options
    )  # from_json is exact for integers of any size, as json.loads is
    sa.event.listen(made.sync_engine, "checkout", _look)
    sa.event.listen(made.sync_engine, "begin", _note)
    made.sync_engine.dialect.do_begin = _begin  # type: ignore[assignment, method-assign]
    return made


async def begin(
    session: AsyncSession, statement: str = BEGIN, query: sql.Composable | None = None, /, **settings: str
) -> Any:
    """Begin a session's transaction with settings that last until its end. Names are without their prefix `app.`.

    Return the first row of the query, which sees the settings; None without a query.
    """
    call = sql.SQL("set_config({}, {}, true) as {}")
    calls = [call.format(f"app.{name}", value, sql.Identifier(name)) for name, value in settings.items()]
    text = statement if not calls else f"{statement}; select {sql.SQL(', ').join(calls).as_string()}"
    text = text if query is None else f"{text}; {query.as_string()}"
    connection = await session.connection(execution_options={BEGIN_WITH: text})
    began = connection.info.pop(_BEGAN, None)
    return None if query is None else began


async def seen(session: AsyncSession) -> dict[str, str]:
    """Return the settings that decide which rows a transaction sees, for another transaction to begin with."""
    return _given(await first(session, _SEE))


async def end(session: AsyncSession) -> dict[str, str]:
    """Commit a session's transaction, which must have written nothing through the session; return what `seen` does. In
    one message."""
    row = await first(session, _SEE + sql.SQL("; commit"))
    await session.commit()
    return _given(row)


def _given(row: Any) -> dict[str, str]:
    return {name: value for name, value in row._asdict().items() if value}


async def first(session: AsyncSession, query: sql.Composable) -> Any:
    """Return the first row of a query, None without one. If no transaction has begun, the message that begins it
    contains the query."""
    if not session.in_transaction():
        return await begin(session, BEGIN, query)
    raw = await (await session.connection()).get_raw_connection()
    driver: psycopg.AsyncConnection[Any] = raw.driver_connection  # type: ignore[assignment]
    return await _send(query.as_string(), driver)


def _note(connection: sa.Connection) -> None:
    connection.connection.info[BEGIN_WITH] = connection.get_execution_options().get(BEGIN_WITH, BEGIN)


def _begin(connection: PoolProxiedConnection) -> None:
    """Send what begins a transaction. The driver is in autocommit mode, in which it would send no BEGIN of its own."""
    if text := connection.info.pop(BEGIN_WITH, BEGIN):
        adapted: Any = connection.dbapi_connection
        connection.info[_BEGAN] = adapted.run_async(partial(_send, text))


async def _send(text: str, connection: psycopg.AsyncConnection[Any]) -> Any:
    """Return the first row of the last query, with the names of its columns; None if it has none."""
    row = None
    async with connection.cursor(row_factory=namedtuple_row) as cursor:
        await cursor.execute(text.encode())
        while True:
            row = await cursor.fetchone() if cursor.description else row
            if not cursor.nextset():
                return row


def _look(adapted: Any, _record: ConnectionPoolEntry, _proxy: PoolProxiedConnection) -> None:
    """Replace the pool's connections if the server has closed this one: something can be read from its socket."""
    poll = select.poll()
    poll.register(adapted.driver_connection.fileno(), select.POLLIN)
    if poll.poll(0):
        raise sa.exc.InvalidatePoolError
