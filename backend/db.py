"""The one door to PostgreSQL: engines, transactions, columns, and the translation of its errors.

Two groups work at run time, each with a login role of its own (see `backend.logins`). `signum_app` serves requests and
workflows and sees only the organizations named in `app.organization_ids`, their people, the person of `app.user_id`,
and what the secrets in `app.proven` open; `signum_worker` (relayer, indexer, sweeps, transaction store) sees all.
Neither owns a table.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary

import psycopg
import sqlalchemy as sa
import uuid_utils
from sqlalchemy.dialects.postgresql import UUID as PgUuid
from sqlalchemy.engine import make_url
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, create_async_engine
from sqlmodel import Field, SQLModel

from backend import logins

_LAST = "last"
_REHEARSAL = "rehearsal"
_SEEN = sa.text(
    "select current_setting('app.organization_ids', true), current_setting('app.user_id', true),"
    " current_setting('app.proven', true)"
)
_SEE_AGAIN = sa.text(
    "select set_config('app.organization_ids', :ids, true), set_config('app.user_id', :person, true),"
    " set_config('app.proven', :proofs, true)"
)


class Read(AsyncSession):
    """A session that only reads: its transaction is read only in the database too."""


class Write(AsyncSession):
    """A session whose transaction commits when its request or step ends without an error."""


class _Engines:
    """A set for every event loop (requests have one, workflows another): a pool's waiters belong to one loop."""

    url: str | None = None
    made: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, AsyncEngine]] = WeakKeyDictionary()


ROLES = {"app": logins.WEB, "flow": logins.WEB, "worker": logins.WORKER}
"""Engine to group. `flow` is apart from `app`, so that requests that wait keep no workflow from its connections."""
POOLS = {"app": 10, "flow": 15, "worker": 15}
KEEPALIVE = "set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3"
"""For connections that hold a lock: a machine that is cut off loses it after half a minute."""
WAITS = {"app": 10.0, "flow": 30.0, "worker": 30.0}
"""Seconds for which somebody waits for a connection; a request is then answered 503."""
OVERFLOW = {"app": 10, "flow": 0, "worker": 0}
"""Connections beyond the pool, closed as soon as they are given back. Workflows come by dozens and use theirs for
milliseconds: to make one anew each time would cost more than what it is for."""


def start(url: str) -> None:
    """Name the owner's URL; engines are made from it when they are needed. Once a process; `stop` undoes it."""
    _Engines.url = url


async def stop() -> None:
    """Close every connection."""
    made = [engine for engines in _Engines.made.values() for engine in engines.values()]
    _Engines.url = None
    _Engines.made.clear()
    for engine in made:
        await engine.dispose()


def _engine(name: str) -> AsyncEngine:
    if _Engines.url is None:
        raise RuntimeError("db.start has not been called")
    engines = _Engines.made.setdefault(asyncio.get_running_loop(), {})
    if name not in engines:
        url = logins.role_url(_Engines.url, ROLES[name])
        # What fails is logged with its statement; the values of its parameters may be secrets or personal data.
        engines[name] = create_async_engine(
            url,
            pool_size=POOLS[name],
            max_overflow=OVERFLOW[name],
            pool_timeout=WAITS[name],
            pool_pre_ping=True,
            hide_parameters=True,
        )
    return engines[name]


async def own_connection() -> psycopg.AsyncConnection[Any]:
    """A connection of the worker's role outside of the pools, each statement committed by itself: for locks that last
    as long as a session, and for notifications. The caller closes it."""
    if _Engines.url is None:
        raise RuntimeError("db.start has not been called")
    url = make_url(logins.role_url(_Engines.url, ROLES["worker"]))
    named: dict[str, Any] = {**url.translate_connect_args(username="user", database="dbname"), **url.query}
    connection = await psycopg.AsyncConnection.connect(**named, autocommit=True)
    await connection.execute(KEEPALIVE)
    return connection


