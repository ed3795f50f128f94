"""The attestation of a lost wallet: a recovery revokes the organization's own, and names one that remains."""

from datetime import UTC, datetime
from typing import Final
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from backend.assets.models import DeploymentRow
from backend.assets.transaction_step import write
from backend.attestations import states
from backend.attestations.models import AttestationRow
from backend.attestations.schemas import REPLACED, AttestationStatus
from backend.chain.bindings import registry, token
from backend.chain.deployment.contracts import contracts_of
from backend.chain.models import TransactionStatus
from backend.chain.transactions.execution import find
from backend.core.errors import Conflict
from backend.issuers import service as issuers
from backend.requests.runs import Run, StepNotes

KEY: Final = "attestation_revoked"
"""The name of the step, and of its transaction, on each chain."""
REMAINS: Final = "An attestation of the lost wallet by another issuer remains valid."


async def is_issuer(session: AsyncSession, organization_id: UUID, eid: int) -> bool:
    """Return whether the organization attests on a chain."""
    return await issuers.attester_on(session, organization_id, eid) is not None


async def latest(session: AsyncSession, organization_id: UUID, eid: int, address: str) -> AttestationRow | None:
    """Return the organization's attestation of an address that was on the chain last, active or revoked."""
    query = sa.select(AttestationRow).where(
        col(AttestationRow.organization_id) == organization_id,
        col(AttestationRow.chain_eid) == eid,
        col(AttestationRow.wallet_address) == address,
        col(AttestationRow.status).in_([AttestationStatus.ACTIVE, AttestationStatus.REVOKED]),
        col(AttestationRow.revocation_reason).is_distinct_from(REPLACED),
    )
    return await session.scalar(query.order_by(col(AttestationRow.created_at).desc()).limit(1))


async def standing(
    organization_id: UUID, eid: int, token_address: str, lost: str, row: AttestationRow | None
) -> tuple[bool, bool]:
    """Return whether the organization's own attestation of a lost wallet is valid on the chain, and whether one of
    another issuer is, which the token trusts."""
    at, rules = (await contracts_of(eid)).registry, await token.rules(eid, token_address)
    trusted = rules.trusted_issuers
    own = await registry.attestation(eid, at, str(row.uid)) if row else None
    if own is None or not own.is_valid:
        return False, (await registry.standing(eid, at, lost, organization_id, trusted=trusted)).found
    others, _ = await registry.standing_without(eid, at, lost, organization_id, own.attester, trusted)
    return True, others.found


async def revoke(run: Run, step: StepNotes, at: DeploymentRow, lost: str, new: str) -> str:
    """Revoke the organization's own attestation of a lost wallet, if it is valid; return what happened. A repetition
    finds its transaction."""
    eid, organization_id = at.chain_eid, run.organization_id
    async with run.transaction() as session:
        row = await latest(session, organization_id, eid, lost)
    is_valid, _ = await standing(organization_id, eid, str(at.token_address), lost, row)
    sent = await find(run.key(KEY, eid))
    has_sent = sent is not None and sent.status is not TransactionStatus.FAILED
    if row is None or not (is_valid or has_sent):
        return "The organization has no valid attestation of the lost wallet."
    registry_at, uid = (await contracts_of(eid)).registry, str(row.uid)
    reason = f"Wallet recovered: tokens moved to {new}"
    attester = (await registry.attestation(eid, registry_at, uid)).attester
    call = registry.revoke(registry_at, uid, reason)
    await write(run, step, call, KEY, eid=eid, signer=attester, label="revoke attestation")
    answer = await registry.attestation(eid, registry_at, uid)
    if not answer.revoked_at:
        raise Conflict("The registry does not show the revocation.")
    async with run.transaction() as session:
        row = await session.get_one(AttestationRow, row.id, with_for_update=True)
        ended = {"revocation_reason": reason, "revoked_at": datetime.fromtimestamp(answer.revoked_at, UTC)}
        await states.change(session, row, status=AttestationStatus.REVOKED, **ended)
    return "The attestation of the lost wallet is revoked."


async def remaining(run: Run, at: DeploymentRow, lost: str) -> str:
    """Say that an attestation of another issuer remains valid; an empty string if none does."""
    async with run.transaction() as session:
        row = await latest(session, run.organization_id, at.chain_eid, lost)
    _, others = await standing(run.organization_id, at.chain_eid, str(at.token_address), lost, row)
    return REMAINS if others else ""
