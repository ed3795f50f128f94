"""What generated requests are sent to, and what their answers are held against."""

import asyncio
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx
import schemathesis
from eth_utils.address import to_checksum_address
from hypothesis.strategies import binary, emails, integers, ip_addresses, sampled_from
from schemathesis.checks import CHECKS as KNOWN
from schemathesis.checks import load_all_checks
from schemathesis.config import PositiveDataAcceptanceConfig
from schemathesis.core.parameters import ParameterLocation
from schemathesis.core.transport import Response
from schemathesis.transport.requests import REQUESTS_TRANSPORT

from backend import fields, ip_ranges
from backend.parties.rules import MAGIC
from backend.settings import settings
from tests.issuance import Issuance

KEY = "Idempotency-Key"
load_all_checks()
CHECKS = [KNOWN.get_one(name) for name in KNOWN.get_all_names()]
"""Every one there is."""
IGNORED_AUTH, ACCEPTANCE = KNOWN.get_one("ignored_auth"), KNOWN.get_one("positive_data_acceptance")
BEYOND = {"POST /v1/orgs/{orgId}/assets/{assetId}/distributions": "nobody is twice among the recipients"}
"""What JSON Schema has no words for: only there may what fits its schema be a 422."""


def schema_of(document: dict[str, Any]) -> Any:
    """A document to generate requests from. Credentials are not generated: ours are sent."""
    copied: dict[str, Any] = deepcopy(document)
    _trust_formats(copied)
    schema = schemathesis.openapi.from_dict(copied)
    schema.config.generation.with_security_parameters = False
    schema.config.generation.allow_x00 = False  # no text may have it; `test_bad_input` sends it
    # What fits its schema may still be impossible as things stand; it is never a 422.
    told = PositiveDataAcceptanceConfig().expected_statuses
    schema.config.checks.positive_data_acceptance.expected_statuses = [*told, "400"]
    return schema


def _trust_formats(part: Any) -> None:
    """A pattern beside a format says less than that, and some of what is generated would go by it alone."""
    if isinstance(part, dict) and part.get("format") in FORMATS:
        part.pop("pattern", None)
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        _trust_formats(inner)


FORMATS = {
    fields.ADDRESS: binary(min_size=20, max_size=20).map(to_checksum_address),
    fields.COUNTRY: sampled_from(sorted(fields.COUNTRIES)),
    ip_ranges.IP_RANGE: ip_addresses().map(lambda address: ip_ranges.address_of(str(address))),
    fields.UINT256: integers(0, fields.MAX_UINT256).map(str),
    # Names that lead nowhere, such as .test, are no addresses to us.
    "email": emails(domains=sampled_from(["example.com", "mail.example.org", "xn--bcher-kva.example"])),
    "hostname": sampled_from(["example.com", "mail.example.org", "a.co"]),
}
"""What the document's formats mean."""
for name, strategy in FORMATS.items():
    schemathesis.openapi.format(name, strategy)


def give_key(case: Any) -> None:
    """An idempotency key of its own for a request that has one: the same for two bodies would be refused."""
    if KEY in case.headers and not case.meta.is_negative_at(ParameterLocation.HEADER):
        case.headers[KEY] = str(uuid4())


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
        label = case.operation.label
        without = [IGNORED_AUTH] if label in self.enforcing else []
        if response.status_code == 422 and label in BEYOND:
            without.append(ACCEPTANCE)
        case.validate_response(
            response,
            checks=CHECKS,
            excluded_checks=without,
            headers=headers,
            transport_kwargs={"base_url": settings().origin, "headers": headers},
            **options,
        )
        if response.status_code < 300 and not case.meta.is_negative_at(ParameterLocation.PATH):
            self.enforcing.add(label)
