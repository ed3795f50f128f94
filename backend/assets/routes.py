"""`/v1/orgs/{orgId}/assets`."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Response, status
from fastapi.responses import JSONResponse

from backend.assets import checking, history, holders, holders_at, impact, listing, records, service
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
from backend.auth.route import Current, DryRun, GuardedRoute, requires
from backend.auth.scopes import Scope
from backend.compliance.schemas import TransferCheck, TransferVerdict
from backend.errors import BadRequest
from backend.keyset import Page, limit_of

router = APIRouter(prefix="/orgs/{orgId}/assets", tags=["Assets"], route_class=GuardedRoute)
Block = Annotated[int | None, Query(ge=0, le=2**53, description="At which block; default now.")]
ChainOfBlock = Annotated[
    int | None, Query(ge=1, le=2**32 - 1, description="Whose block; needed where the asset is on several chains.")
]


@router.get("")
@requires(Scope.ASSETS_READ)
async def list_assets(
    context: Current,
    orgId: UUID,
    page: Annotated[Page, Depends()],
    status: AssetStatus | None = None,
) -> AssetList:
    """Assets of the organization, newest first; archived ones only with `status=archived`."""
    return await listing.page(context, page, status)


@router.post("", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ASSETS_WRITE)
async def create_asset(
    context: Current, orgId: UUID, body: AssetCreate, response: Response, dry_run: DryRun = False
) -> AssetAccepted | AssetCreatePlan:
    """Create an asset: its token is deployed on `chain_eid`, its rules are set, and its initial supply goes to the
    organization's default server wallet (the treasury), which owns the token."""
    if dry_run:
        response.status_code = status.HTTP_200_OK
        return await service.creation_plan(context, body)
    accepted = await service.create(context, body)
    response.headers["Location"] = f"/v1/orgs/{orgId}/requests/{accepted.request_id}"
    return accepted


@router.get("/{assetId}")
@requires(Scope.ASSETS_READ)
async def get_asset(context: Current, orgId: UUID, assetId: UUID) -> Asset:
    """One asset, the supply on each chain read from there now."""
    return await listing.one(context, assetId)


@router.patch("/{assetId}", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ASSETS_WRITE, fresh=True)
async def update_asset(
    context: Current, orgId: UUID, assetId: UUID, body: AssetUpdate, response: Response, dry_run: DryRun = False
) -> AssetAccepted | AssetPlan:
    """Change an asset (JSON merge patch; null takes a field back to its default, also inside `compliance_rules`).

    Rules are set on every chain that has the token and read back from there; updates of one asset queue, in order.
    """
    if dry_run:
        response.status_code = status.HTTP_200_OK
        return await impact.plan(context, assetId, body)
    accepted = await service.update(context, assetId, body)
    response.headers["Location"] = f"/v1/orgs/{orgId}/requests/{accepted.request_id}"
    return accepted


@router.delete(
    "/{assetId}",
    status_code=status.HTTP_204_NO_CONTENT,
    response_model=None,
    responses={
        200: {"model": AssetArchivePlan, "description": "The plan of a dry run; nothing was done."},
        409: {},
    },
)
@requires(Scope.ASSETS_WRITE)
async def archive_asset(context: Current, orgId: UUID, assetId: UUID, dry_run: DryRun = False) -> Response:
    """Archive a draft or failed asset. One that is on a chain cannot be taken back (409)."""
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
    limit: Annotated[str | None, Query(max_length=20, description="Default 50; above 100 means 100.")] = None,
    cursor: Annotated[str | None, Query(max_length=1000, description="`nextCursor` of the page before.")] = None,
    block: Block = None,
    chain_eid: ChainOfBlock = None,
) -> HolderList:
    """The cap table: who owns how much on which chain, largest first. What a market holds for a seller counts as the
    seller's. With `block` the chain itself is asked who held how much then; holders come by their address."""
    await records.asset(context.session, orgId, assetId)
    if block is None and chain_eid is not None:
        raise BadRequest("chain_eid goes with block: it says whose block is meant.")
    if block is None:
        return await holders.page(context, assetId, limit, cursor)
    place = await holders_at.place(context, assetId, block, chain_eid)
    return await holders_at.page(context, place, limit_of(limit), cursor)


@router.get("/{assetId}/rules-history")
@requires(Scope.ASSETS_READ)
async def list_rules_history(
    context: Current, orgId: UUID, assetId: UUID, page: Annotated[Page, Depends()]
) -> RuleSetList:
    """Every set of rules that the asset's tokens took, as their chains tell, newest first, and what each changed."""
    await records.asset(context.session, orgId, assetId)
    return await history.page(context, page, assetId)


@router.post("/{assetId}/transfer-check")
@requires(Scope.ASSETS_READ)
async def check_transfer(context: Current, orgId: UUID, assetId: UUID, body: TransferCheck) -> TransferVerdict:
    """Whether a transfer would pass: every rule that is looked at, its reason and the call that would put it right;
    `chain_agrees` says whether the token's own `checkTransfer` comes to the same. From the zero address: a mint."""
    return await checking.check(context, assetId, body)
