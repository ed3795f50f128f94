"""The target of generated requests, and the checks of its responses."""

import asyncio
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from types import SimpleNamespace
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

from backend.core import fields, ip_ranges
from backend.core.content_rules import MAGIC
from backend.core.settings import settings
from backend.preferences.schemas import ZONE_FORMAT
from backend.preferences.time_zones import time_zones
from tests.support.issuance import Issuance

KEY, VERSION, ZIP = "Idempotency-Key", "If-Match", "application/zip"
load_all_checks()
KEPT = {
    "DELETE /v1/orgs/{orgId}/api-keys/{keyId}": "a revoked key stays in the list of keys",
    "DELETE /v1/orgs/{orgId}/assets/{assetId}": "an archived asset stays readable",
    "DELETE /v1/orgs/{orgId}/oauth-clients/{clientId}": "a removed application stays in the list, with its end",
}
"""Operations that end a record and keep it."""


class Deletions:
    """What a check knows of earlier requests, without those that deleted nothing."""

    def __init__(self, known: Any) -> None:
        self._known = known

    def __getattr__(self, name: str) -> Any:
        return getattr(self._known, name)

    def find_related(self, *, case_id: str) -> Iterator[Any]:
        """Yield the related cases. Only 204 means that a record is gone: 200 is a plan of a dry run or a record in its
        last state, such as a revoked invitation, and 202 a request for it, such as the cancellation of an order."""
        for case in self._known.find_related(case_id=case_id):
            response = self._known.find_response(case_id=case.id)
            is_gone = response is not None and response.status_code == 204 and case.operation.label not in KEPT
            if case.operation.method.lower() != "delete" or is_gone:
                yield case


def use_after_free(ctx: Any, response: Any, case: Any) -> bool | None:
    """Check that a deleted record is gone."""
    found: bool | None = KNOWN.get_one("use_after_free")(
        SimpleNamespace(internals=Deletions(ctx.internals)), response, case
    )
    return found


CHECKS = [use_after_free if name == "use_after_free" else KNOWN.get_one(name) for name in KNOWN.get_all_names()]
"""All checks."""
IGNORED_AUTH, ACCEPTANCE = KNOWN.get_one("ignored_auth"), KNOWN.get_one("positive_data_acceptance")
BEYOND = {"POST /v1/orgs/{orgId}/assets/{assetId}/distributions": "no duplicate recipients"}
"""Rules that JSON Schema cannot express: only there may a body that fits its schema be a 422."""
PERIOD = {"/created_after", "/created_before", "/updated_after"}
"""Times of lists: JSON Schema cannot express that a period ends after its start, nor the years 1 to 9998."""


def schema_of(document: dict[str, Any]) -> Any:
    """The document from which requests are generated. Credentials are not generated: the installation's are sent."""
    copied: dict[str, Any] = deepcopy(document)
    _trust_formats(copied)
    schema = schemathesis.openapi.from_dict(copied)
    schema.config.generation.with_security_parameters = False
    schema.config.generation.allow_x00 = False  # text cannot contain it; `test_bad_input` sends it
    # A body that fits its schema can be impossible in the current state, or for want of If-Match where a walk made the
    # organization require it; it is never a 422.
    answer = PositiveDataAcceptanceConfig().expected_statuses
    schema.config.checks.positive_data_acceptance.expected_statuses = [*answer, "400", "428"]
    return schema


def _trust_formats(part: Any) -> None:
    """A pattern beside a format is weaker than the format, and some generated values would follow the pattern alone."""
    if isinstance(part, dict) and part.get("format") in FORMATS:
        part.pop("pattern", None)
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        _trust_formats(inner)


FORMATS = {
    fields.ADDRESS: binary(min_size=20, max_size=20).map(to_checksum_address),
    fields.COUNTRY: sampled_from(sorted(fields.COUNTRIES)),
    ip_ranges.IP_RANGE: ip_addresses().map(lambda address: ip_ranges.address_of(str(address))),
    ZONE_FORMAT: sampled_from(sorted(time_zones())),
    fields.UINT256: integers(0, fields.MAX_UINT256).map(str),
    # Reserved names, such as .test, are not accepted as addresses.
    "email": emails(domains=sampled_from(["example.com", "mail.example.org", "xn--bcher-kva.example"])),
    "hostname": sampled_from(["example.com", "mail.example.org", "a.co"]),
}
"""The meaning of the document's formats."""
for name, strategy in FORMATS.items():
    schemathesis.openapi.format(name, strategy)


def give_key(case: Any) -> None:
    """A unique idempotency key for a request that has one: the same key for two bodies would be refused. Any version
    of a record, because a generated one would be refused everywhere."""
    given = {KEY: str(uuid4()), VERSION: "*"}
    if not case.meta.is_negative_at(ParameterLocation.HEADER):
        case.headers.update({name: value for name, value in given.items() if name in case.headers})


BEGINNINGS = MAGIC | {"application/octet-stream": MAGIC["application/pdf"], ZIP: b"PK\x03\x04"}
"""A file starts as its type requires; the type of untyped bytes is detected."""
for kind, beginning in BEGINNINGS.items():
    schemathesis.openapi.media_type(kind, binary().map(beginning.__add__))


@schemathesis.serializer(ZIP)
def as_sent(context: Any, value: Any) -> bytes:
    """An archive is sent as it is."""
    return value if isinstance(value, bytes) else str(value).encode()


@dataclass
class Installation:
    """A firm with an asset, and the ids of its records."""

    http: httpx.AsyncClient
    firm: Issuance
    ids: dict[str, str]
    loop: asyncio.AbstractEventLoop
    enforcing: set[str] = field(default_factory=set)
    """Operations that were seen to refuse a missing and a wrong credential: once is enough."""

    async def send(self, sent: dict[str, Any], headers: dict[str, str]) -> httpx.Response:
        """Return the response to a generated request, with the admin's session and a key of every scope."""
        known = {k: v.encode() for k, v in (sent.pop("headers", None) or {}).items() if k.lower() not in headers}
        plain = {k: v for k, v in sent.items() if k in ("method", "url", "params", "json", "content", "data")}
        if isinstance(plain.get("data"), str | bytes):
            plain["content"] = plain.pop("data")
        request = self.http.build_request(**plain, headers={**known, **{k: v.encode() for k, v in headers.items()}})
        return await self.http.send(request)

    def over(self, case: Any, **options: Any) -> Response:
        """Send requests of schemathesis's own checks, from another thread."""
        sent = REQUESTS_TRANSPORT.serialize_case(case, **options)
        waiting = asyncio.run_coroutine_threadsafe(self.send(sent, {}), self.loop)
        return Response.from_any(waiting.result(60))

    def judge(self, case: Any, response: Any, headers: dict[str, str], **options: Any) -> None:
        """Check a response to a request with these credentials against the document, with every check."""
        label = case.operation.label
        without = [IGNORED_AUTH] if label in self.enforcing else []
        errors = response.json().get("errors", []) if response.status_code == 422 else []
        if response.status_code == 422 and (label in BEYOND or (errors and {e["pointer"] for e in errors} <= PERIOD)):
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
