"""Accounts whose latest attestation on a chain was revoked: a refusal says so, and leads to the party's case instead of
a new attestation."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession

from backend.attestations.listing import REVOKER
from backend.attestations.rules import revocation_words
from backend.attestations.schemas import REPLACED, AttestationStatus
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.compliance import resolutions
from backend.compliance.resolution_fields import BY_ATTESTATION, OF_SENDER
from backend.compliance.schemas import Revocation, RuleVerdict

_LATEST = sa.text(f"""
  select w.address, latest.*
  from unnest(cast(:addresses as text[])) as w (address)
  cross join lateral (
    select id, party_id, status, revoked_at, revocation_reason, {REVOKER} as revoked_by_name
    from attestations
    where organization_id = :org and chain_eid = :eid and status in ('active', 'expired', 'revoked') and (
      wallet_address = w.address or party_id in (
        select p.id from parties p where p.organization_id = :org and p.wallet_address = w.address))
    order by created_at desc limit 1
  ) latest
""")  # noqa: S608 - a constant
"""The latest attestation of each account or of its party, which may have had another wallet."""


async def of_accounts(
    session: AsyncSession, organization_id: UUID, eid: int, addresses: Sequence[str]
) -> dict[str, Revocation]:
    """Return the revocations by account; nothing for an account whose latest attestation is active or expired."""
    values = {"org": organization_id, "eid": eid, "addresses": list(addresses)}
    rows = await session.execute(_LATEST, values)
    return {
        row.address: _revocation(row)
        for row in rows
        if row.status == AttestationStatus.REVOKED and row.revocation_reason != REPLACED
    }


def _revocation(row: Any) -> Revocation:
    return Revocation(
        attestation_id=row.id,
        party_id=row.party_id,
        revoked_at=row.revoked_at,
        revoked_by_name=row.revoked_by_name,
        reason=row.revocation_reason,
        detail=revocation_words(row.revoked_at, row.revoked_by_name, row.revocation_reason),
    )


async def resolved(
    context: Context, verdicts: Sequence[RuleVerdict], asset_id: UUID, eid: int, sender: str | None, receiver: str
) -> list[RuleVerdict]:
    """Return the verdicts on a movement, the failed ones with their resolution. An account whose attestation was
    revoked is not to be attested without a review: its verdict leads to the case, and has the revocation where the
    caller may read attestations."""
    org = context.organization_id
    found = resolutions.resolved(verdicts, org, asset_id, eid)
    if not any(not v.passed and v.code in BY_ATTESTATION for v in verdicts):
        return found
    known = await of_accounts(context.session, org, eid, [one for one in (sender, receiver) if one])
    may_read = Scope.ATTESTATIONS_READ in context.scopes
    answer = []
    for verdict in found:
        revoked = known.get((sender if verdict.code in OF_SENDER else receiver) or "")
        if revoked is None or verdict.passed or verdict.code not in BY_ATTESTATION:
            answer.append(verdict)
            continue
        resolution = resolutions.review(org, revoked.party_id if may_read else None)
        answer.append(
            verdict.model_copy(update={"resolution": resolution, "revocation": revoked if may_read else None})
        )
    return answer
