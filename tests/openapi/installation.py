"""What generated requests are sent to, and what their answers are held against."""

import asyncio
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import httpx
from schemathesis.specs.openapi import checks

from tests.issuance import Issuance

CHECKS = [
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.negative_data_rejection,
]
"""All but those that know less than we do: data that fits its schema may still be impossible (400), and credentials
and methods are walked through elsewhere."""


def open_document(document: dict[str, Any]) -> dict[str, Any]:
    """The document without credentials, which `test_matrix` walks through."""
    copied: dict[str, Any] = deepcopy(document)
    for entry in (e for item in copied["paths"].values() for e in item.values()):
        entry["security"] = []
    return copied


@dataclass
class Installation:
    """A firm with an asset, and the ids that lead to what it has."""

    http: httpx.AsyncClient
    firm: Issuance
    ids: dict[str, str]
    loop: asyncio.AbstractEventLoop

    async def send(self, sent: dict[str, Any], headers: dict[str, str]) -> httpx.Response:
        """The answer to a generated request, by the admin's session and a key of every scope."""
        known = {k: v.encode() for k, v in (sent.pop("headers", None) or {}).items() if k.lower() not in headers}
        plain = {k: v for k, v in sent.items() if k in ("method", "url", "params", "json", "content", "data")}
        if isinstance(plain.get("data"), str | bytes):
            plain["content"] = plain.pop("data")
        request = self.http.build_request(**plain, headers={**known, **{k: v.encode() for k, v in headers.items()}})
        return await self.http.send(request)
