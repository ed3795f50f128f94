"""Calls of a browser session, made by the server that the browser is connected to."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

import httpx

from backend.client.calls import Prepared
from backend.client.client import SignumClient
from backend.client.connection import Query
from backend.client.events import Hints
from backend.client.problem import ApiProblem
from backend.client.retries import Repeating
from backend.core.settings import settings

SHORT = Repeating(times=2, patience=2.0, only_limits=True)
"""A page sends many requests together and may exceed its user's rate limit: it waits for the limit's 1-second
window, twice at most. A limit that needs a longer wait is reported immediately."""


class SessionClient(SignumClient):
    """The API as the user of a browser session, over the connections of another client.

    `cookie` is the browser's Cookie header, and `address` its network address, as X-Forwarded-For has it. `refused` is
    called with each problem before it is raised, and may raise another exception instead. `headers` are further ones of
    the browser.
    """

    def __init__(
        self,
        shared: SignumClient,
        cookie: str,
        address: str,
        refused: Callable[[ApiProblem], Awaitable[None]],
        api_key: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(repeating=SHORT)
        self._shared, self._refused = shared, refused
        self._credential = {**(headers or {}), "x-forwarded-for": address}
        if cookie:
            self._credential |= {"cookie": cookie, "origin": settings().origin}
        if api_key:
            self._credential["x-api-key"] = api_key

    def _client(self) -> httpx.AsyncClient:
        return self._shared._client()

    def _new_key(self) -> str | None:
        """Return None: only forms have keys, because an event of a page is sent once."""
        return None

    def _credentials(self) -> dict[str, str]:
        return self._credential

    def _can_stream(self) -> bool:
        return self._shared._can_stream()

    def _hint_source(self) -> Hints | None:
        return self._shared._hint_source()

    @asynccontextmanager
    async def _stream(
        self,
        path: str,
        query: Query | None,
        headers: Mapping[str, str] | None = None,
        timeout: httpx.Timeout | None = None,  # noqa: ASYNC109  (httpx's own, for its reads)
    ) -> AsyncIterator[httpx.Response]:
        try:
            async with super()._stream(path, query, headers, timeout) as response:
                yield response
        except ApiProblem as problem:
            await self._refused(problem)
            raise

    async def _exchange(self, call: Prepared) -> httpx.Response:
        try:
            return await super()._exchange(call)
        except ApiProblem as problem:
            await self._refused(problem)
            raise
