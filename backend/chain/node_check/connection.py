"""Calls to one RPC URL, for the node check only: nothing is passed to another node, and nothing is remembered."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import httpx
import orjson

from backend.chain.rpc.json_rpc import Request

TIMEOUT = httpx.Timeout(10.0, connect=4.0)
ATTEMPTS = 3
LONGEST_WAIT = 10.0
"""Maximum seconds to wait for a rate limit."""
_LIMITS = frozenset({-32005, -32029, -32097, 429})


class Unanswered(Exception):
    """The node did not answer a call, or rate-limited it; the message says which and never contains the URL. `wait`:
    seconds until another attempt makes sense."""

    def __init__(self, why: str, wait: float = 0.2) -> None:
        super().__init__(why)
        self.wait = wait


class Refused(Exception):
    """The node answered a call with an error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message

    @property
    def is_unknown_method(self) -> bool:
        """Whether the node does not have the method."""
        words = ("method not found", "not supported", "does not exist/is not available", "unsupported method")
        return self.code in (-32601, -32004) or any(word in self.message.lower() for word in words)


def host_of(url: str) -> str:
    """Return the host of a URL, and its port if any: the rest may contain a provider's key."""
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)


class NodeConnection:
    """One RPC URL. Every request opens a separate connection, so that a load balancer chooses a machine each time."""

    def __init__(self, url: str, deadline: float) -> None:
        self._url = url
        self._deadline = deadline
        limits = httpx.Limits(max_connections=10, max_keepalive_connections=0)
        self._http = httpx.AsyncClient(timeout=TIMEOUT, limits=limits, trust_env=False)
        self.calls = 0
        self.limited = 0

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def call(self, method: str, *parameters: Any) -> Any:
        """Return the result of a call. Raises Refused and Unanswered."""
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": list(parameters)}
        answer = await self._persist(request)
        if not isinstance(answer, dict) or ("result" not in answer and not answer.get("error")):
            raise Unanswered("malformed response")
        if answer.get("error"):
            raise _refusal(answer["error"])
        return answer["result"]

    async def batch(self, requests: Sequence[Request]) -> list[dict[str, Any]]:
        """Return the responses of a batch in the order of its requests. Raises Refused if some are missing."""
        body = [{"jsonrpc": "2.0", "id": n, "method": m, "params": p} for n, (m, p) in enumerate(requests)]
        answer = await self._persist(body)
        if isinstance(answer, dict) and answer.get("error"):
            raise _refusal(answer["error"])
        by_id = {entry.get("id"): entry for entry in answer if isinstance(entry, dict)} if answer else {}
        if set(by_id) != set(range(len(requests))):
            raise Refused(0, "some requests of the batch were not answered")
        return [by_id[number] for number in range(len(requests))]

    async def _persist(self, body: Any) -> Any:
        """Post until there is an answer other than a rate limit, a few times and within the check's time."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return await self._post(body)
            except Unanswered as error:
                if attempt == ATTEMPTS or time.monotonic() + error.wait > self._deadline:
                    raise
                wait = error.wait
            await asyncio.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    async def _post(self, body: Any) -> Any:
        self.calls += len(body) if isinstance(body, list) else 1
        try:
            response = await self._http.post(self._url, json=body)
        except httpx.TimeoutException:
            raise Unanswered("no response within 10 seconds") from None
        except httpx.HTTPError:
            raise Unanswered("no response") from None
        return self._read(body, response)

    def _read(self, body: Any, response: httpx.Response) -> Any:
        if response.status_code == httpx.codes.TOO_MANY_REQUESTS:
            raise self._limit(_retry_after(response))
        try:
            answer = orjson.loads(response.content)
        except ValueError:
            raise _unreadable(response) from None
        if _is_limit(body, answer):
            raise self._limit(1.0)
        return answer

    def _limit(self, wait: float) -> Unanswered:
        self.limited += 1
        return Unanswered("rate limit", min(wait, LONGEST_WAIT))


def _unreadable(response: httpx.Response) -> Exception:
    """Return a refusal by status, such as 401 or 413, as an answer; a server error is not one."""
    if response.is_client_error:
        return Refused(response.status_code, f"HTTP status {response.status_code}")
    return Unanswered(f"HTTP status {response.status_code}, not JSON-RPC")


def _retry_after(response: httpx.Response) -> float:
    """Return the seconds of `Retry-After`; a date, or a missing value, counts as one second."""
    given = response.headers.get("retry-after", "")
    return float(given) if given.isdecimal() and len(given) < 6 else 1.0


def _is_limit(body: Any, answer: Any) -> bool:
    """Return whether an answer is a rate limit. For `eth_getLogs` the same codes mean that the range is too large."""
    if isinstance(body, dict) and body["method"] == "eth_getLogs":
        return False
    entries = answer if isinstance(answer, list) else [answer]
    errors = [entry.get("error") for entry in entries if isinstance(entry, dict)]
    return any(isinstance(error, dict) and error.get("code") in _LIMITS for error in errors)


def _refusal(error: Any) -> Refused:
    if not isinstance(error, dict):
        return Refused(0, "an error without a code")
    code = error.get("code")
    return Refused(code if isinstance(code, int) else 0, str(error.get("message", "")))
