"""`SignumClient`: every operation as a method, and helpers for programs."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Iterator, Mapping
from contextlib import ExitStack, aclosing, asynccontextmanager, suppress
from json import dumps
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx
from anyio.from_thread import BlockingPortal, start_blocking_portal

from backend.client.calls import KEYED, prepare
from backend.client.connection import Id
from backend.client.content import Content
from backend.client.events import Changes, Hints
from backend.client.operations import Operations
from backend.client.problem import ApiProblem
from backend.client.retries import Repeating
from backend.core.settings import settings
from backend.requests.schemas import FINAL, Request, RequestStatus
from backend.sign_in.schemas import Login, Tokens

T = TypeVar("T")
POLL = (0.1, 2.0)
"""Seconds between polls of a request: initial, and maximum."""


ONCE = Repeating(times=1, patience=3.0)
"""How long a request's stream is tried before the request is polled instead."""


class SignumClient(Operations):
    """The API for Python programs, with one method per operation, named as in the OpenAPI document.

    `base_url` is the installation's origin; credentials are an API key, an access token, or the result of `sign_in`.
    Methods raise ApiProblem with the API's problem, and httpx.TransportError where the API cannot be reached. Calls
    that are safe to repeat are retried (`repeating`); POST and PATCH are, because they have an idempotency key.
    """

    async def __aenter__(self) -> Self:
        """Return the client; its connections are closed at the end."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connections."""
        await self.close()

    def blocking(self) -> "Blocking":
        """Return it without `await`: `with SignumClient(…).blocking() as wait: wait(wait.client.get_asset(…))`."""
        return Blocking(self)

    async def sign_in(self, email: str, password: str, code: str | None = None) -> Tokens:
        """Sign in; later calls are this person's, and the access token is renewed automatically.

        An account with a second factor needs a `code` of its authenticator app, or a recovery code.
        """
        tokens = await self.login(Login(email=email, password=password, code=code))
        self._keep(tokens)
        return tokens

    async def wait_for(self, request_id: Id, *, timeout: float = 120.0, org_id: Id | None = None) -> Request:  # noqa: ASYNC109
        """Wait until an accepted request has succeeded.

        Raises its problem as ApiProblem where it failed or was denied, and TimeoutError after `timeout` seconds (the
        request continues). `org_id` is needed only for a request of another client.
        """
        async with asyncio.timeout(timeout):
            async for request in self.watch(request_id, org_id=org_id):
                last = request
        if last.status is not RequestStatus.SUCCEEDED:
            raise ApiProblem(last.problem or _ended(last))
        return last

    async def watch(self, request_id: Id, *, org_id: Id | None = None) -> AsyncIterator[Request]:
        """Yield a request's current state, then each change, until its end.

        It follows the API's stream of the request. Where that does not work, such as behind a proxy that holds
        responses back, it polls the request.
        """
        place, before = self._place(request_id, org_id), None
        for follow in (self._streamed, self._polled) if self._can_stream() else (self._polled,):
            async with aclosing(follow(place)) as states:
                async for request in states:
                    if request != before:
                        yield request
                    before = request
                    if request.status in FINAL:
                        return

    async def _streamed(self, place: str) -> AsyncGenerator[Request, None]:
        """Yield the states of a request from its stream, as long as there is one."""
        with suppress(ApiProblem, httpx.TransportError):
            async with aclosing(aiter(self._events(Request, f"{place}/events", repeating=ONCE))) as states:
                async for request in states:
                    yield request

    async def _polled(self, place: str) -> AsyncGenerator[Request, None]:
        """Yield a request, again and again."""
        before, pause = None, POLL[0]
        _, _, org_id, _, request_id = place.split("/")
        async with self.changes(org_id, request_id) as changes:
            while True:
                request = await self._send(Request, "GET", place)
                yield request
                pause = POLL[0] if request != before else min(POLL[1], pause * 1.5)
                before = request
                await changes.wait(pause)

    @asynccontextmanager
    async def changes(
        self,
        org_id: Id,
        request_id: Id | None = None,
        *,
        events: bool = False,
        requests: bool = False,
        deliveries_of: Id | None = None,
    ) -> AsyncIterator[Changes]:
        """Open waits for changes: of a request, of an organization's events, of all its requests, of the deliveries of
        a webhook endpoint; without any of these, of all its requests.

        In the API's own process (the console) hints end a wait; a hint only says that reading again may help. A client
        elsewhere waits for a pause.
        """
        if (source := self._hint_source()) is None:
            yield Changes(None)
            return
        about = {"request": request_id, "log": org_id if events else None, "deliveries": deliveries_of}
        about["requests"] = org_id if requests else None
        topics = [(kind, str(id_)) for kind, id_ in about.items() if id_]
        async with source(*(topics or [("requests", str(org_id))])) as hint:
            yield Changes(hint)

    def _hint_source(self) -> Hints | None:
        return self._hints

    async def follow(
        self,
        resolution: Mapping[str, Any],
        body: Mapping[str, Any] | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> Any:
        """Make the call that a refusal names (`ApiProblem.resolutions`), and return the parsed response, if any.

        `path` is relative to the API's base address. A resolution with only the absolute `href` is followed if it is an
        address of this API; otherwise ValueError is raised, because the credentials are sent along.
        """
        content = None if body is None else Content(dumps(dict(body)), "application/json")
        method = str(resolution["method"])
        key = idempotency_key or (self._new_key() if method in KEYED else None)
        place = resolution.get("path") or self._below_base(str(resolution["href"]))
        response = await self._exchange(prepare(method, place, None, content, key))
        return response.json() if response.content else None

    def _place(self, request_id: Id, org_id: Id | None) -> str:
        if org_id is not None:
            return f"/orgs/{org_id}/requests/{request_id}"
        if place := self._places.get(str(request_id)):
            return place
        raise ValueError(f"This client does not know the organization of request {request_id}. Pass org_id=.")

    @property
    def devnet(self) -> bool:
        """Return whether the chains are embedded ones: the console then shows it on every page."""
        return settings().embedded_chains

    async def call(
        self,
        method: str,
        path: str,
        *,
        cookie: str = "",
        token: str = "",
        json: Any = None,
        content: bytes | None = None,
        params: dict[str, Any] | None = None,
        idempotency_key: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> Any:
        """Make one call, without retries; `path` is below /v1.

        Returns the parsed response, or None for 204. Raises ApiProblem. A file is passed as `content`, with its
        `content-type` among the headers.
        """
        sent = dict(headers or {})
        if cookie:
            sent |= {"cookie": cookie, "origin": settings().origin}
        if token:
            sent["authorization"] = f"Bearer {token}"
        if idempotency_key:
            sent["idempotency-key"] = idempotency_key
        query = {k: v for k, v in (params or {}).items() if v is not None and v != ""}
        response = await self._client().request(
            method, f"/v1{path}", json=json, content=content, params=query or None, headers=sent
        )
        return self._accepted(response).json() if response.content else None


def _ended(request: Request) -> dict[str, Any]:
    return {
        "status": 409,
        "title": "Denied" if request.status is RequestStatus.DENIED else "Failed",
        "detail": f"{request.title}: {request.status}.",
        "instance": f"urn:uuid:{request.id}",
    }


class Blocking:
    """The client without `await`, for scripts and notebooks: its calls run in their own event loop, in a thread.

    Waits for the results of the client's methods: `wait(wait.client.get_asset(…))`, or the records of
    `wait.each(wait.client.list_assets(…))`.

    Types are those of the methods. As a context manager, it closes the client's connections at the end.
    """

    def __init__(self, client: SignumClient) -> None:
        self.client, self._stack = client, ExitStack()
        self._portal: BlockingPortal | None = None

    def __enter__(self) -> "Blocking":
        """Start the loop."""
        self._portal = self._stack.enter_context(start_blocking_portal())
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connections and end the loop."""
        self(self.client.close())
        self._stack.close()
        self._portal = None

    def __call__(self, awaitable: Awaitable[T]) -> T:
        """Wait for the result of a call."""
        return self._running().call(_await, awaitable)

    def each(self, records: AsyncIterable[T]) -> Iterator[T]:
        """Iterate over the records of a list, or the chunks of a download."""
        iterator = records.__aiter__()
        try:
            while True:
                try:
                    yield self(anext(iterator))
                except StopAsyncIteration:
                    return
        finally:
            if isinstance(iterator, AsyncGenerator):  # a loop that ends early closes its connection
                self(iterator.aclose())

    def _running(self) -> BlockingPortal:
        if self._portal is None:
            raise RuntimeError("Use this object as `with client.blocking() as wait:`.")
        return self._portal


async def _await(awaitable: Awaitable[T]) -> T:
    return await awaitable
