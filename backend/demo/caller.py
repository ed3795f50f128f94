"""API access of the demo: as a signed-in person, with idempotent writes.

Every write has an idempotency key made from its name. A demo that was killed restarts from the beginning, and completed
writes return their earlier responses.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import sqlalchemy as sa

from backend.client import ApiProblem, SignumClient
from backend.core import db
from backend.live_updates.hints import of_request, subscribed
from backend.requests.schemas import FINAL, RequestStatus

LONGEST = 5.0
"""Seconds to wait for a hint that a request has changed."""
_STATUS = sa.text("select status from requests where id = :id")
SignIn = Callable[[], Awaitable[str]]
"""Signs in a person; returns an access token."""


class Caller:
    """One person's access to the API."""

    def __init__(self, client: SignumClient, sign_in: SignIn) -> None:
        self._client, self._sign_in, self._token = client, sign_in, ""
        self._entering = asyncio.Lock()

    async def call(
        self,
        method: str,
        path: str,
        json: Any = None,
        *,
        content: bytes | None = None,
        key: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> Any:
        """Make a call; waits after a 429, and signs in again where the access token has expired."""
        is_renewed = False
        while True:
            token = await self._access()
            try:
                return await self._client.call(
                    method,
                    path,
                    json=json,
                    content=content,
                    token=token,
                    idempotency_key=key,
                    headers=headers,
                )
            except ApiProblem as problem:
                if problem.status == 401 and not is_renewed:
                    self._token, is_renewed = "" if self._token == token else self._token, True
                    continue
                if problem.is_replayed and key:
                    key = f"{key}+"  # refused in an earlier run, but it may succeed now
                    continue
                if problem.status != 429:
                    raise
            await asyncio.sleep(1)

    async def _access(self) -> str:
        async with self._entering:
            self._token = self._token or await self._sign_in()
            return self._token

    async def get(self, path: str) -> Any:
        """Read."""
        return await self.call("GET", path)

    async def post(self, path: str, json: Any = None, *, key: str) -> Any:
        """Write once."""
        return await self.call("POST", path, json, key=f"demo:{key}")

    async def done(self, organization: str, request_id: str) -> dict[str, Any]:
        """Wait for a request's end, and read it."""
        await _ended(request_id)
        found: dict[str, Any] = await self.get(f"/orgs/{organization}/requests/{request_id}")
        return found

    async def post_and_wait(self, organization: str, path: str, json: Any = None, *, key: str) -> dict[str, Any]:
        """Write once and wait for the request to succeed; return the acceptance."""
        accepted: dict[str, Any] = await self.post(path, json, key=key)
        await self.succeeded(organization, accepted["requestId"], key)
        return accepted

    async def succeeded(self, organization: str, request_id: str, what: str) -> None:
        """Wait for a request that must succeed."""
        if await _ended(request_id) != RequestStatus.SUCCEEDED:
            request = await self.done(organization, request_id)
            raise RuntimeError(f"{what}: {(request['problem'] or {}).get('detail', 'failed')}")


async def _ended(request_id: str) -> str:
    """Wait for a request's end; return its status."""
    async with subscribed(of_request(request_id)) as changed:
        while (status := await _status(request_id)) not in FINAL:
            with suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), LONGEST)
            changed.clear()
    return status


async def _status(request_id: str) -> str:
    async with db.look() as session:
        return str(await session.scalar(_STATUS, {"id": request_id}))
