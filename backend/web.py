"""The edge: one ASGI function that sends `/v1` and `/session` to the API and the rest to the console.

The console is Reflex's application with the built pages mounted; the edge gives it security headers, cache headers,
and a map of pages, so that a prerendered page answers at its own path instead of a redirect to a folder.
"""

import base64
import hashlib
import re
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from backend.settings import CHECKOUT, settings

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

BUILD = CHECKOUT / ".web" / "build" / "client"
OWN_FORMS = ("/session", "/session/factor", "/session/factor/options", "/session/end", "/oauth/decide")
WELL_KNOWN = ("/.well-known/openid-configuration", "/.well-known/oauth-authorization-server")
CLOSED = ("/_upload", "/_all_routes", "/auth-codespace")
"""Reflex's endpoints that nobody needs: file upload without authorization, the list of routes, a development aid."""

INLINE_SCRIPT = re.compile(r"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", re.DOTALL)
FOREVER = b"public, max-age=31536000, immutable"


def edge(api: Application, build: Path = BUILD) -> Callable[[Application], Application]:
    """What Reflex's `api_transformer` wants: given the console, the application that serves both."""

    def transform(console: Application) -> Application:
        pages, headers = page_map(build), security_headers(build)

        async def serve(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "http" and not has_host(scope):
                await send({"type": "http.response.start", "status": 400, "headers": [(b"content-length", b"0")]})
                await send({"type": "http.response.body", "body": b""})
            elif scope["type"] != "http":
                await console(scope, receive, send)
            elif is_api(scope["path"]):
                await api(scope, receive, send)
            else:
                await console(routed(scope, pages), receive, dressed(send, scope["path"], headers))

        return serve

    return transform


def has_host(scope: Scope) -> bool:
    """Whether a request names its host once, as HTTP/1.1 demands (RFC 9112 3.2)."""
    named = [value for name, value in scope["headers"] if name == b"host"]
    return scope.get("http_version") != "1.1" or (len(named) == 1 and named[0] != b"")


def is_api(path: str) -> bool:
    """Whether the API answers; an unknown path below `/v1` is its 404, never the console's page."""
    return path == "/v1" or path.startswith("/v1/") or path in OWN_FORMS or path.startswith(WELL_KNOWN)


def page_map(build: Path) -> dict[str, str]:
    """Path of every prerendered page to its file: `/sign-in` to `/sign-in.html`."""
    pages = (page.relative_to(build).with_suffix("").as_posix() for page in build.rglob("*.html"))
    return {f"/{page}": f"/{page}.html" for page in pages if not page.endswith("index") and not page.startswith("__")}


def routed(scope: Scope, pages: dict[str, str]) -> Scope:
    """The scope with a page's file in place of its path; closed endpoints lead to the page for what is not there."""
    path = scope["path"]
    short = path.rstrip("/") or "/"
    target = "/_" if short.startswith(CLOSED) else pages.get(short)
    if target is None:
        return scope
    return {**scope, "path": target, "raw_path": target.encode()}


def dressed(send: Send, path: str, headers: list[tuple[bytes, bytes]]) -> Send:
    """A `send` that adds security and cache headers; hashed files may be kept forever, anything else is asked again."""
    hashed = path.startswith("/assets/") and path.endswith((".js", ".css", ".woff2"))

    async def wrapped(message: Message) -> None:
        if message["type"] == "http.response.start":
            keep = hashed and message["status"] in (200, 206, 304)
            kept = [(n, _own(n, v)) for n, v in message.get("headers", []) if n.lower() != b"cache-control"]
            message["headers"] = [*kept, *headers, (b"cache-control", FOREVER if keep else b"no-cache")]
        await send(message)

    return wrapped


def _own(name: bytes, value: bytes) -> bytes:
    """A header's value; of a redirect's target the path alone, since the console would repeat any Host it is sent."""
    if name.lower() != b"location":
        return value
    parts = urlsplit(value.decode("latin-1"))
    return urlunsplit(("", "", parts.path or "/", parts.query, "")).encode("latin-1")


def security_headers(build: Path) -> list[tuple[bytes, bytes]]:
    """The headers of every answer of the console."""
    headers = {
        "content-security-policy": content_security_policy(build),
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
        "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    }
    if settings().secure:
        headers["strict-transport-security"] = "max-age=31536000; includeSubDomains"
    return [(name.encode(), value.encode()) for name, value in headers.items()]


def content_security_policy(build: Path) -> str:
    """Only our own files, and the inline scripts of our own pages, by their hashes."""
    scripts = " ".join(["'self'", *script_hashes(build)])
    return (
        f"default-src 'none'; script-src {scripts}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )


def script_hashes(build: Path) -> list[str]:
    """`'sha256-…'` of every inline script in the built pages, without doubles."""
    texts = {script for page in build.rglob("*.html") for script in INLINE_SCRIPT.findall(page.read_text("utf-8"))}
    digests = (hashlib.sha256(text.encode()).digest() for text in texts)
    return sorted(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
