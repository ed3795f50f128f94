"""Shared reads: one task per organization's log and per request reads for all streams of this process that follow it.

It reads as the app's role, within the organization, so row-level security applies.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from contextvars import Context as TaskContext
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar
from uuid import UUID

import structlog

from backend.core import db
from backend.core.errors import NotFound
from backend.core.fair_places import Places, held
from backend.core.runtime import runtime
from backend.live_updates import hints
from backend.live_updates.hints import Topic

log = structlog.get_logger()
PLACES = 4
"""Reads at a time. Organizations take turns."""
EVERY = 30.0
"""Seconds until a read without a hint: what a stream shows may also depend on time and on other records."""
AGAIN = 2.0
"""Seconds until a read that failed is repeated."""


@dataclass
class Readers:
    """The shared reads of one event loop, by topic, and their places."""

    shared: dict[Topic, "Shared[Any]"] = field(default_factory=dict)
    places: Places = field(default_factory=lambda: Places(PLACES, None))


class Source(Protocol):
    """What is read for several streams."""

    async def read(self, session: db.Read) -> bool:
        """Read what is new; return whether there is any. Raises NotFound where there is nothing more to read."""


S = TypeVar("S", bound=Source)


class Shared(Generic[S]):
    """A source with the streams that it wakes."""

    def __init__(self, topic: Topic, organization_id: UUID, source: S) -> None:
        self.topic, self.organization_id, self.source = topic, organization_id, source
        self.wakes: set[asyncio.Event] = set()
        self.is_gone = False
        """Whether there is nothing more to read."""
        # Without the context of the first stream: the reads of a topic count for none of its callers.
        self._task = asyncio.create_task(self._run(), context=TaskContext())

    async def _run(self) -> None:
        async with hints.subscribed(self.topic) as hint:
            while not self.is_gone:
                hint.clear()
                if await self._read():
                    self.wake()
                with suppress(TimeoutError):
                    await asyncio.wait_for(hint.wait(), EVERY)

    async def _read(self) -> bool:
        while True:
            try:
                async with reading(self.organization_id) as session:
                    return await self.source.read(session)
            except NotFound:
                self.is_gone = True
                return True
            except db.FAULTS as error:
                log.warning("live_updates.read_failed", topic=self.topic[0], error=type(error).__name__)
                await asyncio.sleep(AGAIN)

    def wake(self) -> None:
        """Wake the streams."""
        for wake in self.wakes:
            wake.set()

    def end(self) -> None:
        """End the task, after the last stream."""
        self._task.cancel()


@asynccontextmanager
async def reading(organization_id: UUID) -> AsyncIterator[db.Read]:
    """Open a transaction that reads an organization, in its turn among the organizations."""
    places = runtime.loop_part(Readers).places
    async with held(places, name=str(organization_id)), db.reading(organization_id) as session:
        yield session


@asynccontextmanager
async def shared(
    topic: Topic, organization_id: UUID, make: Callable[[], S], wake: asyncio.Event
) -> AsyncIterator[Shared[S]]:
    """Share a source with the other streams of this loop; `wake` is set when it has read something new."""
    readers = runtime.loop_part(Readers)
    if topic not in readers.shared:
        readers.shared[topic] = Shared(topic, organization_id, make())
    found: Shared[S] = readers.shared[topic]
    found.wakes.add(wake)
    try:
        yield found
    finally:
        found.wakes.discard(wake)
        if not found.wakes and readers.shared.get(topic) is found:
            del readers.shared[topic]
            found.end()
