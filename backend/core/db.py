"""Access to PostgreSQL: engines, transactions, and the translation of its errors.

Two groups work at run time, each with its own login role (see `backend.core.logins`). `signum_app` serves requests and
workflows. It sees only the organizations named in `app.organization_ids`, their people, the person of `app.user_id`,
and the rows that the secrets in `app.proven` open; with `app.investor`, only what concerns that investor
(backend/migrations/sql/investors.sql). `signum_worker` (relayer, indexer, sweeps, transaction store) sees
all rows. Neither owns a table.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

import psycopg
import sqlalchemy as sa
import uuid_utils
from psycopg import sql
from sqlalchemy.exc import IntegrityError, InterfaceError, InternalError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionFree
from sqlalchemy.ext.asyncio import AsyncSession

from backend.core import fair_places, roots
from backend.core.connections import engines
from backend.core.connections.database import engine, places
from backend.core.fair_places import Place, held

FAULTS = (
    *(NoConnectionFree, OperationalError, InterfaceError, InternalError),
    *(psycopg.OperationalError, psycopg.InterfaceError, psycopg.InternalError),
)
"""Errors of a database that is busy, does not respond, is no longer the primary, or ended a transaction: of a deadlock,
or because it was idle. psycopg's own are those of connections outside the pools."""
_LAST = "last"
_REHEARSAL = "rehearsal"
_PLACE = "place"
_WIDEN = sa.text(
    "select set_config('app.organization_ids', concat_ws(',', seen, cast(:id as text)), true)"
    " from (select nullif(current_setting('app.organization_ids', true), '') as seen) known"
    " where seen is null or not string_to_array(seen, ',') @> array[cast(:id as text)]"
)
_TIMEOUTS = sa.text(
    "select set_config('lock_timeout', '10s', true), set_config('statement_timeout', '30s', true),"
    " set_config('idle_in_transaction_session_timeout', '60s', true)"
)


class Read(AsyncSession):
    """A session that only reads: its transaction is also read-only in the database."""


class Write(AsyncSession):
    """A session whose transaction commits when its request or step ends without an error."""


def _outer() -> Place | None:
    """Return the place of the transaction that this code runs in."""
    session = _requests.get()
    return session.info.get(_PLACE) if session else None


async def scope(session: AsyncSession, organization_ids: Iterable[UUID]) -> None:
    """Set the organizations whose rows this transaction may access."""
    ids = _joined(organization_ids)
    await session.execute(sa.text("select set_config('app.organization_ids', :ids, true)"), {"ids": ids})


def scoped(organization_ids: Iterable[UUID]) -> dict[str, str]:
    """Return the settings with which a transaction begins that may access organizations."""
    return {"organization_ids": ids} if (ids := _joined(organization_ids)) else {}


def _joined(organization_ids: Iterable[UUID]) -> str:
    return ",".join(str(i) for i in organization_ids)


async def widen(session: AsyncSession, organization_id: UUID) -> None:
    """Add an organization. The caller has proven access to it, or is creating it."""
    await session.execute(_WIDEN, {"id": str(organization_id)})


async def see_oneself(session: AsyncSession, person: UUID) -> None:
    """Set the person who may see their own row in this transaction. The caller has verified their identity."""
    await session.execute(sa.text("select set_config('app.user_id', :id, true)"), {"id": str(person)})


async def prove(session: AsyncSession, *proofs: str | UUID) -> None:
    """Add proofs that make rows visible in this transaction.

    A proof is the digest of a secret that was presented, or the id of a session that a signed token or a used secret
    names.
    """
    seen = "nullif(current_setting('app.proven', true), '')"
    text = f"select set_config('app.proven', concat_ws(',', {seen}, cast(:more as text)), true)"
    await session.execute(sa.text(text), {"more": ",".join(map(str, proofs))})


_requests: ContextVar[AsyncSession | None] = ContextVar("requests_session", default=None)
_steps: ContextVar[Place | None] = ContextVar("steps_place", default=None)
_guard: ContextVar["Guard | None"] = ContextVar("guard", default=None)


