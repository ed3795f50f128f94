"""`/v1/orgs/{orgId}/api-keys`."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Response, status

from backend.api_keys import service
from backend.api_keys.schemas import ApiKey, ApiKeyCreate, ApiKeyCreated, ApiKeyList, PendingRequests
from backend.auth.guard import Current, GuardedRoute, requires
from backend.auth.scopes import Scope
from backend.lists.pages import Page

# Declared at import.
router = APIRouter(prefix="/orgs/{orgId}/api-keys", tags=["API keys"], route_class=GuardedRoute)


@router.get("", response_model=ApiKeyList)
@requires(Scope.API_KEYS_READ)
async def list_keys(context: Current, orgId: UUID, page: Annotated[Page, Depends(service.LIST.page)]) -> Response:
    """List keys, newest first, including revoked and expired ones, without their secrets."""
    return await service.page(context, page)


@router.post("", status_code=status.HTTP_201_CREATED)
@requires(Scope.API_KEYS_WRITE, fresh=True)
async def create_key(context: Current, orgId: UUID, body: ApiKeyCreate, response: Response) -> ApiKeyCreated:
    """Create a key. It has no scope that the caller lacks; if a key or an application makes it, it ends with its maker
    at the latest. `key` is shown only in this response.

    `allowed_ip_ranges` are the IP addresses and CIDR ranges the key works from, at most 100; the organization's ranges
    apply too. A key made by a key must stay within its maker's ranges, and inherits them if it names none."""
    response.headers["Cache-Control"] = "no-store"
    return await service.create(context, body)


@router.get("/{keyId}")
@requires(Scope.API_KEYS_READ)
async def get_key(context: Current, orgId: UUID, keyId: UUID) -> ApiKey:
    """Get a key without its secret, also a revoked or expired one."""
    return await service.one(context, keyId)


@router.delete("/{keyId}", status_code=status.HTTP_204_NO_CONTENT)
@requires(Scope.API_KEYS_WRITE, fresh=True)
async def revoke_key(
    context: Current, orgId: UUID, keyId: UUID, requests: PendingRequests = PendingRequests.DENY
) -> None:
    """Revoke a key and every key made with it; they stop working immediately.

    Requests that the key made and that have not started are denied. With `requests=continue` they continue, which only
    a signed-in person can ask for: it suits a key that was made for one call."""
    await service.revoke(context, keyId, requests)
