"""Calls of the client: address, credentials, one HTTP client, retries, and responses as records."""

import asyncio
import os
import ssl
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar
from urllib.parse import quote
from uuid import UUID

import httpx
from pydantic import BaseModel

from backend.client.calls import Prepared, prepare, query_of
from backend.client.content import Content, Download
from backend.client.events import QUIET, Events, Hints
from backend.client.pages import Pages
from backend.client.problem import ApiProblem, NotAnId
from backend.client.retries import Repeating, new_key
from backend.core.settings import settings
from backend.sign_in.schemas import Refresh, Tokens

K = TypeVar("K")
P = TypeVar("P", bound=BaseModel)
R = TypeVar("R", bound=BaseModel)
Id = UUID | str
"""An id from the API, or its text."""
Query = Mapping[str, Any]
RECENT = 1_000
"""Requests whose address is remembered, so that `wait_for` needs only their id."""

_collected: ContextVar[httpx.Headers | None] = ContextVar("response_headers", default=None)


def path(template: str, *parts: object) -> str:
    """Return a path below `/v1`, with each `{}` filled in order and escaped.

    Raises NotAnId for a part that is empty, all dots, or contains a slash: the path would be that of another operation.
    """
    texts = [str(part) for part in parts]
    if wrong := [text for text in texts if not text.strip(".") or "/" in text]:
        raise NotAnId(wrong[0])
    return template.format(*(quote(text, safe="") for text in texts))


