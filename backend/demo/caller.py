"""API access of the demo: as a signed-in person, with idempotent writes.

Every write has an idempotency key made from its name. A demo that was killed restarts from the beginning, and completed
writes return their earlier responses.
"""

import asyncio
from typing import Any

from backend.client import ApiProblem, SignumClient

POLL = 0.05
FINAL = {"succeeded", "failed", "denied"}


class Caller:
    """One person's access to the API."""

    def __init__(self, client: SignumClient, token: str) -> None:
        self._client, self._token = client, token

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
        """Make a call; waits after a 429."""
        while True:
            try:
                return await self._client.call(
                    method,
                    path,
                    json=json,
                    content=content,
                    token=self._token,
                    idempotency_key=key,
                    headers=headers,
                )
            except ApiProblem as problem:
                if problem.is_replayed and key:
                    key = f"{key}+"  # refused in an earlier run, but it may succeed now
                    continue
                if problem.status != 429:
                    raise
            await asyncio.sleep(1)

    async def get(self, path: str) -> Any:
        """Read."""
        return await self.call("GET", path)

    async def post(self, path: str, json: Any = None, *, key: str) -> Any:
        """Write once."""
        return await self.call("POST", path, json, key=f"demo:{key}")

    async def done(self, organization: str, request_id: str) -> dict[str, Any]:
        """Wait for a request's end."""
        while True:
            request: dict[str, Any] = await self.get(f"/orgs/{organization}/requests/{request_id}")
            if request["status"] in FINAL:
                return request
            await asyncio.sleep(POLL)

    async def post_and_wait(self, organization: str, path: str, json: Any = None, *, key: str) -> dict[str, Any]:
        """Write once and wait for the request to succeed; return the acceptance."""
        accepted: dict[str, Any] = await self.post(path, json, key=key)
        await self.succeeded(organization, accepted["requestId"], key)
        return accepted

    async def succeeded(self, organization: str, request_id: str, what: str) -> None:
        """Wait for a request that must succeed."""
        request = await self.done(organization, request_id)
        if request["status"] != "succeeded":
            raise RuntimeError(f"{what}: {(request['problem'] or {}).get('detail', 'failed')}")
