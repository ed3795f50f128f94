"""How the demo acts: as a signed-in person, through the API, the same call never twice.

Every write carries an idempotency key made of its own name. A demo that was killed is told again from its start, and
what had happened answers as it did then.
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
        """A call; waits where the rate limit says so."""
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
                    key = f"{key}+"  # refused when it was told before, perhaps not any more
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
        """Write once and wait for the request to succeed; answers the acceptance."""
        accepted: dict[str, Any] = await self.post(path, json, key=key)
        await self.succeeded(organization, accepted["requestId"], key)
        return accepted

    async def succeeded(self, organization: str, request_id: str, what: str) -> None:
        """Wait for a request that must succeed."""
        request = await self.done(organization, request_id)
        if request["status"] != "succeeded":
            raise RuntimeError(f"{what}: {(request['problem'] or {}).get('detail', 'failed')}")
