"""What generated requests are sent to, and what their answers are held against."""

import asyncio
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import httpx
import schemathesis
from hypothesis.strategies import binary
from schemathesis.checks import CHECKS as KNOWN
from schemathesis.checks import load_all_checks
from schemathesis.config import PositiveDataAcceptanceConfig

from backend.parties.rules import MAGIC
from tests.issuance import Issuance

ELSEWHERE = {
    "ignored_auth": "it sends requests of its own over the network; test_matrix sends every operation without a "
    "credential and with wrong ones",
    "object_level_authorization": "it needs two identities of a configuration file; test_matrix calls every operation "
    "from a foreign organization",
}
"""The checks of schemathesis that are not made here, and why."""
load_all_checks()
CHECKS = [KNOWN.get_one(name) for name in KNOWN.get_all_names() if name not in ELSEWHERE]


def schema_of(document: dict[str, Any]) -> Any:
    """A document to generate requests from, without credentials, which `test_matrix` walks through."""
    copied: dict[str, Any] = deepcopy(document)
    for entry in (e for item in copied["paths"].values() for e in item.values()):
        entry["security"] = []
    schema = schemathesis.openapi.from_dict(copied)
    # What fits its schema may still be impossible as things stand (400), or wrong in a way that JSON Schema has no
    # words for (422): an address' checksum, a country that is not assigned, control characters, one of two fields.
    told = PositiveDataAcceptanceConfig().expected_statuses
    schema.config.checks.positive_data_acceptance.expected_statuses = [*told, "400", "422"]
    return schema


BEGINNINGS = MAGIC | {"application/octet-stream": MAGIC["application/pdf"]}
"""A file begins as its type says; of bytes without one it is looked at."""
for kind, beginning in BEGINNINGS.items():
    schemathesis.openapi.media_type(kind, binary().map(beginning.__add__))


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
