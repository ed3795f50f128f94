"""A reader of streams over real connections."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from backend.client.events import Event, Parser

PATIENCE = 30.0


@dataclass
class Stream:
    """An open stream: its response, and what has arrived."""

    response: httpx.Response
    pieces: Any
    parser: Parser = field(default_factory=Parser)
    waiting: list[Event] = field(default_factory=list)
    text: bytes = b""
    last_event_id: str | None = None

    async def part(self) -> Event | None:
        """Return the next part of any kind; None at the end of the stream."""
        async with asyncio.timeout(PATIENCE):
            while not self.waiting:
                piece = await anext(self.pieces, None)
                if piece is None:
                    return None
                self.text += piece
                self.waiting += self.parser.feed(piece)
        part = self.waiting.pop(0)
        self.last_event_id = part.id or self.last_event_id
        return part

    async def next(self) -> Any:
        """Return the JSON of the next event; None at the end of the stream."""
        while part := await self.part():
            if part.data and part.name == "message":
                return json.loads("\n".join(part.data))
        return None

    async def problem(self) -> Any:
        """Return the problem with which the stream ends, and check that nothing follows."""
        while part := await self.part():
            if part.name == "problem":
                assert await self.part() is None
                return json.loads("\n".join(part.data))
        return None

    async def rest(self) -> list[Any]:
        """Return all events until the end."""
        found = []
        while (event := await self.next()) is not None:
            found.append(event)
        return found


@asynccontextmanager
async def streaming(
    http: httpx.AsyncClient, path: str, last: str | None = None, **headers: str
) -> AsyncIterator[Stream]:
    """Open a stream below `/v1`, once it has begun."""
    sent = headers | ({"last-event-id": last} if last is not None else {})
    async with http.stream("GET", f"/v1{path}", headers=sent) as response:
        if response.status_code != 200:
            await response.aread()
            yield Stream(response, None)
            return
        stream = Stream(response, response.aiter_bytes())
        assert (await stream.part()) is not None  # the beginning
        yield stream
