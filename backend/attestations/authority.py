"""Who may revoke an attestation: its own organization, or one above it whose issuer may revoke others' attestations.

The registry enforces the same by its lineage; this check refuses earlier, with an explanation.
"""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.attestations.models import AttestationRow
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.chain.bindings import registry
from backend.core.errors import AddressNotAllowed, Conflict, Forbidden, NotFound
from backend.issuers import service as issuers

UNKNOWN = "There is no attestation with this ID in this organization."
MAY_NOT = (
    "This organization's issuer may not revoke other issuers' attestations. Register it again with "
    "can_revoke_others (POST /v1/orgs/{orgId}/issuer/register), or have the attesting organization revoke it."
)


async def reached(context: Context, attestation_id: UUID) -> AttestationRow:
    """Return an attestation of the organization or of one below it, locked; 404 if it is neither, or out of the
    caller's reach. For an API key, everything below is out of reach."""
    owner = await context.session.scalar(
        sa.text("select signum_attestation_below(:id, :org)"), {"id": attestation_id, "org": context.organization_id}
    )
    if owner is None:
        raise NotFound(UNKNOWN)
    if owner != context.organization_id:
        await _descend(context, owner)
    query = sa.select(AttestationRow).where(col(AttestationRow.id) == attestation_id).with_for_update()
    return (await context.session.scalars(query)).one()


async def _descend(context: Context, owner: UUID) -> None:
    try:
        await context.widen(owner)
    except AddressNotAllowed:
        raise  # the caller has a role there and may see the reason
    except Forbidden as error:
        raise NotFound(UNKNOWN) from error
    context.require(Scope.ATTESTATIONS_WRITE)


async def signer(context: Context, chain: Any, row: AttestationRow, answer: registry.Attestation) -> str:
    """Return the address that revokes: the attester itself, or the entered organization's issuer."""
    if row.organization_id == context.organization_id:
        return answer.attester
    issuer = await issuers.find(context.session, context.organization_id)
    attester = await issuers.attester_on(context.session, context.organization_id, chain.xchain_eid)
    if issuer is None or attester is None:
        raise Conflict(
            f"This organization is not registered as an issuer on {chain.display_name}. Register it first (POST "
            f"/v1/orgs/{context.organization_id}/issuer/register)."
        )
    if not issuer.can_revoke_others:
        raise Forbidden(MAY_NOT)
    return attester.address
