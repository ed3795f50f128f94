"""`/v1/orgs/{orgId}/issuer`."""

from uuid import UUID

from fastapi import APIRouter, Response, status

from backend.auth.guard import Current, DryRun, GuardedRoute, requires
from backend.auth.scopes import Scope
from backend.issuers import service
from backend.issuers.schemas import Issuer, IssuerPlan, IssuerRegister, IssuerRegistered
from backend.requests.responses import planned

# Declared at import.
router = APIRouter(prefix="/orgs/{orgId}/issuer", tags=["Issuer"], route_class=GuardedRoute)


LOCATION = {"headers": {"Location": {"$ref": "#/components/headers/Location"}}}


@router.post("/register", status_code=status.HTTP_201_CREATED, responses={201: LOCATION})
@requires(Scope.ATTESTATIONS_WRITE, both=True)
async def register_issuer(
    context: Current, orgId: UUID, response: Response, body: IssuerRegister | None = None, dry_run: DryRun = False
) -> IssuerRegistered | IssuerPlan:
    """Register the organization's default server wallet as an attester on every enabled chain.

    Requires both credentials: an access token (or the console's session) and an API key. A key gets an access token of
    its own by POST /v1/oauth/token (`client_credentials`). `registered` says whether
    every enabled chain has confirmed it; `Location` is the request to follow until then. Repeating the call is safe,
    and registers on chains that were enabled since.
    """
    if dry_run:
        return planned(response, await service.plan(context, body or IssuerRegister()))
    registered = await service.register(context, body or IssuerRegister())
    response.headers["Location"] = f"/v1/orgs/{orgId}/requests/{registered.request_id}"
    return registered


@router.get("", responses={404: {}})
@requires(Scope.ATTESTATIONS_READ)
async def get_issuer(context: Current, orgId: UUID) -> Issuer:
    """Get the organization as an issuer, with its attester on each chain; 404 before registration."""
    return await service.get(context)