@dataclass(frozen=True)
class Guard:
    """A function of the database that returns whether this process owns its work, its arguments, and the error if it
    does not."""

    function: str
    arguments: tuple[str, ...]
    error: Callable[[], BaseException]

    @property
    def query(self) -> sql.Composable:
        """Return the query of the function."""
        values = sql.SQL(", ").join(map(sql.Literal, self.arguments))
        return sql.SQL("select {}({})").format(sql.Identifier(self.function), values)


@contextmanager
def guarded_by(guard: Guard) -> Iterator[None]:
    """Check at the beginning of each step's transaction while inside, and raise where the work belongs to another
    process."""
    token = _guard.set(guard)
    try:
        yield
    finally:
        _guard.reset(token)


async def check_owner(session: AsyncSession) -> None:
    """Raise in work that another process has taken over; otherwise the takeover waits until the transaction ends."""
    if (guard := _guard.get()) is None:
        return
    holds = getattr(sa.func, guard.function)(*guard.arguments, type_=sa.Boolean)
    if not await session.scalar(sa.select(holds)):
        raise guard.error()


async def _begin_owned(session: AsyncSession, **settings: str) -> None:
    """Begin a transaction together with the check of `check_owner`."""
    guard = _guard.get()
    found = await engines.begin(session, engines.BEGIN, guard.query if guard else None, **settings)
    if guard is not None and not found[0]:
        raise guard.error()


@asynccontextmanager
async def transaction(*organization_ids: UUID) -> AsyncIterator[Write]:
    """Open a transaction of the app's role, scoped to organizations. It commits at the end and rolls back on an error.

    It may be `paused`. Waits for a place while too many are held; a nested transaction needs none.
    """
    before = _requests.get()
    async with held(places("app"), _outer()) as place, Write(engine("app"), expire_on_commit=False) as session:
        session.info[_PLACE] = place
        _requests.set(session)
        try:
            if organization_ids:
                await engines.begin(session, organization_ids=_joined(organization_ids))
            yield session
            await conclude(session)
            await session.commit()
        finally:
            _requests.set(before)  # a stream may end in a different context from the one it began in


async def count_for(session: AsyncSession, caller: str) -> None:
    """Let the place of a request's transaction count for the caller that it was found to be of. Where that one holds as
    many as it may, the transaction pauses until it holds fewer. Call it before anything is written or locked."""
    fair_places.caller.set(caller)
    place: Place | None = session.info.get(_PLACE)
    if place is None or place.rename(caller):
        return
    async with paused(session):
        place.rename(caller)


@contextmanager
def held_by(session: AsyncSession) -> Iterator[None]:
    """Let the connection of a session count as the current request's while inside."""
    before = _requests.get()
    _requests.set(session)
    try:
        yield
    finally:  # a stream may end in a different context from the one it began in
        _requests.set(before)


def is_held() -> bool:
    """Return whether the current request holds a connection. It should then not wait for a slow service."""
    session = _requests.get()
    return session is not None and session.in_transaction()


@asynccontextmanager
async def paused(session: AsyncSession) -> AsyncIterator[None]:
    """Release the transaction and connection of a request's session while it waits for a slow service, such as a chain.

    Only allowed before the first write. Locks are released, and rows loaded earlier are detached: they can be read, but
    code that changes or locks one has to load it again. Hooks in `session.info["resume"]` do this for code that is
    unaware of the pause. A rehearsal is not paused, because its writes would be committed.
    """
    if _REHEARSAL in session.info:
        yield
        return
    if session.new or session.dirty or session.deleted or _LAST in session.info:
        raise RuntimeError("a transaction that has written cannot be paused")
    known = await engines.end(session)
    session.expunge_all()
    place: Place | None = session.info.get(_PLACE)
    if was_held := place is not None and place.is_held:
        place.give_back()
    try:
        yield
    finally:  # the caller may continue without a response
        if place is not None and was_held:
            await place.take_again()
        await engines.begin(session, **known)
        for look_again in session.info.get("resume", ()):
            await look_again()


