"""`/v1/openapi.json` and `/v1/docs`: the document, and its page, which loads nothing and runs no script."""

import base64
import hashlib
from pathlib import Path

import orjson
from fastapi import FastAPI, Request, Response

from backend.core.settings import settings
from backend.openapi.page import render

STYLE = (Path(__file__).resolve().parent / "reference.css").read_text("utf-8")
_DIGEST = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
HEADERS = {
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_DIGEST}'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
JSON = "application/vnd.oai.openapi+json;version=3.1"


def install(api: FastAPI) -> None:
    """Add the two addresses. The page is rendered once, on the first request."""
    pages: list[bytes] = []

    async def document(request: Request) -> Response:
        accepts = JSON.partition(";")[0] in request.headers.get("accept", "")
        headers = {"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff", "Access-Control-Allow-Origin": "*"}
        return Response(orjson.dumps(api.openapi()), 200, headers, JSON if accepts else "application/json")

    async def page(request: Request) -> Response:
        if not pages:
            pages.append(render(api.openapi(), STYLE, settings().origin).encode())
        return Response(pages[0], 200, HEADERS, "text/html; charset=utf-8")

    api.add_route("/v1/openapi.json", document, include_in_schema=False)
    api.add_route("/v1/docs", page, include_in_schema=False)
