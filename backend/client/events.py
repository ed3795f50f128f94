"""Streams of events (Server-Sent Events), resumed after a lost connection, and hints about changes in this process."""

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from dataclasses import dataclass, field
from json import loads
from typing import Generic, Protocol, TypeVar

import httpx
from pydantic import BaseModel

from backend.client.problem import ApiProblem
from backend.client.retries import Repeating

R = TypeVar("R", bound=BaseModel)
OPENING = 15.0
"""Seconds until the first bytes: a proxy that holds responses back never passes them on."""
QUIET = 45.0
"""Seconds without bytes, after which a stream is opened again: the server sends a heartbeat every 15 s."""
GAP = 0.1
"""Seconds after a hint in which further changes belong to it."""
LONGEST = 10.0
"""Seconds to wait for a hint."""
Opened = Callable[[str | None], AbstractAsyncContextManager[httpx.Response]]
Renewed = Callable[[Exception], Awaitable[bool]]


class Hints(Protocol):
    """Subscribes to hints in this process, by topics: a kind, and the ID that it is about."""

    def __call__(self, *topics: tuple[str, str]) -> AbstractAsyncContextManager[asyncio.Event]:
        """Return a context with an event that each hint sets."""


@dataclass
class Event:
    """A part of a stream: the fields since the last empty line."""

    name: str = "message"
    data: list[str] = field(default_factory=list)
    id: str | None = None
    retry: int | None = None


class Parser:
    """Parses the bytes of a stream, in pieces of any size."""

    def __init__(self) -> None:
        self._rest, self._event = b"", Event()

    def feed(self, piece: bytes) -> Iterator[Event]:
        """Yield the events that a piece completes."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            text = line.removesuffix(b"\r").decode()
            if text:
                self._take(text)
            else:
                done, self._event = self._event, Event()
                yield done

    def _take(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._event.data.append(value)
        elif name == "event":
            self._event.name = value
        elif name == "id":
            self._event.id = value
        elif name == "retry" and value.isdigit():
            self._event.retry = int(value)


class Events(Generic[R]):
    """A stream of records: `async for event in client.stream_events(org)`.

    It resumes after `last_event_id` when the connection is lost or the server stops, without loss and duplicates. Keep
    `last_event_id` to continue in another process. Raises ApiProblem where the API refuses the stream or the caller
    loses access, and httpx.TransportError where the API cannot be reached for longer than `Repeating` allows.
    """

    def __init__(
        self, opened: Opened, kind: type[R], repeating: Repeating, renewed: Renewed, last_event_id: str | None = None
    ) -> None:
        self._opened, self._kind, self._repeating, self._renewed = opened, kind, repeating, renewed
        self.last_event_id = last_event_id
        self._retry = 2.0
        self._failures = 0

    async def __aiter__(self) -> AsyncGenerator[R, None]:
        """Yield the records, until the stream ends."""
        while True:
            pause: float | None = None
            try:
                async with AsyncExitStack() as held:
                    response, pieces, first = await self._open(held)
                    if response.status_code == 204:
                        return
                    for record in self._read(parser := Parser(), first):
                        yield record
                    async for piece in pieces:
                        for record in self._read(parser, piece):
                            yield record
            except (ApiProblem, httpx.TransportError) as fault:
                if await self._renewed(fault):
                    continue
                pause = self._repeating.wait(self._failures, fault, True)
                if pause is None:
                    raise
                self._failures += 1
            await asyncio.sleep(self._retry * random.uniform(0.5, 1.0) if pause is None else pause)  # noqa: S311

    async def _open(self, held: AsyncExitStack) -> tuple[httpx.Response, AsyncIterator[bytes], bytes]:
        """Open the stream; return also its first bytes."""
        try:
            async with asyncio.timeout(OPENING):
                response = await held.enter_async_context(self._opened(self.last_event_id))
                if response.status_code == 200 and not _is_stream(response):
                    raise httpx.RemoteProtocolError("The response is not a stream of events.")
                pieces = response.aiter_bytes()
                return response, pieces, await anext(pieces, b"")
        except TimeoutError:
            raise httpx.ReadTimeout("The stream did not begin: a proxy may hold it back.") from None

    def _read(self, parser: Parser, piece: bytes) -> Iterator[R]:
        self._failures = 0
        for event in parser.feed(piece):
            if event.retry is not None:
                self._retry = event.retry / 1_000
            if event.data and event.name == "problem":
                raise ApiProblem(loads("\n".join(event.data)))
            if event.data:
                record = self._kind.model_validate_json("\n".join(event.data))
                self.last_event_id = event.id or self.last_event_id
                yield record
            elif event.id is not None:
                self.last_event_id = event.id


def _is_stream(response: httpx.Response) -> bool:
    return str(response.headers.get("content-type", "")).startswith("text/event-stream")


class Changes:
    """Waits for changes: for hints in the API's own process, else for a pause."""

    def __init__(self, hint: asyncio.Event | None) -> None:
        self._hint = hint

    async def wait(self, pause: float) -> None:
        """Wait until something may have changed; without hints, for `pause` seconds."""
        if self._hint is None:
            await asyncio.sleep(pause)
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(LONGEST):
                await self._hint.wait()
            await asyncio.sleep(GAP)
        self._hint.clear()
