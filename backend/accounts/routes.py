"""`/v1/orgs/{orgId}/accounts`."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from backend.accounts import service
from backend.accounts.listing import FEW, MOST, Wanted
from backend.accounts.schemas import AccountList
from backend.auth.guard import Current, GuardedRoute, requires
from backend.auth.scopes import Scope
from backend.core.fields import Search

# Declared at import.
router = APIRouter(prefix="/orgs/{orgId}/accounts", tags=["Wallets"], route_class=GuardedRoute)


@router.get("", responses={404: {}})
@requires(Scope.WALLETS_READ)
async def search_accounts(
    context: Current,
    orgId: UUID,
    q: Annotated[Search, Query(description="Part of a name, label or email, or the beginning of an address.")] = "",
    asset_id: Annotated[UUID | None, Query(description="Holders of this asset too. Needs assets:read.")] = None,
    chain_eid: Annotated[int | None, Query(ge=1, le=2**32 - 1, description="The asset's chain.")] = None,
    market_id: Annotated[UUID | None, Query(description="A market of the asset, instead of chain_eid.")] = None,
    signing: Annotated[bool, Query(description="Only server wallets, which can sign.")] = False,
    unassigned: Annotated[bool, Query(description="Only own wallets of no party, without the treasury.")] = False,
    limit: Annotated[int, Query(ge=1, le=MOST, description="How many accounts at most.")] = FEW,
) -> AccountList:
    """Search the accounts that a person may mean: the organization's wallets, its parties (with attestations:read), an
    asset's holders and recently used addresses. The most likely first, each with its balance and whether the rules let
    it hold the asset."""
    return await service.search(context, Wanted(q, asset_id, chain_eid, market_id, signing, unassigned, limit))
