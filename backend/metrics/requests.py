"""Middleware that counts and times the requests to the API."""

import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend.http.route_template import template
from backend.metrics.registry import metrics

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
STREAMS = "/events"
"""End of the addresses of streams, which stay open: only their number is counted, not their duration."""


class Measured:
    """The middleware. It is plain ASGI, so that nothing is buffered. An address is counted by its route's template."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status, counted = time.perf_counter(), 500, metrics()
        scope.setdefault("state", {})

        async def note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        counted.in_flight.inc()
        try:
            await self.app(scope, receive, note)
        finally:
            counted.in_flight.dec()
            method = scope["method"] if scope["method"] in METHODS else "other"
            route = template(scope)
            counted.requests.labels(method, route, str(status)).inc()
            if not route.endswith(STREAMS):
                counted.durations.labels(method, route).observe(time.perf_counter() - began)
