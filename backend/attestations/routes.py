"""`/v1/orgs/{orgId}/attestations`."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response, status

from backend.attestations import batches, listing, service
from backend.attestations.schemas import (
    AttestationAccepted,
    AttestationBatch,
    AttestationBatchAccepted,
    AttestationBatchPlan,
    AttestationCreate,
    AttestationDetail,
    AttestationList,
    AttestationPlan,
    AttestationRevoke,
    AttestationStatus,
)
from backend.auth.guard import Current, DryRun, GuardedRoute, requires
from backend.auth.scopes import Scope
from backend.lists.pages import Page
from backend.requests.responses import accepted, planned

# Declared at import.
router = APIRouter(prefix="/orgs/{orgId}/attestations", tags=["Attestations"], route_class=GuardedRoute)


@router.get("")
@requires(Scope.ATTESTATIONS_READ)
async def list_attestations(
    context: Current,
    orgId: UUID,
    page: Annotated[Page, Depends(listing.LIST.page)],
    status: AttestationStatus | None = None,
    party_id: UUID | None = None,
    expiring_days: Annotated[
        int | None, Query(ge=1, le=3650, description=("Active, expiring within these days."))
    ] = None,
) -> AttestationList:
    """List attestations with their party, newest first. Sorted by `expires_at`, those that never expire count as the
    latest."""
    return await listing.page(context, page, status, party_id, expiring_days)


@router.post("", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ATTESTATIONS_WRITE)
async def create_attestation(
    context: Current, orgId: UUID, body: AttestationCreate, response: Response, dry_run: DryRun = False
) -> AttestationAccepted | AttestationPlan:
    """Attest a verified party on a chain, from the organization's issuer wallet.

    409 with `prerequisites` if the party does not exist (`party_exists`) or is not verified (`party_verified`), or if
    the chain is not enabled (`chain_enabled`), the issuer is not registered there or the party has no wallet
    (`attestation_eligible`). Replaces the party's active attestation on that chain.
    """
    return _answer(response, orgId, await service.create(context, body, dry_run))


@router.post("/batch")
@requires(Scope.ATTESTATIONS_WRITE)
async def create_attestations(
    context: Current,
    orgId: UUID,
    body: AttestationBatch,
    request: Request,
    dry_run: DryRun = False,
) -> AttestationBatchAccepted | AttestationBatchPlan:
    """Attest up to 200 parties, also on several chains. Each item is checked and accepted on its own, as a request.

    A refused item has the problem that the operation for one attestation would return, and does not stop the others.
    With an `Idempotency-Key`, each item has one effect: after a call that ended half-way, the same call continues it.
    Where attestations need a second person, each item waits for its own approval.
    """
    if dry_run:
        return await batches.plan(context, request, body)
    return await batches.create(context, request, body)


@router.get("/{attestationId}")
@requires(Scope.ATTESTATIONS_READ)
async def get_attestation(context: Current, orgId: UUID, attestationId: UUID) -> AttestationDetail:
    """Get an attestation with its proof, read from the chain now."""
    return await listing.one(context, attestationId)


@router.post("/{attestationId}/revoke", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ATTESTATIONS_WRITE)
async def revoke_attestation(
    context: Current,
    orgId: UUID,
    attestationId: UUID,
    body: AttestationRevoke,
    response: Response,
    dry_run: DryRun = False,
) -> AttestationAccepted | AttestationPlan:
    """Revoke an active attestation; the reason is written on chain. A dry run reports what the
    wallet holds, and whether it could still send and receive it afterwards.

    The attestation belongs to the organization or to one below it. In the second case, the organization's own issuer
    revokes in place of the attester, which requires `can_revoke_others` (403 without it). An API key revokes only its
    own organization's attestations.
    """
    return _answer(response, orgId, await service.revoke(context, attestationId, body, dry_run))


def _answer(
    response: Response, organization_id: UUID, answer: AttestationAccepted | AttestationPlan
) -> AttestationAccepted | AttestationPlan:
    if isinstance(answer, AttestationPlan):
        return planned(response, answer)
    return accepted(response, organization_id, answer)
