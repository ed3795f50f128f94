"""Callers of open streams: each is authenticated again every few seconds, while a stream of it is open.

A caller whose credential, session, role, scope or allowed address has ended loses its streams. Streams of one
credential share a check. Checks take turns on one connection, so many callers make them rarer, not the server slower.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from contextvars import Context as TaskContext
from dataclasses import dataclass, field
from uuid import UUID

import structlog
from fastapi import Request

from backend.auth import callers as principals
from backend.auth.credentials import authenticate, client_address
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.core import db
from backend.core.errors import SignumError, TooManyRequests, Unavailable
from backend.core.roots import origin_of
from backend.core.runtime import runtime
from backend.limits.concurrency import Holder

log = structlog.get_logger()
EVERY = 4.0
"""Seconds between two checks of a caller."""
UNKNOWN = 60.0
"""Seconds without a working check, because the database does not answer, after which streams end."""
Name = tuple[str, str, UUID]


@dataclass(eq=False)
class Caller:
    """A caller of streams in one organization, with the request that carries its credentials."""

    name: Name
    request: Request
    organization_id: UUID
    needed: tuple[Scope, ...]
    scopes: frozenset[Scope]
    checked_at: float
    refusal: SignumError | None = None
    wakes: set[asyncio.Event] = field(default_factory=set)

    async def check(self) -> None:
        """Authenticate again; on a refusal, end the streams."""
        now = asyncio.get_running_loop().time()
        try:
            async with db.transaction() as session:
                context = await authenticate(self.request, session)
                await context.enter(self.organization_id, *self.needed)
                await db.undo(session)  # a check is no use of the session: one with an open stream still becomes idle
            self.scopes, self.checked_at = context.scopes, now
        except (Unavailable, TooManyRequests) as error:
            self._miss(now, error)
        except SignumError as error:
            self.refusal = error
        except db.FAULTS as error:
            self._miss(now, error)
        if self.refusal is not None:
            for wake in self.wakes:
                wake.set()

    def _miss(self, now: float, error: Exception) -> None:
        log.warning("live_updates.check_failed", error=type(error).__name__)
        if now - self.checked_at > UNKNOWN:
            self.refusal = Unavailable("The server is busy. Retry in 5 s.", headers={"Retry-After": "5"})


@dataclass
class Callers:
    """The callers of one event loop, and the task that checks them."""

    known: dict[Name, Caller] = field(default_factory=dict)
    due: asyncio.Event = field(default_factory=asyncio.Event)
    task: "asyncio.Task[None] | None" = None


async def holder(context: Context) -> Holder:
    """Return the names for which a stream counts: one person can found several roots, so a new one also counts for its
    origin."""
    found = await principals.holder(context)
    origin = await origin_of(context.session, context.organization_id)
    return Holder(found.names, (*found.roots, f"origin:{origin}")) if origin else found


def enter(
    request: Request, organization_id: UUID, needed: Sequence[Scope], scopes: frozenset[Scope], wake: asyncio.Event
) -> Caller:
    """Return the caller of a request that was admitted just now, shared with its other streams; `leave` ends it."""
    callers, now = runtime.loop_part(Callers), asyncio.get_running_loop().time()
    name = _name(request, organization_id, needed)
    caller = callers.known.get(name)
    if caller is None or caller.refusal is not None:
        caller = callers.known[name] = Caller(name, request, organization_id, tuple(needed), scopes, now)
    caller.scopes, caller.checked_at = scopes, now
    caller.wakes.add(wake)
    if callers.task is None or callers.task.done():
        callers.task = asyncio.create_task(_run(callers), context=TaskContext())
    return caller


def leave(caller: Caller, wake: asyncio.Event) -> None:
    """Take a stream away from its caller."""
    caller.wakes.discard(wake)
    known = runtime.loop_part(Callers).known
    if not caller.wakes and known.get(caller.name) is caller:
        del known[caller.name]


def check_soon(organization_id: UUID) -> None:
    """Check the callers of an organization now, because someone's access there may have changed."""
    callers = runtime.loop_part(Callers)
    for caller in callers.known.values():
        if caller.organization_id == organization_id:
            caller.checked_at -= EVERY
    callers.due.set()


def _name(request: Request, organization_id: UUID, needed: Sequence[Scope]) -> Name:
    return principals.credential_digest(request), f"{client_address(request)} {' '.join(needed)}", organization_id


async def _run(callers: Callers) -> None:
    """Check callers until none is left."""
    loop = asyncio.get_running_loop()
    while callers.known:
        callers.due.clear()
        for caller in list(callers.known.values()):
            if caller.refusal is None and loop.time() - caller.checked_at >= EVERY:
                await _check(caller)
        with suppress(TimeoutError):
            await asyncio.wait_for(callers.due.wait(), 1.0)


async def _check(caller: Caller) -> None:
    try:
        await caller.check()
    except Exception:
        log.exception("live_updates.check_crashed")
        caller.refusal = SignumError("An unexpected error occurred.")
