"""What every response of the API has: a request id, rate limit headers, and a body that is not too large to read."""

import re
from typing import Any

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend.db import new_id
from backend.errors import NotFound, PayloadTooLarge, SignumError, problem
from backend.parties.rules import MAGIC, UNTYPED
from backend.problems import on_fault
from backend.settings import settings

PRIVATE = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
"""Headers of every answer that does not say otherwise: nobody keeps a copy, and nobody guesses what it might be."""
MAX_BODY = 1_048_576
"""Bytes; larger bodies are a 413."""
MAX_CSV = 134_217_728
"""Bytes of the recipients of a distribution as text/csv, whose million lines are about 70 MB."""

MAX_DOCUMENT = 10_485_760
"""Bytes of a document of a party."""

CSV = "text/csv"
"""Content type of a list of recipients."""
_FILES = (
    (re.compile(r"/v1/orgs/[^/]+/assets/[^/]+/distributions"), (CSV,), MAX_CSV),
    (re.compile(r"/v1/identity/parties/[^/]+/documents"), (*MAGIC, UNTYPED), MAX_DOCUMENT),
)
"""Path, content types and size of each operation that takes files."""


class Envelope:
    """Plain ASGI, so that nothing is buffered."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its id; answer 413 before its body is read. HEAD is GET without the body."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        bare = scope["method"] == "HEAD"
        scope = {**scope, "method": "GET"} if bare else scope
        state = scope.setdefault("state", {})
        state["request_id"] = str(new_id())
        replied = False

        async def reply(message: Message) -> None:
            nonlocal replied
            if message["type"] == "http.response.start":
                replied = True
                extra = {"X-Request-Id": state["request_id"], **PRIVATE, **state.get("rate_limit", {})}
                # A refusal tells of the limit that was met, and not of the caller's own beside it.
                told = {name for name, _ in message["headers"]}
                added = [(k.lower().encode(), v.encode()) for k, v in extra.items()]
                message["headers"] = [*message["headers"], *(h for h in added if h[0] not in told)]
            await send({**message, "body": b""} if bare and message["type"] == "http.response.body" else message)

        if any(ord(character) < 32 or ord(character) == 127 for character in scope["path"]):
            await _refuse(reply, state, NotFound("There is nothing at this address."))
            return
        length, most = dict(scope["headers"]).get(b"content-length", b"0"), max_bytes(scope)
        if length.isdigit() and int(length) > most:
            await _too_large(reply, state, most)
            return
        try:
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


def content_type(scope: Scope) -> str:
    """Return the content type of a body, without parameters; of several headers, the first."""
    sent = next((value for name, value in scope["headers"] if name == b"content-type"), b"")
    return str(sent.decode("latin-1")).partition(";")[0].strip().lower()


def max_bytes(scope: Scope) -> int:
    """Return the bytes a body may have. Operations that take files allow more, for exactly the content types that they
    look up the credential for before they read a byte."""
    if scope["method"] == "POST":
        kind = content_type(scope)
        for path, kinds, most in _FILES:
            if kind in kinds and path.fullmatch(scope["path"]):
                return most
    return MAX_BODY


def large_size(scope: Scope) -> int:
    """Return the bytes that a large body announces, or the most it may have where it announces none. 0 for a body of
    at most MAX_BODY bytes, which is read into memory."""
    most = max_bytes(scope)
    if most == MAX_BODY:
        return 0
    length = dict(scope["headers"]).get(b"content-length", b"")
    size = int(length) if length.isdigit() else most
    return size if size > MAX_BODY else 0


class _TooLarge(Exception):
    """More came than content-length promised, or than may."""


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
    await _refuse(send, state, PayloadTooLarge(f"A body has at most {most} bytes here."))


async def _refuse(send: Send, state: dict[str, Any], error: SignumError) -> None:
    """The problem of an error that no route has raised."""
    body = orjson.dumps(problem(error, settings().base_url, f"urn:uuid:{state['request_id']}"))
    headers = [(b"content-type", b"application/problem+json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
