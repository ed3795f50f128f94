"""A client of the real node behind a pool."""

from collections.abc import Sequence
from typing import Any

import httpx
import orjson

from tests.support.node_pool.refusals import Refusal

MOST_BYTES = 500_000
"""Of one request: anvil closes the connection at 2 MB, which the code of forty contracts exceeds."""
SECONDS = 300
"""For one request: to mine 1,500 blocks takes anvil more than a minute on a busy machine."""


class Anvil:
    """Calls one anvil. Errors are `Refusal`s in its own words."""

    def __init__(self, url: str) -> None:
        self.url = url
        limits = httpx.Limits(max_connections=50, max_keepalive_connections=50)
        self._http = httpx.AsyncClient(timeout=SECONDS, trust_env=False, limits=limits)

    async def call(self, method: str, *parameters: Any) -> Any:
        """Make one call."""
        body = {"jsonrpc": "2.0", "id": 0, "method": method, "params": list(parameters)}
        return _result(await self._post(orjson.dumps(body)))

    async def batch(self, calls: Sequence[tuple[str, list[Any]]]) -> list[Any]:
        """Make several calls, in as few round trips as fit `MOST_BYTES` each."""
        reply: list[dict[str, Any]] = []
        body: list[bytes] = []
        for number, (method, parameters) in enumerate(calls):
            call = orjson.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters})
            if body and sum(map(len, body)) + len(call) > MOST_BYTES:
                reply += await self._post(_list(body))
                body = []
            body.append(call)
        if body:
            reply += await self._post(_list(body))
        return [_result(answer) for answer in sorted(reply, key=lambda answer: answer["id"])]

    async def height(self) -> int:
        """Return the number of the newest block."""
        return int(await self.call("eth_blockNumber"), 16)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _post(self, content: bytes) -> Any:
        headers = {"Content-Type": "application/json"}
        response = await self._http.post(self.url, content=content, headers=headers)
        return orjson.loads(response.content)


def _list(calls: Sequence[bytes]) -> bytes:
    return b"[" + b",".join(calls) + b"]"


def _result(answer: dict[str, Any]) -> Any:
    error = answer.get("error")
    if error is not None:
        raise Refusal(error["code"], error["message"], error.get("data"))
    return answer["result"]