async def scope(session: AsyncSession, organization_ids: Iterable[UUID]) -> None:
    """Name the organizations whose rows this transaction may touch."""
    ids = ",".join(str(i) for i in organization_ids)
    await session.execute(sa.text("select set_config('app.organization_ids', :ids, true)"), {"ids": ids})


async def widen(session: AsyncSession, organization_id: UUID) -> None:
    """Name one more organization; the caller has proven that it may be seen, or makes it."""
    seen = "nullif(current_setting('app.organization_ids', true), '')"
    text = f"select set_config('app.organization_ids', concat_ws(',', {seen}, cast(:id as text)), true)"
    await session.execute(sa.text(text), {"id": str(organization_id)})


async def see_oneself(session: AsyncSession, person: UUID) -> None:
    """Name the person who may see their own row in this transaction; the caller has proven that it is them."""
    await session.execute(sa.text("select set_config('app.user_id', :id, true)"), {"id": str(person)})


async def prove(session: AsyncSession, *proofs: str | UUID) -> None:
    """Name the digest of a secret that was presented, or the id of a session that a signed token or a used-up secret
    names: the rows that it opens can be seen in this transaction."""
    seen = "nullif(current_setting('app.proven', true), '')"
    text = f"select set_config('app.proven', concat_ws(',', {seen}, cast(:more as text)), true)"
    await session.execute(sa.text(text), {"more": ",".join(map(str, proofs))})


_requests: ContextVar[AsyncSession | None] = ContextVar("requests_session", default=None)


@asynccontextmanager
async def transaction(*organization_ids: UUID) -> AsyncIterator[Write]:
    """One transaction of the app's role, scoped to organizations; commits at the end, rolls back on an error. It may be
    `paused` meanwhile."""
    async with Write(_engine("app"), expire_on_commit=False) as session:
        before = _requests.get()
        _requests.set(session)
        try:
            if organization_ids:
                await scope(session, organization_ids)
            yield session
            await _conclude(session)
            await session.commit()
        finally:
            _requests.set(before)  # a stream may end in another context than it began in


def is_held() -> bool:
    """Whether the request that this is part of holds a connection: then it should ask nobody who may be slow."""
    session = _requests.get()
    return session is not None and session.in_transaction()


@asynccontextmanager
async def paused(session: AsyncSession) -> AsyncIterator[None]:
    """Inside, a request's session has no transaction and no connection: for asking somebody slow, such as a chain.

    Only while nothing was written yet. Locks are gone afterwards, and rows from before are detached: they can be read,
    and whoever changes one, or had it locked, fetches it again. Hooks in `session.info["resume"]` do the same for
    whoever knows nothing of the pause. A rehearsal is not paused: what it has written would stay.
    """
    if _REHEARSAL in session.info:
        yield
        return
    if session.new or session.dirty or session.deleted or _LAST in session.info:
        raise RuntimeError("a transaction that has written something cannot be paused")
    seen, person, proofs = (await session.execute(_SEEN)).one()
    await session.commit()
    session.expunge_all()
    try:
        yield
    finally:  # whoever asked may go on without an answer
        await session.execute(_SEE_AGAIN, {"ids": seen or "", "person": person or "", "proofs": proofs or ""})
        for look_again in session.info.get("resume", ()):
            await look_again()


@asynccontextmanager
async def step(*organization_ids: UUID) -> AsyncIterator[Write]:
    """One transaction of a workflow: the app's role, from the workflows' own connections."""
    async with Write(_engine("flow"), expire_on_commit=False) as session, session.begin():
        await scope(session, organization_ids)
        yield session
        await _conclude(session)


@asynccontextmanager
async def rehearsing(*organization_ids: UUID) -> AsyncIterator[Write]:
    """One transaction that is always rolled back: to see what something would do. From the workflows' connections, as
    it keeps one while it asks chains; the caller pauses its own."""
    async with Write(_engine("flow"), expire_on_commit=False) as session:
        session.info[_REHEARSAL] = True
        await scope(session, organization_ids)
        yield session


