"""Controls: looked at, planned or accepted. What they do to the chain is the workflow's."""

from typing import Any
from uuid import UUID

from backend import db
from backend.assets import gas, records
from backend.assets.checking import Place
from backend.assets.models import AssetRow
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.chain import lost_transactions
from backend.chain.transactions import rehearse
from backend.changes import tell
from backend.controls import calls, planning
from backend.controls.planning import Deed
from backend.controls.schemas import (
    Burn,
    Control,
    ControlAccepted,
    ControlImpact,
    ControlKind,
    ControlPlan,
    ControlStep,
    ForcedTransfer,
    LimitPath,
    Mint,
    PausePath,
)
from backend.daily_limits import counting
from backend.daily_limits.counting import Amount
from backend.requests.accept import accept, told
from backend.requests.service import Step
from backend.units import grouped
from backend.wallets import signing_wallets

_VERBS = {
    ControlKind.MINT: "Mint",
    ControlKind.BURN: "Burn",
    ControlKind.PAUSE: "Pause",
    ControlKind.UNPAUSE: "Unpause",
    ControlKind.FREEZE: "Freeze",
    ControlKind.UNFREEZE: "Unfreeze",
    ControlKind.FORCED_TRANSFER: "Forced transfer of",
    ControlKind.RECOVER: "Recover a wallet of",
    ControlKind.PAUSE_PATH: "Pause the bridge path of",
    ControlKind.UNPAUSE_PATH: "Resume the bridge path of",
    ControlKind.LIMIT_PATH: "Limit the bridge path of",
}


async def plan(context: Context, asset_id: UUID, kind: ControlKind, body: Control) -> ControlPlan:
    """Every check of the control, then what it would do. Nothing is done."""
    deed = await _checked(context, asset_id, kind, body)
    names = await records.chain_names(context.session)
    steps = [
        ControlStep(
            name=step.name,
            title=step.title,
            chain_eid=place.eid,
            chain_name=names[place.eid],
            gas_estimate=_gas(deed),
        )
        for place, step in _steps(deed)
    ]
    moves = _moves(asset_id, body)
    excess = await counting.excess(context.session, f"token.{kind}", moves, lock=False) if moves else None
    warnings = [*deed.warnings, f"{excess} A second person has to approve it."] if excess else deed.warnings
    return ControlPlan(steps=steps, impact=ControlImpact(changes=deed.changes, warnings=warnings))


async def act(context: Context, asset_id: UUID, kind: ControlKind, body: Control) -> ControlAccepted:
    """The request that does it, after every check."""
    deed = await _checked(context, asset_id, kind, body)
    asset = await records.asset(context.session, context.organization_id, asset_id)
    names = await records.chain_names(context.session)
    title = f"{_words(kind, body, asset)} on {' and '.join(names[place.eid] for place, _ in deed.places)}"
    request = await accept(
        context,
        f"token.{kind}",
        title,
        subject=("asset", asset_id),
        scope=Scope.ASSETS_WRITE,
        steps=[step for _, step in _steps(deed)],
        order=f"controls:{asset_id}",  # never behind a deployment or a bridge: a pause cannot wait for those
        arguments=_arguments(deed, body),
        moves=_moves(asset_id, body),
    )
    asked = {"control": kind, **calls.asked(request.arguments), "request_id": str(request.id)}
    await tell(context.session, context.organization_id, "control.requested", ("asset", asset_id), None, asked)
    message = told(request, f"{title}: accepted.")
    return ControlAccepted(assetId=asset_id, status=request.status, request_id=str(request.id), message=message)


def _moves(asset_id: UUID, body: Control) -> Amount | None:
    """The amount that counts against a daily limit."""
    return Amount(asset_id, int(body.amount)) if isinstance(body, Mint | Burn | ForcedTransfer) else None


def _words(kind: ControlKind, body: Control, asset: AssetRow) -> str:
    """What is done to how much: "Freeze 120 NREF", "Pause NREF"."""
    amount = None if kind is ControlKind.LIMIT_PATH else getattr(body, "amount", None)
    return f"{_VERBS[kind]} {f'{grouped(amount, asset.decimals)} ' if amount is not None else ''}{asset.symbol}"


def _arguments(deed: Deed, body: Control) -> dict[str, Any]:
    """What the workflow needs, the reason with it."""
    told = body.model_dump(mode="json", exclude={"chain_eid"})
    return {**told, "chains": [place.eid for place, _ in deed.places], "acts": deed.acts}


def _gas(deed: Deed) -> int:
    """What one act is expected to cost."""
    return gas.CONTROL + gas.RECOVERED_ORDER * sum(len(ids) for ids in deed.orders.values())


def _steps(deed: Deed) -> list[tuple[Place, Step]]:
    return [
        (place, Step(f"{name}_{place.eid}", calls.TITLES[name], place.eid))
        for place, _ in deed.places
        for name in deed.acts
    ]


async def _checked(context: Context, asset_id: UUID, kind: ControlKind, body: Control) -> Deed:
    """The deed, rehearsed on its chains: the owner is a wallet of ours, can pay, and the contract takes the call."""
    await records.asset(context.session, context.organization_id, asset_id)
    async with lost_transactions.considered(context.session, *await _eids(context, asset_id, body)):
        deed = await planning.deed(context, asset_id, kind, body)
        arguments = _arguments(deed, body) | {"orders": deed.orders}
        for place, owner in deed.places:
            wallet = await signing_wallets.of_owner(context.session, context.organization_id, owner)
            await records.check_funded(context.session, wallet, place.eid, _gas(deed) * len(deed.acts))
            async with db.paused(context.session):
                call = await calls.call_of(deed.acts[0], place.eid, place.token, owner, arguments)
                await rehearse(call.intent("rehearsal", eid=place.eid, signer=owner))
    return deed


async def _eids(context: Context, asset_id: UUID, body: Control) -> list[int]:
    """The chains that a control looks at."""
    if isinstance(body, PausePath | LimitPath):
        return [body.source_chain_eid, body.destination_chain_eid]
    if body.chain_eid is not None:
        return [body.chain_eid]
    return [row.chain_eid for row in records.active(await records.deployments(context.session, asset_id))]
