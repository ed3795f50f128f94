"""Versions of records: the `ETag` of a record, and `If-Match` on every operation that acts on one.

A version is a digest of what people decide about a record, such as an asset's rules. Times, balances and the progress
of requests are not part of it, so they do not refuse an edit. Tables are named in SQL, because their packages are above
this one; row-level security hides records of other organizations.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from fastapi import Request, Response

from backend.auth.calls import Version
from backend.auth.principal import Context
from backend.core.db import Write
from backend.core.errors import BadRequest, NotFound, SignumError

TAG = re.compile(r'\s*(W/)?("[\x21\x23-\x7e]*")\s*')
ANY = "*"
LONGEST = 1_000
"""Characters of an `If-Match`."""


class VersionMismatch(SignumError):
    """The record has changed"""

    status = 412
    slug = "version-mismatch"

    def __init__(self, etag: str) -> None:
        detail = f"The record has changed since you read it; its version is now {etag}."
        super().__init__(f"{detail} Read it, then send your change again.", headers={"ETag": etag})
        self.etag = etag

    def extensions(self) -> dict[str, Any]:
        """Return the current version."""
        return {"etag": self.etag}


class VersionRequired(SignumError):
    """The change must name the version it was made for"""

    status = 428
    slug = "version-required"

    def __init__(self, path: str) -> None:
        super().__init__("This organization requires If-Match for compliance rules: the ETag of the asset you edited.")
        self.path = path

    def extensions(self) -> dict[str, Any]:
        """Return the rule, and the call whose response has the ETag."""
        words = "Read the asset, then repeat the request with its ETag as If-Match."
        resolution = {"method": "GET", "path": self.path, "description": words}
        return {"rule": "if_match", "resolution": resolution}


@dataclass(frozen=True)
class Record:
    """A kind of record: the path parameter with its ID, its table, and the expressions that are its version."""

    parameter: str
    table: str
    decided: str
    name: str = ""
    """The name under which a waiting request stores it, if it is not the parameter."""
    accepted: str = "null"
    """The latest accepted change, whose fields are written when it starts. Accepting one is a new version."""


ORGANIZATION = Record(
    "orgId",
    "organizations",
    "name, email, org_type, description, website, jurisdiction, logo_url, banner_url, network, status, parent_id,"
    " member_requirements, approvals, approver_wait_hours, require_second_factor, require_if_match, allowed_ip_ranges",
)
BELOW = Record("subOrgId", "organizations", ORGANIZATION.decided)
"""Visible only to the operation itself, which compares it."""
DAILY_LIMITS = Record(
    "assetId",
    "assets",
    "(select jsonb_agg(jsonb_build_array(l.action, l.amount) order by l.action) from daily_limits l"
    " where l.asset_id = assets.id)",
    "daily-limits",
)
RECORDS = {
    record.parameter: record
    for record in (
        Record(
            "assetId",
            "assets",
            "name, description, regulation_type, compliance_rules, max_holders, required_kyc_level, org_only,"
            " cap_shares, status = 'archived'",
            accepted="request_id",
        ),
        Record("partyId", "parties", "name, email, wallet_address, country, status, kyc_level, accredited, reason"),
        Record("memberId", "members", "role, status, email, display_name, wallet_address, chain_eid"),
        Record("walletId", "wallets", "label, is_default"),
        Record(
            "webhookId",
            "webhook_endpoints",
            "url, event_types, description, include_descendants, status, disabled_reason",
        ),
        Record("keyId", "api_keys", "name, scopes, network, allowed_ip_ranges, revoked_at is null"),
        Record("clientId", "oauth_clients", "name, redirect_uris, backchannel_logout_uri, scopes, revoked_at is null"),
        Record("invitationId", "invitations", "email, role, status"),
        Record("distId", "distributions", "name, status, merkle_root, total_recipients, total_amount"),
        Record("marketId", "markets", "status, is_halted"),
        Record("orderId", "orders", "status, filled"),
        Record("attestationId", "attestations", "status, kyc_level, accredited, country"),
        Record("bridgeId", "bridges", "status, return_request_id"),
        Record("transferId", "transfers", "status"),
        Record("requestId", "requests", "status, attempt"),
        Record("approvalId", "approvals", "status"),
    )
}
"""By the path parameter with the ID."""
NAMED = {record.name or record.parameter: record for record in (*RECORDS.values(), ORGANIZATION, BELOW, DAILY_LIMITS)}


def record_of(path: str) -> Record | None:
    """Return the kind of record that an operation acts on: the one that its path ends with, or whose action follows.
    None if it creates a record of an organization, or acts on an account."""
    *_, before, last = path.split("/") if path.count("/") > 1 else ["", "", path]
    if path.startswith(("/auth/", "/v1/auth/")):
        return None
    if last == "daily-limits":
        return DAILY_LIMITS
    if last == "{orgId}":
        return ORGANIZATION
    if before == "{subOrgId}":
        return BELOW
    return RECORDS.get(last.strip("{}")) if last.startswith("{") else RECORDS.get(before.strip("{}"))


def is_shown(path: str) -> bool:
    """Return whether a path is that of a record, so that its responses have an `ETag`."""
    return path.endswith(("}", "/daily-limits"))


async def current(session: Write, record: Record, id_: UUID, *, lock: bool = False) -> str | None:
    """Return the version of a record as an ETag; None if it does not exist here."""
    row = f"from {record.table} where id = :id"
    if lock:  # first and alone, so that the version is read after another change has committed
        await session.execute(sa.text(f"select 1 {row} for no key update"), {"id": id_})
    digest = f"left(encode(sha256(convert_to(jsonb_build_array({record.decided})::text, 'UTF8')), 'hex'), 32)"
    accepted = f"coalesce('-' || left(md5({record.accepted}::text), 8), '')"
    found: str | None = await session.scalar(sa.text(f"select {digest} || {accepted} {row}"), {"id": id_})
    return None if found is None else f'"{found}"'


def check(request: Request) -> None:
    """Check the form of `If-Match`, before a stored response is replayed; raises 400."""
    wanted = request.headers.get("if-match")
    if wanted is not None and request.state.record is not None:
        tags_of(wanted)


async def begin(request: Request, context: Context) -> None:
    """Compare `If-Match` with the record's version, once the organization is entered; raises 412 with the current one.

    The record stays locked until the transaction ends, and is compared again after each pause. The ETag of a read is
    noted before the record is read: an older version than the one shown is refused later, a newer one would not be.
    """
    record: Record | None = request.state.record
    wanted = request.headers.get("if-match")
    if record is None:
        if wanted is not None:
            raise BadRequest("This operation acts on no record with a version. Send it without If-Match.")
        return
    id_ = _id(str(request.path_params[record.parameter]))
    if id_ is None:
        return
    if request.method == "GET":
        request.state.etag = await current(context.session, record, id_)
    if wanted is not None:
        tags = tags_of(wanted)
        if context.call is not None and ANY not in tags:
            context.call.version = Version(record.name or record.parameter, str(id_), tags)
        if record is BELOW:
            return
        compare = partial(_compare, context.session, record, id_, tags, lock=request.method != "GET")
        await compare()
        context.session.info.setdefault("resume", []).append(compare)


async def finish(request: Request, context: Context, response: Response) -> None:
    """Set the `ETag` of a read, and of a changed record. A change that is only accepted makes further versions."""
    record: Record | None = request.state.record
    if record is None or not request.state.shows_version or response.status_code == 202 or response.status_code >= 300:
        return
    etag = getattr(request.state, "etag", None)
    if request.method == "PATCH":
        await context.session.flush()
        id_ = _id(str(request.path_params[record.parameter]))
        etag = await current(context.session, record, id_) if id_ else None
    if etag is not None:
        response.headers["ETag"] = etag


async def compare_again(session: Write, version: Version | None) -> None:
    """Raise 412 if a record has changed since a call was made for a version of it; without one, nothing is compared."""
    if version is not None:
        await _compare(session, NAMED[version.record], UUID(version.id), version.tags, lock=True)


async def _compare(session: Write, record: Record, id_: UUID, tags: Sequence[str], *, lock: bool) -> None:
    etag = await current(session, record, id_, lock=lock)
    if etag is None:
        raise NotFound("No resource has this ID.")
    if ANY not in tags and etag not in tags:
        raise VersionMismatch(etag)


def tags_of(header: str) -> list[str]:
    """Return the ETags of `If-Match`, or `*`. A weak one never matches. 400 if it is neither."""
    if header.strip() == ANY:
        return [ANY]
    parts = [TAG.fullmatch(part) for part in header.split(",")]
    if not all(parts) or len(header) > LONGEST:
        raise BadRequest('If-Match must be * or ETags in double quotes, such as "5f0b6c1e"; at most 1,000 characters.')
    return [part[2] for part in parts if part and not part[1]]


def _id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