@asynccontextmanager
async def reading(*organization_ids: UUID) -> AsyncIterator[Read]:
    """A read-only transaction of the app's role."""
    async with Read(_engine("app"), expire_on_commit=False) as session, session.begin():
        await session.execute(sa.text("set transaction read only"))
        if organization_ids:
            await scope(session, organization_ids)
        yield session


@asynccontextmanager
async def worker() -> AsyncIterator[Write]:
    """One transaction of the worker's role: every organization. Chain infrastructure only, never a request."""
    async with Write(_engine("worker"), expire_on_commit=False) as session, session.begin():
        yield session
        await _conclude(session)


async def undo(session: AsyncSession) -> None:
    """Take back what a request's session has done, also what was put off to its end. It goes on with an empty
    transaction, outside of every organization."""
    session.info.pop(_LAST, None)
    await session.rollback()


def before_commit(session: AsyncSession, work: Callable[[AsyncSession], Awaitable[None]]) -> None:
    """Put something off to the end of the transaction: what locks rows that everybody wants, for as short as can be."""
    session.info.setdefault(_LAST, []).append(work)


async def _conclude(session: AsyncSession) -> None:
    if _LAST in session.info:
        await session.flush()
        for work in session.info.pop(_LAST):
            await work(session)


def violated(error: IntegrityError) -> str:
    """The name of the constraint an IntegrityError broke, or an empty string."""
    diagnostics = getattr(error.orig, "diag", None)
    return str(getattr(diagnostics, "constraint_name", "") or "")


def now() -> datetime:
    """The time in UTC."""
    return datetime.now(UTC)


def new_id() -> UUID:
    """A UUIDv7: unguessable enough, and in the order of creation."""
    return UUID(bytes=uuid_utils.uuid7().bytes)


def made_at(id: UUID) -> datetime:
    """When a UUIDv7 was made (RFC 9562, 5.7: its first 48 bits are milliseconds of Unix time)."""
    return datetime.fromtimestamp((id.int >> 80) / 1_000, UTC)


class AmountType(sa.TypeDecorator[int]):
    """A token amount in base units: numeric(78, 0) in the database, int in Python, exact."""

    impl = sa.Numeric(78, 0)
    cache_ok = True

    def process_result_value(self, value: Any, dialect: Any) -> int | None:
        """Numeric to int."""
        return None if value is None else int(value)


def amount_field(default: int | None = 0, **kwargs: Any) -> Any:
    """A column of a token amount in base units."""
    return Field(default=default, sa_type=AmountType, nullable=default is None, **kwargs)


def time_field(nullable: bool = False, **kwargs: Any) -> Any:
    """A column of an aware time; now by default where it may not be null."""
    if nullable:
        return Field(default=None, sa_type=sa.DateTime(timezone=True), nullable=True, **kwargs)
    return Field(default_factory=now, sa_type=sa.DateTime(timezone=True), nullable=False, **kwargs)


def status_field(
    values: type[StrEnum], default: StrEnum | None = None, *, nullable: bool = False, **kwargs: Any
) -> Any:
    """A column of a status: text, checked in the database against the enum's values."""
    kind = sa.Enum(
        values,
        native_enum=False,
        create_constraint=True,
        length=32,
        name=values.__name__.lower(),
        values_callable=lambda e: [m.value for m in e],
    )
    return Field(default=default, sa_type=kind, nullable=nullable, **kwargs)


def json_field(default: Any = None, **kwargs: Any) -> Any:
    """A column of JSON."""
    from sqlalchemy.dialects.postgresql import JSONB

    return Field(default_factory=(default if callable(default) else lambda: default), sa_type=JSONB, **kwargs)


def organization_field() -> Any:
    """The owning organization; row-level security is written against this column."""
    return Field(sa_type=PgUuid(as_uuid=True), foreign_key="organizations.id", index=True, nullable=False)


class Row(SQLModel):
    """What every table has."""

    id: UUID = Field(default_factory=new_id, primary_key=True)
    created_at: datetime = time_field()
    updated_at: datetime = time_field(sa_column_kwargs={"onupdate": now})


NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}
SQLModel.metadata.naming_convention = NAMING
