"""`/v1/orgs/{orgId}/assets/{assetId}/{control}`."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Request, Response, status

from backend.auth.guard import Current, DryRun, GuardedRoute, requires
from backend.auth.scopes import Scope
from backend.controls import batches, paths, service
from backend.controls.rules import SUPPLY
from backend.controls.schemas import (
    AssetPathList,
    Burn,
    Control,
    ControlAccepted,
    ControlKind,
    ControlPlan,
    ForcedTransfer,
    Freeze,
    FreezeBatch,
    FreezeBatchAccepted,
    FreezeBatchPlan,
    LimitPath,
    Mint,
    Pause,
    PausePath,
    Recover,
)
from backend.core.fair_places import urgently
from backend.lists.pages import SHORT, Page
from backend.requests.responses import accepted, planned

# Declared at import.
router = APIRouter(prefix="/orgs/{orgId}/assets/{assetId}", tags=["Controls"], route_class=GuardedRoute)
Answer = ControlAccepted | ControlPlan


async def _answer(
    context: Current, assetId: UUID, kind: ControlKind, body: Control, response: Response, dry_run: bool
) -> Answer:
    # A preview protects no holder: it uses the places of other requests.
    with urgently(not dry_run and kind not in SUPPLY):
        if dry_run:
            return planned(response, await service.plan(context, assetId, kind, body))
        return accepted(response, context.organization_id, await service.act(context, assetId, kind, body))


@router.post("/mint", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ASSETS_WRITE, fresh=True)
async def mint(
    context: Current, orgId: UUID, assetId: UUID, body: Mint, response: Response, dry_run: DryRun = False
) -> Answer:
    """Mint tokens as the owner. The receiver must pass every rule of a holder; the treasury always may receive."""
    return await _answer(context, assetId, ControlKind.MINT, body, response, dry_run)


@router.post("/burn", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ASSETS_WRITE, fresh=True)
async def burn(
    context: Current, orgId: UUID, assetId: UUID, body: Burn, response: Response, dry_run: DryRun = False
) -> Answer:
    """Burn tokens. Tokens of an address other than the owner are first taken by force, including frozen ones."""
    return await _answer(context, assetId, ControlKind.BURN, body, response, dry_run)


@router.post("/pause", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ASSETS_WRITE)
async def pause(
    context: Current, orgId: UUID, assetId: UUID, body: Pause, response: Response, dry_run: DryRun = False
) -> Answer:
    """Pause every movement of the token on a chain, or on all chains. Enforcement still works while it is paused."""
    return await _answer(context, assetId, ControlKind.PAUSE, body, response, dry_run)


@router.post("/unpause", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ASSETS_WRITE)
async def unpause(
    context: Current, orgId: UUID, assetId: UUID, body: Pause, response: Response, dry_run: DryRun = False
) -> Answer:
    """Unpause a token."""
    return await _answer(context, assetId, ControlKind.UNPAUSE, body, response, dry_run)


@router.post("/freeze", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ASSETS_WRITE)
async def freeze(
    context: Current, orgId: UUID, assetId: UUID, body: Freeze, response: Response, dry_run: DryRun = False
) -> Answer:
    """Freeze an additional amount of an account; without an amount, the whole account, including what it receives
    later."""
    return await _answer(context, assetId, ControlKind.FREEZE, body, response, dry_run)


@router.post("/unfreeze", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ASSETS_WRITE)
async def unfreeze(
    context: Current, orgId: UUID, assetId: UUID, body: Freeze, response: Response, dry_run: DryRun = False
) -> Answer:
    """Unfreeze an amount of an account; without an amount, the whole account."""
    return await _answer(context, assetId, ControlKind.UNFREEZE, body, response, dry_run)


@router.post("/freeze/batch")
@requires(Scope.ASSETS_WRITE)
async def freeze_accounts(
    context: Current, orgId: UUID, assetId: UUID, body: FreezeBatch, request: Request, dry_run: DryRun = False
) -> FreezeBatchAccepted | FreezeBatchPlan:
    """Freeze up to 200 accounts, also on several chains. Each item is checked and accepted on its own, as a request.

    A refused item has the problem that the operation for one account would return, and does not stop the others. With
    an `Idempotency-Key`, each item has one effect: after a call that ended half-way, the same call continues it. Where
    freezes need a second person, each item waits for its own approval.
    """
    return await _together(context, request, assetId, ControlKind.FREEZE, body, dry_run)


@router.post("/unfreeze/batch")
@requires(Scope.ASSETS_WRITE)
async def unfreeze_accounts(
    context: Current, orgId: UUID, assetId: UUID, body: FreezeBatch, request: Request, dry_run: DryRun = False
) -> FreezeBatchAccepted | FreezeBatchPlan:
    """Unfreeze up to 200 accounts. Items are handled as those of a batch of freezes."""
    return await _together(context, request, assetId, ControlKind.UNFREEZE, body, dry_run)


async def _together(
    context: Current, request: Request, asset_id: UUID, kind: ControlKind, body: FreezeBatch, dry_run: bool
) -> FreezeBatchAccepted | FreezeBatchPlan:
    with urgently(not dry_run):
        if dry_run:
            return await batches.plan(context, request, asset_id, kind, body)
        return await batches.act(context, request, asset_id, kind, body)


@router.post("/forced-transfer", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ASSETS_WRITE, fresh=True)
async def forced_transfer(
    context: Current, orgId: UUID, assetId: UUID, body: ForcedTransfer, response: Response, dry_run: DryRun = False
) -> Answer:
    """Transfer tokens by force, including frozen ones, to an eligible address; also while paused or locked up."""
    return await _answer(context, assetId, ControlKind.FORCED_TRANSFER, body, response, dry_run)


@router.post("/recover", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ASSETS_WRITE, fresh=True)
async def recover(
    context: Current, orgId: UUID, assetId: UUID, body: Recover, response: Response, dry_run: DryRun = False
) -> Answer:
    """Recover a lost wallet: move everything to a new wallet of the same person, which must be eligible: its tokens,
    their frozen part, and what its open orders hold in the asset's markets. These orders are cancelled; the tokens and
    the quote currency in them move to the new wallet in the same transaction.

    Afterwards the organization's own attestation of the lost wallet on this chain is revoked, where the organization is
    an issuer. One of another issuer remains, which the last step says.
    """
    return await _answer(context, assetId, ControlKind.RECOVER, body, response, dry_run)


@router.get("/paths")
@requires(Scope.ASSETS_READ)
async def list_asset_paths(
    context: Current, orgId: UUID, assetId: UUID, page: Annotated[Page, Depends(SHORT.page)]
) -> AssetPathList:
    """List the bridge paths between the asset's tokens, with their pauses and limits, read from the chains now."""
    return AssetPathList(paths=page.kept(await paths.all_of(context, assetId)))


