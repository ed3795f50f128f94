"""`SignumClient`: every operation as a method, and what programs do around them."""

import asyncio
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any, Self, TypeVar

from pydantic import BaseModel

from backend.auth.schemas import Login, Tokens
from backend.client.blocking import Blocking
from backend.client.connection import Id
from backend.client.operations import Operations
from backend.client.problem import ApiProblem
from backend.requests.schemas import FINAL, Request, RequestStatus
from backend.settings import settings

M = TypeVar("M", bound=BaseModel)
POLL = (0.1, 2.0)
"""Seconds between two looks at a request: at first, and at most."""


class SignumClient(Operations):
    """The API for Python programs, with one method per operation, named as in the OpenAPI document.

    `base_url` is the installation's origin; credentials are an API key, an access token, or what `sign_in` gets.
    Methods raise ApiProblem with the API's words, and httpx.TransportError where it cannot be reached. Calls that are
    harmless to repeat are repeated (`repeating`); POST and PATCH are, because they carry an idempotency key.
    """

    async def __aenter__(self) -> Self:
        """The client; its connections are closed at the end."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connections."""
        await self.close()

    def blocking(self) -> Blocking:
        """The same without `await`: `with SignumClient(…).blocking() as wait: wait(wait.client.get_asset(…))`."""
        return Blocking(self)

    async def sign_in(self, email: str, password: str, code: str | None = None) -> Tokens:
        """Sign in; calls are then this person's, and the access token is renewed by itself.

        An account with a second factor needs a `code` of its authenticator app, or a recovery code.
        """
        tokens = await self.login(Login(email=email, password=password, code=code))
        self._keep(tokens)
        return tokens

    async def wait_for(self, request_id: Id, *, timeout: float = 120.0, org_id: Id | None = None) -> Request:  # noqa: ASYNC109
        """Wait until an accepted request has succeeded.

        Raises its problem as ApiProblem where it failed or was denied, and TimeoutError after `timeout` seconds (the
        request goes on). `org_id` is needed only for a request that another client got accepted.
        """
        async with asyncio.timeout(timeout):
            async for request in self.watch(request_id, org_id=org_id):
                last = request
        if last.status is not RequestStatus.SUCCEEDED:
            raise ApiProblem(last.problem or _ended(last))
        return last

    async def watch(self, request_id: Id, *, org_id: Id | None = None) -> AsyncIterator[Request]:
        """A request as it is now, then whenever it has changed, until its end."""
        place, before, pause = self._place(request_id, org_id), None, POLL[0]
        while True:
            request = await self._send(Request, "GET", place)
            if request != before:
                yield request
                pause = POLL[0]
            if request.status in FINAL:
                return
            before, pause = request, min(POLL[1], pause * 1.5)
            await asyncio.sleep(pause)

    def _place(self, request_id: Id, org_id: Id | None) -> str:
        if org_id is not None:
            return f"/orgs/{org_id}/requests/{request_id}"
        if place := self._places.get(str(request_id)):
            return place
        raise ValueError(f"This client does not know whose request {request_id} is; say so with org_id=.")

    @property
    def devnet(self) -> bool:
        """Whether the chains are the ones this installation started itself: the console then says so everywhere."""
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
        """One call, never repeated; `path` is below /v1. The parsed answer, or None for 204. Raises ApiProblem. A file
        goes as `content`, with its `content-type` among the headers."""
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
        if response.status_code >= 400:
            raise ApiProblem.of(response)
        return response.json() if response.content else None


def _ended(request: Request) -> dict[str, Any]:
    return {
        "status": 409,
        "title": "Denied" if request.status is RequestStatus.DENIED else "Failed",
        "detail": f"{request.title}: {request.status}.",
        "instance": f"urn:uuid:{request.id}",
    }
