"""`/v1/orgs/{orgId}/api-keys`."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Response, status

from backend.api_keys import service
from backend.api_keys.schemas import ApiKeyCreate, ApiKeyCreated, ApiKeyList
from backend.auth.route import Current, GuardedRoute, requires
from backend.auth.scopes import Scope
from backend.keyset import Page

router = APIRouter(prefix="/orgs/{orgId}/api-keys", tags=["API keys"], route_class=GuardedRoute)


@router.get("")
@requires(Scope.API_KEYS_READ)
async def list_keys(context: Current, orgId: UUID, page: Annotated[Page, Depends()]) -> ApiKeyList:
    """Keys, newest first, revoked and expired ones too; never their text."""
    return await service.page(context, page)


@router.post("", status_code=status.HTTP_201_CREATED)
@requires(Scope.API_KEYS_WRITE, fresh=True)
async def create_key(context: Current, orgId: UUID, body: ApiKeyCreate, response: Response) -> ApiKeyCreated:
    """Make a key. It has no scope that the caller lacks; made by a key or an application, it ends with that one at the
    latest. `key` is shown in this answer only.

    `allowed_ip_ranges` are the IP addresses and CIDR ranges the key works from, at most 100; the organization's ranges
    hold too. A key made by a key has ranges within those of its maker, and the same ones where it names none."""
    response.headers["Cache-Control"] = "no-store"
    return await service.create(context, body)


@router.delete("/{keyId}", status_code=status.HTTP_204_NO_CONTENT)
@requires(Scope.API_KEYS_WRITE, fresh=True)
async def revoke_key(context: Current, orgId: UUID, keyId: UUID) -> None:
    """Revoke a key and every key made with it; they stop working at once."""
    await service.revoke(context, keyId)
