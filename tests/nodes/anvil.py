"""A client of the real node behind a pool."""

from collections.abc import Sequence
from typing import Any

import httpx
import orjson

from tests.nodes.refusals import Refusal


class Anvil:
    """Calls one anvil. Errors are `Refusal`s in its own words."""

    def __init__(self, url: str) -> None:
        self.url = url
        limits = httpx.Limits(max_connections=50, max_keepalive_connections=50)
        self._http = httpx.AsyncClient(timeout=60, trust_env=False, limits=limits)

    async def call(self, method: str, *parameters: Any) -> Any:
        """One call."""
        body = {"jsonrpc": "2.0", "id": 0, "method": method, "params": list(parameters)}
        return _result(await self._post(body))

    async def batch(self, calls: Sequence[tuple[str, list[Any]]]) -> list[Any]:
        """Several calls in one round trip."""
        if not calls:
            return []
        body = [{"jsonrpc": "2.0", "id": i, "method": m, "params": p} for i, (m, p) in enumerate(calls)]
        told = sorted(await self._post(body), key=lambda answer: answer["id"])
        return [_result(answer) for answer in told]

    async def height(self) -> int:
        """The number of the newest block."""
        return int(await self.call("eth_blockNumber"), 16)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _post(self, body: Any) -> Any:
        headers = {"Content-Type": "application/json"}
        response = await self._http.post(self.url, content=orjson.dumps(body), headers=headers)
        return orjson.loads(response.content)


def _result(answer: dict[str, Any]) -> Any:
    error = answer.get("error")
    if error is not None:
        raise Refusal(error["code"], error["message"], error.get("data"))
    return answer["result"]
