"""How a call is made: address, credentials, one HTTP client, repeats, and an answer read as a record."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar
from urllib.parse import quote
from uuid import UUID

import httpx
from pydantic import BaseModel

from backend.auth.schemas import Refresh, Tokens
from backend.client.content import Content, Download
from backend.client.pages import Pages
from backend.client.problem import ApiProblem
from backend.client.repeating import Repeating
from backend.client.requesting import Prepared, prepare, query_of
from backend.settings import settings

K = TypeVar("K")
P = TypeVar("P", bound=BaseModel)
Id = UUID | str
"""An id as the API gives it, or its text."""
Query = Mapping[str, Any]
RECENT = 1_000
"""Requests whose address is remembered, so that `wait_for` needs their id only."""


def path(template: str, *parts: object) -> str:
    """A path below `/v1`: `{}` filled in order, each part escaped. Raises ValueError for a part that is empty or all
    dots: without it, the path would be that of another operation."""
    texts = [str(part) for part in parts]
    if wrong := [text for text in texts if not text.strip(".")]:
        raise ValueError(f"{wrong[0]!r} is not an id.")
    return template.format(*(quote(text, safe="") for text in texts))


class Connection:
    """The way to one API. Made by `SignumClient`, whose generated methods call what begins with `_`."""

    def __init__(
        self,
        base_url: str | None = None,
        *,
        api_key: str = "",
        token: str = "",
        refresh_token: str = "",
        on_tokens: Callable[[str, str], None] | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        timeout: float = 30.0,
        repeating: Repeating | None = None,
    ) -> None:
        self._base_url, self._transport, self._timeout = base_url, transport, timeout
        self._headers = {"x-api-key": api_key} if api_key else {}
        self._token, self._refresh_token = token, refresh_token
        self._on_tokens = on_tokens
        self._renewal = asyncio.Lock()
        self._repeating = repeating or Repeating()
        self._http: httpx.AsyncClient | None = None
        self._places: dict[str, str] = {}

    def use(self, transport: httpx.AsyncBaseTransport) -> None:
        """Reach the API by another transport, such as the application in this process."""
        self._transport, self._http = transport, None

    async def close(self) -> None:
        """Close the connections."""
        if self._http is not None:
            await self._http.aclose()
            self._http = None

    async def _send(
        self,
        kind: type[K],
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: BaseModel | Content | None = None,
        key: str | None = None,
    ) -> K:
        """A call whose answer is a `kind`."""
        return _read(kind, await self._exchange(prepare(method, path, query, body, key)))

    async def _send_by_status(
        self,
        kinds: Mapping[int, type[K]],
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: BaseModel | Content | None = None,
        key: str | None = None,
    ) -> K:
        """A call whose status tells what its answer is."""
        response = await self._exchange(prepare(method, path, query, body, key))
        return _read(kinds[response.status_code], response)

    async def _do(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: BaseModel | Content | None = None,
        key: str | None = None,
    ) -> None:
        """A call that answers nothing."""
        await self._exchange(prepare(method, path, query, body, key))

    async def _where(self, method: str, path: str, *, query: Query | None = None) -> str:
        """Where a call sends the caller on to."""
        return str((await self._exchange(prepare(method, path, query, None, None))).headers["location"])

    def _pages(self, kind: type[P], items: str, path: str, query: Query) -> Pages[P, Any]:
        """A list, page by page."""

        async def fetch(cursor: str | None) -> P:
            return await self._send(kind, "GET", path, query={**query, "cursor": cursor})

        return Pages(fetch, query.get("cursor"), items)

    def _download(self, path: str, *, query: Query | None = None) -> Download:
        """An answer to be streamed."""
        return Download(lambda: self._stream(path, query_of(query)))

    @asynccontextmanager
    async def _stream(self, path: str, query: Query | None) -> AsyncIterator[httpx.Response]:
        sent = {**self._headers, **self._bearer()}
        async with self._client().stream("GET", f"/v1{path}", params=query, headers=sent) as response:
            if response.status_code >= 400:
                await response.aread()
                raise ApiProblem.of(response)
            yield response

    async def _exchange(self, call: Prepared) -> httpx.Response:
        """Send, and send again where that is harmless and may help."""
        attempt, token = 0, self._token
        while True:
            try:
                return await self._attempt(call)
            except (ApiProblem, httpx.TransportError) as fault:
                if await self._renewed(fault, token):
                    token = ""
                    continue
                wait = self._repeating.wait(attempt, fault, call.is_harmless)
                if wait is None:
                    raise
            await asyncio.sleep(wait)
            attempt += 1

    async def _attempt(self, call: Prepared) -> httpx.Response:
        response = await self._client().request(
            call.method, f"/v1{call.path}", headers={**call.headers, **self._bearer()}, **call.options
        )
        if response.status_code >= 400:
            raise ApiProblem.of(response)
        self._remember(response)
        return response

    async def _renewed(self, fault: Exception, token: str) -> bool:
        """Whether a 401 was the end of the access token, and there is a new one now. Calls at once renew it once."""
        if not (isinstance(fault, ApiProblem) and fault.status == 401 and token and self._refresh_token):
            return False
        async with self._renewal:
            if self._token == token:
                await self._renew()
        return True

    async def _renew(self) -> None:
        """Get another access token for the refresh token, which works once."""
        refresh, self._refresh_token, self._token = self._refresh_token, "", ""
        call = prepare("POST", "/auth/refresh", None, Refresh(refresh_token=refresh), None)
        self._keep(_read(Tokens, await self._attempt(call)))

    def _keep(self, tokens: Tokens) -> None:
        self._token, self._refresh_token = tokens.access_token, tokens.refresh_token
        if self._on_tokens is not None:
            self._on_tokens(tokens.access_token, tokens.refresh_token)

    def _bearer(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self._token}"} if self._token else {}

    def _remember(self, response: httpx.Response) -> None:
        """Where a request can be followed: the answer that accepted it says so."""
        place = response.headers.get("location", "")
        if "/requests/" in place:
            self._places[place.rsplit("/", 1)[-1]] = place.removeprefix("/v1")
            if len(self._places) > RECENT:
                del self._places[next(iter(self._places))]

    def _client(self) -> httpx.AsyncClient:
        if self._http is None:
            self._http = httpx.AsyncClient(
                base_url=self._base_url or settings().origin,
                transport=self._transport,
                headers=self._headers,
                timeout=self._timeout,
                trust_env=False,
            )
        return self._http


def _read(kind: type[K], response: httpx.Response) -> K:
    if kind is type(None):
        return kind()
    if issubclass(kind, BaseModel):
        return kind.model_validate_json(response.content)
    found: K = response.json()
    return found