class Connection:
    """The connection to one API. Created by `SignumClient`, whose generated methods call its private methods."""

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
        self._hints: Hints | None = None
        self._places: dict[str, str] = {}

    def use(self, transport: httpx.AsyncBaseTransport, hints: Hints | None = None) -> None:
        """Use another transport, such as the application in this process, and its hints about changes."""
        self._transport, self._http, self._hints = transport, None, hints

    @contextmanager
    def response_headers(self) -> Iterator[httpx.Headers]:
        """Collect the headers of the last response within the block, such as `location` and `etag`.

        They belong to the current task: calls of other tasks do not change them.
        """
        headers = httpx.Headers()
        before = _collected.set(headers)
        try:
            yield headers
        finally:
            _collected.reset(before)

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
        if_match: str | None = None,
    ) -> K:
        """Make a call whose response is a `kind`."""
        return _read(kind, await self._exchange(prepare(method, path, query, body, key, if_match)))

    async def _send_by_status(
        self,
        kinds: Mapping[int, type[K]],
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: BaseModel | Content | None = None,
        key: str | None = None,
        if_match: str | None = None,
    ) -> K:
        """Make a call whose status determines the type of its response."""
        response = await self._exchange(prepare(method, path, query, body, key, if_match))
        return _read(kinds[response.status_code], response)

    async def _do(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: BaseModel | Content | None = None,
        key: str | None = None,
        if_match: str | None = None,
    ) -> None:
        """Make a call without a response body."""
        await self._exchange(prepare(method, path, query, body, key, if_match))

    async def _where(self, method: str, path: str, *, query: Query | None = None) -> str:
        """Return the address to which a call redirects."""
        return str((await self._exchange(prepare(method, path, query, None, None))).headers["location"])

    def _pages(self, kind: type[P], items: str, path: str, query: Query) -> Pages[P, Any]:
        """Return a list, page by page."""

        async def fetch(cursor: str | None) -> P:
            return await self._send(kind, "GET", path, query={**query, "cursor": cursor})

        return Pages(fetch, query.get("cursor"), items)

    def _download(self, path: str, *, query: Query | None = None) -> Download:
        """Return a streamed response."""
        return Download(lambda: self._stream(path, query_of(query)))

    def _events(
        self, kind: type[R], path: str, last_event_id: str | None = None, repeating: Repeating | None = None
    ) -> Events[R]:
        """Return a stream of records."""
        token = ""

        @asynccontextmanager
        async def opened(last: str | None) -> AsyncIterator[httpx.Response]:
            nonlocal token
            if not self._can_stream():
                raise RuntimeError("httpx.ASGITransport delivers only complete responses. Connect to a server.")
            token, headers = self._token, {"accept": "text/event-stream"} | ({"last-event-id": last} if last else {})
            async with self._stream(path, None, headers, httpx.Timeout(self._timeout, read=QUIET)) as response:
                yield response

        return Events(
            opened, kind, repeating or self._repeating, lambda fault: self._renewed(fault, token), last_event_id
        )

    def _can_stream(self) -> bool:
        """Return whether parts of a response arrive before its end."""
        return not isinstance(self._transport, httpx.ASGITransport)

    @asynccontextmanager
    async def _stream(
        self,
        path: str,
        query: Query | None,
        headers: Mapping[str, str] | None = None,
        timeout: httpx.Timeout | None = None,  # noqa: ASYNC109  (httpx's own, for its reads)
    ) -> AsyncIterator[httpx.Response]:
        sent, wait = {**self._headers, **self._credentials(), **(headers or {})}, timeout or self._timeout
        async with self._client().stream("GET", f"/v1{path}", params=query, headers=sent, timeout=wait) as response:
            if response.status_code >= 400:
                await response.aread()
                raise ApiProblem.of(response)
            yield response

    async def _exchange(self, call: Prepared) -> httpx.Response:
        """Send a call, and retry it where that is safe and may help."""
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
            call.method, f"/v1{call.path}", headers={**call.headers, **self._credentials()}, **call.options
        )
        return self._accepted(response)

    def _accepted(self, response: httpx.Response) -> httpx.Response:
        """Return a response that is no problem, after noting its headers."""
        if response.status_code >= 400:
            raise ApiProblem.of(response)
        self._remember(response)
        if (collected := _collected.get()) is not None:
            collected.clear()
            collected.update(response.headers)
        return response

    async def _renewed(self, fault: Exception, token: str) -> bool:
        """Return whether a 401 was an expired access token, and a new one is available.

        Concurrent calls renew it once.
        """
        if not (isinstance(fault, ApiProblem) and fault.status == 401 and token and self._refresh_token):
            return False
        async with self._renewal:
            if self._token == token:
                await self._renew()
        return True

    async def _renew(self) -> None:
        """Get a new access token for the refresh token, which works once."""
        refresh, self._refresh_token, self._token = self._refresh_token, "", ""
        call = prepare("POST", "/auth/refresh", None, Refresh(refresh_token=refresh), None)
        self._keep(_read(Tokens, await self._attempt(call)))

    def _keep(self, tokens: Tokens) -> None:
        self._token, self._refresh_token = tokens.access_token, tokens.refresh_token
        if self._on_tokens is not None:
            self._on_tokens(tokens.access_token, tokens.refresh_token)

    def _new_key(self) -> str | None:
        """Return the Idempotency-Key of a call that was given none."""
        return new_key()

    def _credentials(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self._token}"} if self._token else {}

    def _remember(self, response: httpx.Response) -> None:
        """Remember where a request can be followed, from the response that accepted it."""
        place = response.headers.get("location", "")
        if "/requests/" in place:
            self._places[place.rsplit("/", 1)[-1]] = place.removeprefix("/v1")
            if len(self._places) > RECENT:
                del self._places[next(iter(self._places))]

    def _below_base(self, href: str) -> str:
        """Return the path below the API's base address. Raises ValueError for an address elsewhere."""
        base = f"{(self._base_url or settings().origin).rstrip('/')}/v1"
        if not href.startswith(f"{base}/"):
            raise ValueError(f"{href} is not below {base}. Pass a resolution with its path.")
        return href.removeprefix(base)

    def _client(self) -> httpx.AsyncClient:
        if self._http is None:
            self._http = httpx.AsyncClient(
                base_url=self._base_url or settings().origin,
                transport=self._transport,
                headers=self._headers,
                timeout=self._timeout,
                trust_env=False,
                verify=_trusted(),
            )
        return self._http


def _trusted() -> ssl.SSLContext | bool:
    """Return the certificates to trust: those of SSL_CERT_FILE, as OpenSSL reads it, or the public ones. Raises
    httpx.ConnectError if the file cannot be read."""
    if not (file := os.environ.get("SSL_CERT_FILE")):
        return True
    try:
        return ssl.create_default_context(cafile=file)
    except OSError as error:  # SSLError is one
        raise httpx.ConnectError(f"SSL_CERT_FILE names {file}, which has no readable certificate") from error


def _read(kind: type[K], response: httpx.Response) -> K:
    if kind is type(None):
        return kind()
    if issubclass(kind, BaseModel):
        return kind.model_validate_json(response.content)
    found: K = response.json()
    return found
