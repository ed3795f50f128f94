"""Middleware that opens a span for each request to the API."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend.http.route_template import template
from backend.tracing import spans

HEADER = b"traceparent"


class Traced:
    """The middleware. It is plain ASGI, so that nothing is buffered. A caller's `traceparent` is continued."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on inside a span."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        sent = next((value for name, value in scope["headers"] if name == HEADER), b"").decode("latin-1")
        with spans.root(scope["method"], sent or None, **{"http.request.method": scope["method"]}) as span:

            async def note(message: Message) -> None:
                if message["type"] == "http.response.start":
                    span.set_attribute("http.response.status_code", message["status"])
                await send(message)

            try:
                await self.app(scope, receive, note)
            finally:
                route = template(scope)
                span.update_name(f"{scope['method']} {route}")
                span.set_attribute("http.route", route)
                span.set_attribute("signum.request_id", state.get("request_id", ""))