def is_rehearsal(session: AsyncSession) -> bool:
    """Return whether a transaction is always rolled back (`rehearsing`): what it does is not counted."""
    return _REHEARSAL in session.info


async def root_of(organization_id: UUID) -> str:
    """Return the root for which an organization's work counts. Looking one up counts for no organization."""
    if (known := roots.known(organization_id)) is not None:
        return known[-1]
    async with held(places("step"), _steps.get(), ""), Read(engine("flow")) as session:
        return (await roots.learn(session, organization_id))[-1]


@asynccontextmanager
async def step(*organization_ids: UUID) -> AsyncIterator[Write]:
    """Open a transaction of a workflow: the app's role, from the workflows' own connections.

    It waits for a place, as long as it takes, while the first organization's root holds half of them; a nested step
    needs none.
    """
    before, name = _steps.get(), await root_of(organization_ids[0]) if organization_ids else ""
    async with held(places("step"), before, name) as place, Write(engine("flow"), expire_on_commit=False) as session:
        _steps.set(place)
        try:
            async with session.begin():
                await _begin_owned(session, organization_ids=_joined(organization_ids))
                yield session
                await conclude(session)
        finally:
            _steps.set(before)


@asynccontextmanager
async def rehearsing(*organization_ids: UUID) -> AsyncIterator[Write]:
    """Open a transaction that is always rolled back, to preview an operation.

    It uses the workflows' connections, as it keeps one while it calls chains. The caller pauses its own transaction.
    """
    async with held(places("flow")), Write(engine("flow"), expire_on_commit=False) as session:
        session.info[_REHEARSAL] = True
        await engines.begin(session, organization_ids=_joined(organization_ids))
        await session.execute(_TIMEOUTS)
        yield session


@asynccontextmanager
async def reading(*organization_ids: UUID) -> AsyncIterator[Read]:
    """A read-only transaction of the app's role. Waits for a place as `transaction` does."""
    async with held(places("app"), _outer()), Read(engine("app"), expire_on_commit=False) as session, session.begin():
        await engines.begin(session, engines.READ_ONLY, **scoped(organization_ids))
        yield session


@asynccontextmanager
async def worker(*, is_owned: bool = False) -> AsyncIterator[Write]:
    """Open a transaction of the worker's role, which sees every organization. `is_owned`: it begins with the check of
    `check_owner`.

    For chain infrastructure only, never for a request.
    """
    async with Write(engine("worker"), expire_on_commit=False) as session, session.begin():
        if is_owned:
            await _begin_owned(session)
        yield session
        await conclude(session)


@asynccontextmanager
async def look() -> AsyncIterator[Read]:
    """Open a session of the worker's role that reads with single statements, without a transaction around them.

    For chain infrastructure only, never for a request.
    """
    async with Read(engine("worker"), expire_on_commit=False) as session:
        await engines.begin(session, engines.NOTHING)
        yield session


async def undo(session: AsyncSession) -> None:
    """Roll back a request's session, including work deferred to its end.

    The session continues with an empty transaction, outside every organization.
    """
    session.info.pop(_LAST, None)
    await session.rollback()


def before_commit(session: AsyncSession, work: Callable[[AsyncSession], Awaitable[None]]) -> None:
    """Defer work that locks contended rows to the end of the transaction, to hold the locks as briefly as possible."""
    session.info.setdefault(_LAST, []).append(work)


async def conclude(session: AsyncSession) -> None:
    """Do the work that was deferred to the end of the transaction."""
    if _LAST in session.info:
        await session.flush()
        for work in session.info.pop(_LAST):
            await work(session)


def violated(error: IntegrityError) -> str:
    """Return the name of the constraint that an IntegrityError violated, or an empty string."""
    diagnostics = getattr(error.orig, "diag", None)
    return str(getattr(diagnostics, "constraint_name", "") or "")


def now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


def new_id() -> UUID:
    """Return a UUIDv7: hard to guess, and ordered by creation."""
    return UUID(bytes=uuid_utils.uuid7().bytes)
