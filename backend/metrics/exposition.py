"""`GET /metrics`: on a port of its own, or on the public port with a token."""

import hmac
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus

from starlette.types import Receive, Scope, Send

from backend.core.settings import Settings, settings
from backend.http import plain_port
from backend.http.plain_port import NOT_FOUND, Reply
from backend.metrics import balances, facts, verifications
from backend.metrics.registry import CONTENT_TYPE, metrics

PATH = "/metrics"
UNAUTHORIZED = Reply(b'{"title":"Unauthorized","status":401}', HTTPStatus.UNAUTHORIZED)


async def text() -> bytes:
    """Return all metrics in Prometheus' text format."""
    return metrics().text() + await facts.text() + balances.text() + verifications.text(settings().home)


@asynccontextmanager
async def serving(own: Settings) -> AsyncIterator[None]:
    """Answer on the metrics port while inside; do nothing without one."""
    if own.metrics_port is None:
        yield
        return
    async with plain_port.listening(own.metrics_host, own.metrics_port, "metrics port", _answer):
        yield


async def _answer(path: str) -> Reply:
    return Reply(await text(), content_type=CONTENT_TYPE) if path == PATH else NOT_FOUND


def is_for(scope: Scope) -> bool:
    """Return whether a request to the public port asks for metrics that a token opens."""
    return scope["path"] == PATH and settings().metrics_token is not None


async def answer(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer on the public port; 401 without the token."""
    sent = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
    wanted = f"Bearer {settings().metrics_token}".encode()
    is_known = scope["method"] == "GET" and hmac.compare_digest(sent, wanted)
    reply = Reply(await text(), content_type=CONTENT_TYPE) if is_known else UNAUTHORIZED
    headers = [(b"content-type", reply.content_type.encode()), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": reply.status.value, "headers": headers})
    await send({"type": "http.response.body", "body": reply.body})
