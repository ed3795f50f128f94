"""The edge: `front` routes `/v1` and `/session` to the API and the rest to the console.

The console is Reflex's application with the built pages mounted. `edge` adds security headers, cache headers, and a
map of pages, so that a prerendered page is served at its own path instead of a redirect to a folder.
"""

import base64
import hashlib
import re
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import orjson

from backend.auth.credentials import cookie_name
from backend.core.errors import BadRequest, problem
from backend.core.settings import settings
from backend.installation import CONSOLE
from backend.metrics import exposition

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

OWN_FORMS = ("/session", "/session/demo", "/session/factor", "/session/factor/options", "/session/end", "/oauth/decide")
WELL_KNOWN = ("/.well-known/openid-configuration", "/.well-known/oauth-authorization-server")
CLOSED = ("/_upload", "/_all_routes", "/auth-codespace")
"""Reflex endpoints that are not used: file upload without authorization, the list of routes, a development aid."""

INLINE_SCRIPT = re.compile(r"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", re.DOTALL)
FOREVER = b"public, max-age=31536000, immutable"


def front(api: Application, console: Application) -> Application:
    """Return the application that serves both. Reflex never sees the API's requests: its CORS middleware would answer
    preflights in plain text, and let other origins read the API's responses."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        is_http = scope["type"] == "http"
        if is_http and not has_host(scope):
            body = orjson.dumps(problem(BadRequest("Send one Host header."), settings().base_url))
            headers = [(b"content-type", b"application/problem+json"), (b"content-length", str(len(body)).encode())]
            await send({"type": "http.response.start", "status": 400, "headers": headers})
            await send({"type": "http.response.body", "body": body})
        elif is_http and exposition.is_for(scope):
            await exposition.answer(scope, receive, send)
        else:
            await (api if is_http and is_api(scope["path"]) else console)(scope, receive, send)

    return serve


def edge(build: Path = CONSOLE) -> Callable[[Application], Application]:
    """Return Reflex's `api_transformer`: given the console, it returns one that serves pages at their own paths."""

    def transform(console: Application) -> Application:
        pages, headers = page_map(build), security_headers(build)

        async def serve(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await console(scope, receive, send)
            elif is_stranger(scope):
                start = {"type": "http.response.start", "status": 302, "headers": [(b"location", b"/sign-in")]}
                await dressed(send, scope["path"], headers)(start)
                await send({"type": "http.response.body"})
            else:
                await console(routed(scope, pages), receive, dressed(send, scope["path"], headers))

        return serve

    return transform


def is_stranger(scope: Scope) -> bool:
    """Return whether someone without a session opens `/`. They are sent to the sign-in page by the server, because the
    page at `/` would show nothing until its socket is connected."""
    cookies = b"; ".join(value for name, value in scope["headers"] if name == b"cookie")
    return scope["path"] == "/" and scope["method"] in ("GET", "HEAD") and cookie_name().encode() + b"=" not in cookies


def has_host(scope: Scope) -> bool:
    """Return whether a request names its host once, as HTTP/1.1 requires (RFC 9112 3.2)."""
    named = [value for name, value in scope["headers"] if name == b"host"]
    return scope.get("http_version") != "1.1" or (len(named) == 1 and named[0] != b"")


def is_api(path: str) -> bool:
    """Return whether the API handles a path. An unknown path under `/v1` is its 404, never a page of the console."""
    return path == "/v1" or path.startswith("/v1/") or path in OWN_FORMS or path.startswith(WELL_KNOWN)


def page_map(build: Path) -> dict[str, str]:
    """Return the file of every prerendered page by path: `/sign-in` to `/sign-in.html`."""
    pages = (page.relative_to(build).with_suffix("").as_posix() for page in build.rglob("*.html"))
    return {f"/{page}": f"/{page}.html" for page in pages if not page.endswith("index") and not page.startswith("__")}


def routed(scope: Scope, pages: dict[str, str]) -> Scope:
    """Return the scope with a page's file as its path; closed endpoints lead to the page for unknown addresses."""
    path = scope["path"]
    short = path.rstrip("/") or "/"
    target = "/_" if short.startswith(CLOSED) else pages.get(short)
    if target is None:
        return scope
    return {**scope, "path": target, "raw_path": target.encode()}


def dressed(send: Send, path: str, headers: list[tuple[bytes, bytes]]) -> Send:
    """Return a `send` that adds security and cache headers; hashed files are cached permanently, others are
    revalidated.
    """
    hashed = path.startswith("/assets/") and path.endswith((".js", ".css", ".woff2"))

    async def wrapped(message: Message) -> None:
        if message["type"] == "http.response.start":
            keep = hashed and message["status"] in (200, 206, 304)
            kept = [(n, _own(n, v)) for n, v in message.get("headers", []) if n.lower() != b"cache-control"]
            message["headers"] = [*kept, *headers, (b"cache-control", FOREVER if keep else b"no-cache")]
        await send(message)

    return wrapped


def _own(name: bytes, value: bytes) -> bytes:
    """Return a header's value; of a redirect target only the path, because the console would repeat any Host it
    receives.
    """
    if name.lower() != b"location":
        return value
    parts = urlsplit(value.decode("latin-1"))
    return urlunsplit(("", "", parts.path or "/", parts.query, "")).encode("latin-1")


def security_headers(build: Path) -> list[tuple[bytes, bytes]]:
    """Return the headers of every response of the console."""
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
    """Return a policy that allows only local files, and the inline scripts of local pages, by their hashes."""
    scripts = " ".join(["'self'", *script_hashes(build)])
    return (
        f"default-src 'none'; script-src {scripts}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )


def script_hashes(build: Path) -> list[str]:
    """Return `'sha256-…'` of every inline script in the built pages, without duplicates."""
    texts = {script for page in build.rglob("*.html") for script in INLINE_SCRIPT.findall(page.read_text("utf-8"))}
    digests = (hashlib.sha256(text.encode()).digest() for text in texts)
    return sorted(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
