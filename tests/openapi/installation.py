"""What generated requests are sent to, and what their answers are held against."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import httpx
import schemathesis
from hypothesis.strategies import binary
from schemathesis.checks import CHECKS as KNOWN
from schemathesis.checks import load_all_checks
from schemathesis.config import PositiveDataAcceptanceConfig
from schemathesis.core.parameters import ParameterLocation
from schemathesis.core.transport import Response
from schemathesis.transport.requests import REQUESTS_TRANSPORT

from backend.parties.rules import MAGIC
from backend.settings import settings
from tests.issuance import Issuance

load_all_checks()
CHECKS = [KNOWN.get_one(name) for name in KNOWN.get_all_names()]
"""Every one there is."""
IGNORED_AUTH = KNOWN.get_one("ignored_auth")


def schema_of(document: dict[str, Any]) -> Any:
    """A document to generate requests from. Credentials are not generated: ours are sent."""
    schema = schemathesis.openapi.from_dict(document)
    schema.config.generation.with_security_parameters = False
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
    enforcing: set[str] = field(default_factory=set)
    """Operations that were seen to refuse who has no credential, and who has a wrong one: once is enough."""

    async def send(self, sent: dict[str, Any], headers: dict[str, str]) -> httpx.Response:
        """The answer to a generated request, by the admin's session and a key of every scope."""
        known = {k: v.encode() for k, v in (sent.pop("headers", None) or {}).items() if k.lower() not in headers}
        plain = {k: v for k, v in sent.items() if k in ("method", "url", "params", "json", "content", "data")}
        if isinstance(plain.get("data"), str | bytes):
            plain["content"] = plain.pop("data")
        request = self.http.build_request(**plain, headers={**known, **{k: v.encode() for k, v in headers.items()}})
        return await self.http.send(request)

    def over(self, case: Any, **options: Any) -> Response:
        """What the checks of schemathesis send of their own, from another thread than ours."""
        sent = REQUESTS_TRANSPORT.serialize_case(case, **options)
        waiting = asyncio.run_coroutine_threadsafe(self.send(sent, {}), self.loop)
        return Response.from_any(waiting.result(60))

    def judge(self, case: Any, response: Any, headers: dict[str, str], **options: Any) -> None:
        """Hold an answer to a request with these credentials against the document, by every check."""
        known = case.operation.label in self.enforcing
        case.validate_response(
            response,
            checks=CHECKS,
            excluded_checks=[IGNORED_AUTH] if known else [],
            headers=headers,
            transport_kwargs={"base_url": settings().origin, "headers": headers},
            **options,
        )
        if response.status_code < 300 and not case.meta.is_negative_at(ParameterLocation.PATH):
            self.enforcing.add(case.operation.label)
