"""`/v1/orgs/{orgId}/assets`."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Response, status
from fastapi.responses import JSONResponse

from backend.assets import (
    cap_moves,
    chain_caps,
    history,
    holders,
    holders_at,
    impact,
    listing,
    records,
    service,
    transfer_check,
)
from backend.assets.schemas import (
    Asset,
    AssetAccepted,
    AssetArchivePlan,
    AssetCreate,
    AssetCreatePlan,
    AssetList,
    AssetPlan,
    AssetStatus,
    AssetUpdate,
    HolderList,
    RuleSetList,
)
from backend.auth.guard import Current, DryRun, GuardedRoute, requires
from backend.auth.scopes import Scope
from backend.caps.schemas import AssetCaps, CapSharesPlan, CapSharesUpdate
from backend.compliance.schemas import TransferCheck, TransferVerdict
from backend.core.errors import BadRequest
from backend.lists.pages import Page
from backend.requests.responses import accepted, planned

# Declared at import.
router = APIRouter(prefix="/orgs/{orgId}/assets", tags=["Assets"], route_class=GuardedRoute)
Block = Annotated[int | None, Query(ge=0, le=2**53, description="The block number. Default: the newest block.")]
ChainOfBlock = Annotated[
    int | None, Query(ge=1, le=2**32 - 1, description="The block's chain; required if the asset is on several chains.")
]


@router.get("", response_model=AssetList)
@requires(Scope.ASSETS_READ)
async def list_assets(
    context: Current,
    orgId: UUID,
    page: Annotated[Page, Depends(listing.LIST.page)],
    status: AssetStatus | None = None,
) -> Response:
    """List assets of the organization, newest first; archived ones only with `status=archived`."""
    return await listing.page(context, page, status)


@router.post("", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ASSETS_WRITE)
async def create_asset(
    context: Current, orgId: UUID, body: AssetCreate, response: Response, dry_run: DryRun = False
) -> AssetAccepted | AssetCreatePlan:
    """Create an asset: its token is deployed on `chain_eid`, its rules are set, and its initial supply is minted to the
    organization's default server wallet (the treasury), which owns the token."""
    if dry_run:
        return planned(response, await service.creation_plan(context, body))
    return accepted(response, orgId, await service.create(context, body))


@router.get("/{assetId}")
@requires(Scope.ASSETS_READ)
async def get_asset(context: Current, orgId: UUID, assetId: UUID) -> Asset:
    """Get an asset with its supply on each chain, read now."""
    return await listing.one(context, assetId)


@router.patch("/{assetId}", status_code=status.HTTP_202_ACCEPTED, responses={428: {}})
@requires(Scope.ASSETS_WRITE, fresh=True)
async def update_asset(
    context: Current, orgId: UUID, assetId: UUID, body: AssetUpdate, response: Response, dry_run: DryRun = False
) -> AssetAccepted | AssetPlan:
    """Update an asset (JSON merge patch, also inside `compliance_rules`).

    Null is refused for a protection (422): 0, false, "none" or an empty list removes one.

    Rules are set on every chain that has the token and read back from there; updates of one asset are queued in order.
    With `If-Match`, nothing is done if someone changed the asset since its `ETag` was read (412), also while the update
    waits for a second person. Organizations with `require_if_match` require it for rules (428).
    """
    if dry_run:
        return planned(response, await impact.plan(context, assetId, body))
    return accepted(response, orgId, await service.update(context, assetId, body))


@router.delete(
    "/{assetId}",
    status_code=status.HTTP_204_NO_CONTENT,
    response_model=None,
    responses={
        200: {"model": AssetArchivePlan, "description": "The plan of a dry run; nothing was changed."},
        409: {},
    },
)
@requires(Scope.ASSETS_WRITE)
async def archive_asset(context: Current, orgId: UUID, assetId: UUID, dry_run: DryRun = False) -> Response:
    """Archive a draft or failed asset. An asset on a chain cannot be archived (409)."""
    if dry_run:
        plan = await service.archive_plan(context, assetId)
        return JSONResponse(plan.model_dump(mode="json"))
    await service.archive(context, assetId)
    return Response(status_code=status.HTTP_204_NO_CONTENT)


@router.get("/{assetId}/holders")
@requires(Scope.ASSETS_READ)
async def list_holders(
    context: Current,
    orgId: UUID,
    assetId: UUID,
    page: Annotated[Page, Depends(holders.LIST.page)],
    block: Block = None,
    chain_eid: ChainOfBlock = None,
) -> HolderList:
    """List the cap table: balances per owner and chain, largest first. Tokens that a market holds for a seller count as
    the seller's. With `block`, balances are read from the chain at that block, and holders are ordered by address."""
    await records.asset(context.session, orgId, assetId)
    if block is None and chain_eid is not None:
        raise BadRequest("chain_eid requires block. Send both.")
    if block is None:
        return await holders.page(context, assetId, page)
    place = await holders_at.place(context, assetId, block, chain_eid)
    return await holders_at.page(context, place, page)


@router.get("/{assetId}/caps")
@requires(Scope.ASSETS_READ)
async def get_caps(context: Current, orgId: UUID, assetId: UUID) -> AssetCaps:
    """Get the caps of an asset, and the share of each chain: what it enforces now, and how much of it is used."""
    return await chain_caps.current(context, assetId)


@router.post("/{assetId}/cap-shares", status_code=status.HTTP_202_ACCEPTED, responses={409: {}, 428: {}})
@requires(Scope.ASSETS_WRITE, fresh=True)
async def share_caps(
    context: Current, orgId: UUID, assetId: UUID, body: CapSharesUpdate, response: Response, dry_run: DryRun = False
) -> AssetAccepted | CapSharesPlan:
    """Set the share of the caps of every chain, for example to move a part of it from one chain to another.

    The shares add up to the caps, and none is below what its chain uses (409). Shares decrease first and increase
    afterwards, so that their sum never exceeds the cap. They stay until a cap changes or the asset gets another chain:
    then shares are as equal as possible again. `If-Match` works as for an update of the asset.
    """
    if dry_run:
        return planned(response, await cap_moves.plan(context, assetId, body))
    return accepted(response, orgId, await cap_moves.create(context, assetId, body))


@router.get("/{assetId}/rules-history")
@requires(Scope.ASSETS_READ)
async def list_rules_history(
    context: Current, orgId: UUID, assetId: UUID, page: Annotated[Page, Depends(history.LIST.page)]
) -> RuleSetList:
    """List every set of rules that the asset's tokens took, from chain events, newest first, and what each changed."""
    await records.asset(context.session, orgId, assetId)
    return await history.page(context, page, assetId)


@router.post("/{assetId}/transfer-check")
@requires(Scope.ASSETS_READ)
async def check_transfer(context: Current, orgId: UUID, assetId: UUID, body: TransferCheck) -> TransferVerdict:
    """Check whether a transfer would pass: every evaluated rule, its reason and the call that resolves a failure;
    `chain_agrees` says whether the token's own `checkTransfer` returns the same. From the zero address: a mint."""
    return await transfer_check.check(context, assetId, body)