@router.post("/pause-path", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ASSETS_WRITE)
async def pause_path(
    context: Current, orgId: UUID, assetId: UUID, body: PausePath, response: Response, dry_run: DryRun = False
) -> Answer:
    """Pause the bridge path between two chains, in both directions and on both tokens. A packet in transit waits at the
    endpoint of its destination."""
    return await _answer(context, assetId, ControlKind.PAUSE_PATH, body, response, dry_run)


@router.post("/unpause-path", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ASSETS_WRITE)
async def unpause_path(
    context: Current, orgId: UUID, assetId: UUID, body: PausePath, response: Response, dry_run: DryRun = False
) -> Answer:
    """Resume the bridge path between two chains."""
    return await _answer(context, assetId, ControlKind.UNPAUSE_PATH, body, response, dry_run)


@router.post("/limit-path", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ASSETS_WRITE)
async def limit_path(
    context: Current, orgId: UUID, assetId: UUID, body: LimitPath, response: Response, dry_run: DryRun = False
) -> Answer:
    """Limit how much passes between two chains in a time window, both directions together, or remove the limit
    (`"amount": "0"`; null is a 422). To stop the path, pause it. Used amounts are released evenly over the window. A
    packet above the limit waits at the endpoint of its destination."""
    return await _answer(context, assetId, ControlKind.LIMIT_PATH, body, response, dry_run)
