"""`POST /v1/orgs/{orgId}/sub-orgs/{subOrgId}/move`."""

from uuid import UUID

from fastapi import APIRouter, Response

from backend.auth.guard import Current, DryRun, GuardedRoute, requires
from backend.auth.scopes import Scope
from backend.moves import service as moves
from backend.organizations.schemas import MovePlan, Organization, OrganizationMove

# Declared at import.
router = APIRouter(prefix="/orgs", tags=["Organizations"], route_class=GuardedRoute)
AUTHORITY = (
    "A move gives the admins of the new parent authority over the organization. Sign in as an admin of both parents."
)
"""Why a key or an application moves nothing, and who can."""


@router.post("/{orgId}/sub-orgs/{subOrgId}/move")
@requires(Scope.ORGS_WRITE, person=True, because=AUTHORITY, fresh=True)
async def move_sub_organization(
    context: Current, orgId: UUID, subOrgId: UUID, body: OrganizationMove, response: Response, dry_run: DryRun = False
) -> Organization | MovePlan:
    """Move an organization and everything below it from its current parent (`orgId`) to another.

    The admins of the new parent become its admins, so only a signed-in person with the admin role in both parents can
    move it; API keys and applications are refused. `?dry_run=true` returns paths, depths, and who gains or loses
    access, and changes nothing. If the organization is known on a chain, `Location` names the request that writes its
    new parent there.
    """
    if dry_run:
        return await moves.plan(context, subOrgId, body.newParentId)
    organization, request = await moves.move(context, subOrgId, body.newParentId)
    if request is not None:
        response.headers["Location"] = f"/v1/orgs/{subOrgId}/requests/{request.id}"
    return organization
