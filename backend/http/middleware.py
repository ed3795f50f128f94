"""Middleware of the API: request id, rate limit headers, and the maximum body size."""

import re
from collections.abc import Callable
from typing import Any

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend.core import recorded_time
from backend.core.content_rules import MAGIC, UNTYPED
from backend.core.db import new_id
from backend.core.errors import NotFound, PayloadTooLarge, SignumError, Unavailable, problem
from backend.core.fair_places import called_by
from backend.core.logs import lines
from backend.core.readiness import readiness
from backend.core.settings import settings
from backend.http.problems import on_fault

PRIVATE = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
"""Default headers of every response: no caching, and no content type sniffing."""
MAX_BODY = 1_048_576
"""Bytes; a larger body gets a 413."""
MAX_CSV = 134_217_728
"""Bytes of a distribution's recipients as text/csv. A million lines are about 70 MB."""

MAX_DOCUMENT = 10_485_760
"""Bytes of a document of a party, which staff or the investor themselves upload."""

MAX_PACK = 16_777_216
"""Bytes of an evidence archive that is read or verified."""

CREATES_DEMO = "signum.creates_demo"
"""Key in the scope of the calls that create the demo. A connection cannot set it."""
OPEN_DURING_HISTORY = ("/v1/health", "/v1/ready", "/v1/demo")
"""Answered while the demo's year is created."""
RETRY = b"5"

CSV = "text/csv"
"""Content type of a list of recipients."""
ZIP = "application/zip"
"""Content type of an evidence archive."""
_FILES = (
    (re.compile(r"/v1/orgs/[^/]+/assets/[^/]+/distributions"), (CSV,), MAX_CSV),
    (re.compile(r"/v1/orgs/[^/]+/assets/[^/]+/evidence/(contents|verification|report)"), (ZIP,), MAX_PACK),
    (re.compile(r"/v1/(identity/parties|investor)/[^/]+/documents"), (*MAGIC, UNTYPED), MAX_DOCUMENT),
)
"""Path, content types and maximum size of each operation that accepts files."""


class Envelope:
    """The middleware. It is plain ASGI, so that nothing is buffered."""

    def __init__(self, app: ASGIApp, name_of: Callable[[Request], str]) -> None:
        self.app = app
        self.name_of = name_of
        """Returns the name under which a caller shares database connections with others."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its id.

        Refuses a body that is too large (413) before it is read, and handles HEAD as GET without a response body.
        """
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        bare = scope["method"] == "HEAD"
        scope = {**scope, "method": "GET"} if bare else scope
        state = scope.setdefault("state", {})
        state["request_id"], state["is_bare"] = str(new_id()), bare
        numbered = lines.request_id.set(state["request_id"])
        try:
            await self._pass_on(scope, receive, send, bare)
        finally:
            # Calls of the console run in the console's own task.
            lines.request_id.reset(numbered)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send, bare: bool) -> None:
        state, replied = scope["state"], False

        async def reply(message: Message) -> None:
            nonlocal replied
            if message["type"] == "http.response.start":
                replied = True
                extra = {"X-Request-Id": state["request_id"], **PRIVATE, **state.get("rate_limit", {})}
                # A refusal's headers describe the limit that was exceeded; the caller's own limit does not replace
                # them.
                sent = {name for name, _ in message["headers"]}
                added = [(k.lower().encode(), v.encode()) for k, v in extra.items()]
                message["headers"] = [*message["headers"], *(h for h in added if h[0] not in sent)]
            await send({**message, "body": b""} if bare and message["type"] == "http.response.body" else message)

        if recorded_time.is_in_the_past() and not scope.get(CREATES_DEMO) and scope["path"] not in OPEN_DURING_HISTORY:
            await _close(reply, state, scope["path"])
            return
        if any(ord(character) < 32 or ord(character) == 127 for character in scope["path"]):
            await _refuse(reply, state, NotFound("No resource exists at this address."))
            return
        length, most = dict(scope["headers"]).get(b"content-length", b"0"), max_bytes(scope)
        if length.isdigit() and int(length) > most:
            await _too_large(reply, state, most)
            return
        try:
            with called_by(self.name_of(Request(scope))):
                await self.app(scope, _limited(receive, most), reply)
        except _TooLarge:
            if not replied:
                await _too_large(reply, state, most)
        except ClientDisconnect:
            return
        except Exception as error:
            if replied:
                raise
            await (await on_fault(Request(scope), error))(scope, receive, reply)
        finally:
            state["route"] = scope.get("route")  # of a HEAD, the outer scope does not have it


def content_type(scope: Scope) -> str:
    """Return the content type of a body, without parameters; of several headers, the first."""
    sent = next((value for name, value in scope["headers"] if name == b"content-type"), b"")
    return str(sent.decode("latin-1")).partition(";")[0].strip().lower()


def max_bytes(scope: Scope) -> int:
    """Return the maximum bytes of a body.

    Operations that accept files allow more, but only for content types whose credential is checked before the first
    byte is read.
    """
    if scope["method"] == "POST":
        kind = content_type(scope)
        for path, kinds, most in _FILES:
            if kind in kinds and path.fullmatch(scope["path"]):
                return most
    return MAX_BODY


def large_size(scope: Scope) -> int:
    """Return the announced bytes of a large body, or its maximum where none are announced.

    0 for a body of at most MAX_BODY bytes, which is read into memory.
    """
    most = max_bytes(scope)
    if most == MAX_BODY:
        return 0
    length = dict(scope["headers"]).get(b"content-length", b"")
    size = int(length) if length.isdigit() else most
    return size if size > MAX_BODY else 0


class _TooLarge(Exception):
    """The body exceeds its content-length or the maximum."""


def _limited(receive: Receive, most: int) -> Receive:
    seen = 0

    async def count() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > most:
            raise _TooLarge
        return message

    return count


async def _too_large(send: Send, state: dict[str, Any], most: int) -> None:
    await _refuse(send, state, PayloadTooLarge(f"The body exceeds the {most} bytes that this operation accepts."))


async def _close(send: Send, state: dict[str, Any], path: str) -> None:
    """Refuse everyone while the demo's year is created; the form of the sign-in page gets its page."""
    if path == "/session":
        headers = [(b"location", b"/sign-in?error=preparing"), (b"retry-after", RETRY)]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})
        return
    at = readiness()
    detail = f"The demo is being created ({at.doing}, {at.percent}%). Retry when GET /v1/ready answers 200."
    await _refuse(send, state, Unavailable(detail, headers={"Retry-After": RETRY.decode()}))


async def _refuse(send: Send, state: dict[str, Any], error: SignumError) -> None:
    """Send the problem of an error that no route has raised."""
    body = orjson.dumps(problem(error, settings().base_url, f"urn:uuid:{state['request_id']}"))
    headers = [(b"content-type", b"application/problem+json"), (b"content-length", str(len(body)).encode())]
    headers += [(name.lower().encode(), text.encode()) for name, text in error.headers.items()]
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
