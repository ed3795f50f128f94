"""Feeds of streams: the events of an organization that a caller may read, and the progress of a request."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

from backend.live_updates import callers, hints
from backend.live_updates.callers import Caller
from backend.live_updates.organization_log import Tail, part
from backend.live_updates.progress import Progress, State
from backend.live_updates.reads import Shared, reading, shared


class OrganizationFeed:
    """The events of an organization after a number of its log."""

    def __init__(self, caller: Caller, tail: Shared[Tail], position: int) -> None:
        self._caller, self._tail, self._position = caller, tail, position

    @property
    def mark(self) -> str:
        """Return the number up to which the stream has sent what its caller may read."""
        return str(self._position)

    @property
    def is_over(self) -> bool:
        """Return False: a log has no end."""
        return False

    async def frames(self) -> AsyncIterator[bytes]:
        """Yield the events that the caller has a scope for: those in memory, before them older ones of the log."""
        tail = self._tail.source
        while self._position < tail.position:
            found, position = tail.after(self._position), tail.position
            if found is None:
                async with reading(tail.organization_id) as session:
                    found, position = await part(session, tail.organization_id, self._position)
            for entry in found:
                if entry.scope in self._caller.scopes and self._caller.refusal is None:
                    yield entry.frame
                self._position = entry.seq
            self._position = max(position, self._position)


@asynccontextmanager
async def organization_feed(caller: Caller, wake: asyncio.Event, position: int) -> AsyncIterator[OrganizationFeed]:
    """Open the feed of an organization."""
    organization_id = caller.organization_id

    def make() -> Tail:
        return Tail(organization_id, on_access=lambda: callers.check_soon(organization_id))

    async with shared(hints.of_log(organization_id), organization_id, make, wake) as tail:
        yield OrganizationFeed(caller, tail, position)


class RequestFeed:
    """The states of a request after one that the client has seen."""

    def __init__(self, caller: Caller, progress: Shared[Progress], first: State, seen: str | None) -> None:
        self._caller, self._progress, self._first, self._sent = caller, progress, first, seen
        self._state = first

    @property
    def mark(self) -> str:
        """Return the ID of the last state that was sent."""
        return self._sent or ""

    @property
    def is_over(self) -> bool:
        """Return whether the state that was sent is final, or the request can no longer be read."""
        return self._state.is_final or self._progress.is_gone

    async def frames(self) -> AsyncIterator[bytes]:
        """Yield the current state if the client does not have it."""
        newest = self._progress.source.state
        named = newest.named(self._first.request.created_by_name) if newest else self._first
        self._state = named.shown(self._caller.scopes)
        if self._state.id != self._sent:
            yield self._state.frame()
            self._sent = self._state.id


@asynccontextmanager
async def request_feed(
    caller: Caller, wake: asyncio.Event, request_id: UUID, first: State, seen: str | None
) -> AsyncIterator[RequestFeed]:
    """Open the feed of a request, which begins with the state `first`."""
    organization_id = caller.organization_id

    def make() -> Progress:
        return Progress(organization_id, request_id)

    async with shared(hints.of_request(request_id), organization_id, make, wake) as progress:
        yield RequestFeed(caller, progress, first, seen)
