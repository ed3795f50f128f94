"""`/v1/identity/parties`. The organization is not in the path: `organization_id`, else the credential's own."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Response, status

from backend.auth.route import ANY_ORGANIZATION, Current, GuardedRoute, requires
from backend.auth.scopes import Scope
from backend.errors import BadRequest
from backend.fields import Search
from backend.keyset import Page
from backend.parties import service
from backend.parties.schemas import (
    Party,
    PartyCreate,
    PartyList,
    PartyReject,
    PartyStatus,
    PartyUpdate,
    PartyVerify,
)

router = APIRouter(prefix="/identity/parties", tags=["Parties"], route_class=GuardedRoute)
Organization = Annotated[UUID | None, Query(description="Whose; default the key's or session's organization.")]


async def _reads(context: Current, organization_id: Organization = None) -> None:
    """Enter the organization a list is asked of, before anything else of the request is looked at."""
    await service.enter(context, organization_id, Scope.ATTESTATIONS_READ)


async def _reads_one(context: Current, partyId: UUID, organization_id: Organization = None) -> None:
    await service.enter(context, organization_id, Scope.ATTESTATIONS_READ, partyId)


async def _writes_one(context: Current, partyId: UUID, organization_id: Organization = None) -> None:
    await service.enter(context, organization_id, Scope.ATTESTATIONS_WRITE, partyId)


@router.get("", dependencies=[Depends(_reads)])
@requires(Scope.ATTESTATIONS_READ, organization=ANY_ORGANIZATION)
async def list_parties(
    context: Current,
    page: Annotated[Page, Depends()],
    status: PartyStatus | None = None,
    search: Annotated[Search | None, Query(description="Part of name, email or wallet.")] = None,
) -> PartyList:
    """People and companies an organization knows, newest first."""
    return await service.page(context, page, status, search)


@router.post("", status_code=status.HTTP_201_CREATED)
@requires(Scope.ATTESTATIONS_WRITE, organization=ANY_ORGANIZATION)
async def create_party(
    context: Current, body: PartyCreate, response: Response, organization_id: Organization = None
) -> Party:
    """Write down a person or company. `organization_id` may be in the body or in the query."""
    if organization_id and body.organization_id and organization_id != body.organization_id:
        raise BadRequest("organization_id in the query and in the body are two.", pointer="/organization_id")
    await service.enter(context, body.organization_id or organization_id, Scope.ATTESTATIONS_WRITE)
    party = await service.create(context, body)
    response.headers["Location"] = f"/v1/identity/parties/{party.id}"
    return party


@router.get("/{partyId}", dependencies=[Depends(_reads_one)])
@requires(Scope.ATTESTATIONS_READ, organization=ANY_ORGANIZATION)
async def get_party(context: Current, partyId: UUID) -> Party:
    """One party."""
    return Party.model_validate(await service.get(context, partyId))


@router.patch("/{partyId}", dependencies=[Depends(_writes_one)])
@requires(Scope.ATTESTATIONS_WRITE, organization=ANY_ORGANIZATION)
async def update_party(context: Current, partyId: UUID, body: PartyUpdate) -> Party:
    """Change name, email or wallet (JSON merge patch). Attestations stay with the wallet they were made for."""
    return await service.update(context, partyId, body)


@router.post("/{partyId}/verify", status_code=status.HTTP_202_ACCEPTED, dependencies=[Depends(_writes_one)])
@requires(Scope.ATTESTATIONS_WRITE, organization=ANY_ORGANIZATION)
async def verify_party(context: Current, partyId: UUID, response: Response, body: PartyVerify | None = None) -> Party:
    """Decide that the identity is proven. It takes effect at once: the answer is the verified party."""
    response.headers["Location"] = f"/v1/identity/parties/{partyId}"
    return await service.verify(context, partyId, body or PartyVerify())


@router.post("/{partyId}/reject", status_code=status.HTTP_202_ACCEPTED, dependencies=[Depends(_writes_one)])
@requires(Scope.ATTESTATIONS_WRITE, organization=ANY_ORGANIZATION)
async def reject_party(context: Current, partyId: UUID, body: PartyReject, response: Response) -> Party:
    """Decide that the identity is not proven, and why. Attestations made before stay until they are revoked."""
    response.headers["Location"] = f"/v1/identity/parties/{partyId}"
    return await service.reject(context, partyId, body)
