"""`/v1/orgs/{orgId}/assets/{assetId}/{control}`."""

from uuid import UUID

from fastapi import APIRouter, Response, status

from backend.auth.route import Current, DryRun, GuardedRoute, requires
from backend.auth.scopes import Scope
from backend.controls import paths, service
from backend.controls.schemas import (
    AssetPathList,
    Burn,
    Control,
    ControlAccepted,
    ControlKind,
    ControlPlan,
    ForcedTransfer,
    Freeze,
    LimitPath,
    Mint,
    Pause,
    PausePath,
    Recover,
)

router = APIRouter(prefix="/orgs/{orgId}/assets/{assetId}", tags=["Controls"], route_class=GuardedRoute)
Answer = ControlAccepted | ControlPlan


async def _answer(
    context: Current, assetId: UUID, kind: ControlKind, body: Control, response: Response, dry_run: bool
) -> Answer:
    if dry_run:
        response.status_code = status.HTTP_200_OK
        return await service.plan(context, assetId, kind, body)
    accepted = await service.act(context, assetId, kind, body)
    response.headers["Location"] = f"/v1/orgs/{context.organization_id}/requests/{accepted.request_id}"
    return accepted


@router.post("/mint", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ASSETS_WRITE, fresh=True)
async def mint(
    context: Current, orgId: UUID, assetId: UUID, body: Mint, response: Response, dry_run: DryRun = False
) -> Answer:
    """Issue tokens by the owner. The receiver must pass every rule of a holder; the treasury always may."""
    return await _answer(context, assetId, ControlKind.MINT, body, response, dry_run)


@router.post("/burn", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ASSETS_WRITE, fresh=True)
async def burn(
    context: Current, orgId: UUID, assetId: UUID, body: Burn, response: Response, dry_run: DryRun = False
) -> Answer:
    """Destroy tokens. Those of another address than the owner's are taken first, by force, frozen ones too."""
    return await _answer(context, assetId, ControlKind.BURN, body, response, dry_run)


@router.post("/pause", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ASSETS_WRITE)
async def pause(
    context: Current, orgId: UUID, assetId: UUID, body: Pause, response: Response, dry_run: DryRun = False
) -> Answer:
    """Stop every movement of the token on a chain, or on all of them. Enforcement still works while it is paused."""
    return await _answer(context, assetId, ControlKind.PAUSE, body, response, dry_run)


@router.post("/unpause", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ASSETS_WRITE)
async def unpause(
    context: Current, orgId: UUID, assetId: UUID, body: Pause, response: Response, dry_run: DryRun = False
) -> Answer:
    """Let a paused token move again."""
    return await _answer(context, assetId, ControlKind.UNPAUSE, body, response, dry_run)


@router.post("/freeze", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ASSETS_WRITE)
async def freeze(
    context: Current, orgId: UUID, assetId: UUID, body: Freeze, response: Response, dry_run: DryRun = False
) -> Answer:
    """Freeze so much more of an account; without an amount all of it, also what it gets later."""
    return await _answer(context, assetId, ControlKind.FREEZE, body, response, dry_run)


@router.post("/unfreeze", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ASSETS_WRITE)
async def unfreeze(
    context: Current, orgId: UUID, assetId: UUID, body: Freeze, response: Response, dry_run: DryRun = False
) -> Answer:
    """Free so much of what is frozen of an account; without an amount all of it."""
    return await _answer(context, assetId, ControlKind.UNFREEZE, body, response, dry_run)


@router.post("/forced-transfer", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ASSETS_WRITE, fresh=True)
async def forced_transfer(
    context: Current, orgId: UUID, assetId: UUID, body: ForcedTransfer, response: Response, dry_run: DryRun = False
) -> Answer:
    """Take tokens of an address, frozen ones too, and give them to an eligible one; also while paused or locked up."""
    return await _answer(context, assetId, ControlKind.FORCED_TRANSFER, body, response, dry_run)


@router.post("/recover", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ASSETS_WRITE, fresh=True)
async def recover(
    context: Current, orgId: UUID, assetId: UUID, body: Recover, response: Response, dry_run: DryRun = False
) -> Answer:
    """Move everything of a lost wallet to a new wallet of the same person, which must be eligible: its tokens, what of
    them is frozen, and what lies in its open orders of the asset's markets. These orders end; the tokens and the quote
    in them go to the new wallet, in the same transaction."""
    return await _answer(context, assetId, ControlKind.RECOVER, body, response, dry_run)


@router.get("/paths")
@requires(Scope.ASSETS_READ)
async def list_asset_paths(context: Current, orgId: UUID, assetId: UUID) -> AssetPathList:
    """List the bridge paths between the asset's tokens, with their pauses and limits as the chains have them now."""
    return AssetPathList(paths=await paths.all_of(context, assetId))


@router.post("/pause-path", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ASSETS_WRITE)
async def pause_path(
    context: Current, orgId: UUID, assetId: UUID, body: PausePath, response: Response, dry_run: DryRun = False
) -> Answer:
    """Stop what goes between two chains, in both directions and on both tokens. A packet that is on its way waits at
    the endpoint of its destination."""
    return await _answer(context, assetId, ControlKind.PAUSE_PATH, body, response, dry_run)


@router.post("/unpause-path", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ASSETS_WRITE)
async def unpause_path(
    context: Current, orgId: UUID, assetId: UUID, body: PausePath, response: Response, dry_run: DryRun = False
) -> Answer:
    """Let packets pass between two chains again."""
    return await _answer(context, assetId, ControlKind.UNPAUSE_PATH, body, response, dry_run)


@router.post("/limit-path", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ASSETS_WRITE)
async def limit_path(
    context: Current, orgId: UUID, assetId: UUID, body: LimitPath, response: Response, dry_run: DryRun = False
) -> Answer:
    """Limit how much passes between two chains in a window of time, both directions together, or end the limit. What is
    used up frees itself evenly over the window. A packet above the limit waits at the endpoint of its destination."""
    return await _answer(context, assetId, ControlKind.LIMIT_PATH, body, response, dry_run)
