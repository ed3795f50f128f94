"""Check, plan and accept controls. The workflow does the work on chain."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from backend.assets import gas, records
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.chain.errors import Reverted
from backend.chain.transactions import lost_transactions
from backend.chain.transactions.execution import rehearse
from backend.chains import new_activity
from backend.controls import calls, rules, wording
from backend.controls import plan as control_plans
from backend.controls.lost_attestations import KEY
from backend.controls.plan import Deed
from backend.controls.schemas import (
    Burn,
    Change,
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
    Recover,
)
from backend.controls.wording import Wording
from backend.core import db
from backend.core.changes import publish
from backend.daily_use import counts
from backend.daily_use.counts import Amount
from backend.requests.accept import accept, acceptance_message, requires_second_person
from backend.requests.schemas import ENDING
from backend.requests.service import Step
from backend.wallets import signing_wallets


async def plan(context: Context, asset_id: UUID, kind: ControlKind, body: Control) -> ControlPlan:
    """Run every check of the control, and return what it would do. Nothing is changed."""
    deed = await _checked(context, asset_id, kind, body)
    words = await _wording(context, asset_id, deed, body)
    steps = [
        ControlStep(
            name=f"{act}_{place.eid}",
            title=words.planned(act, place.eid, body.model_dump(mode="json")),
            chain_eid=place.eid,
            chain_name=words.chains[place.eid],
            gas_estimate=_gas(deed),
        )
        for place, _ in deed.places
        for act in deed.acts
    ]
    if deed.attested and isinstance(body, Recover):
        steps.append(
            ControlStep(
                name=f"{KEY}_{body.chain_eid}",
                title=words.attestation_revoked(body.lost_address),
                chain_eid=body.chain_eid,
                chain_name=words.chains[body.chain_eid],
                gas_estimate=gas.REVOCATION,
            )
        )
    moves = _moves(asset_id, body)
    excess = await counts.excess(context.session, f"token.{kind}", moves, lock=False) if moves else None
    warnings = [*deed.warnings, *(words.in_orders(*held) for held in deed.in_orders.items())]
    if deed.unattested:
        warnings.append(await words.unattested(context.session, deed.unattested, deed.places[0][0]))
    warnings += [f"{excess} A second person must approve it."] if excess else []
    changes = [_told(change, words) for change in deed.changes]
    waits = excess is not None or await requires_second_person(context, f"token.{kind}")
    impact = ControlImpact(changes=changes, warnings=warnings, needs_second_person=waits)
    return ControlPlan(steps=steps, impact=impact)


async def _wording(context: Context, asset_id: UUID, deed: Deed, body: Control) -> Wording:
    accounts = {*wording.addresses_of(body.model_dump(mode="json")), *(c.address for c in deed.changes if c.address)}
    return await wording.of_asset(context.session, context.organization_id, asset_id, accounts)


def _told(change: Change, words: Wording) -> Change:
    """Return a change with the name of its account, and the unit of an amount of the token."""
    told: dict[str, Any] = {"address_name": words.names.get(change.address or "")}
    if change.field in ("supply", "balance", "frozen"):
        told |= {"symbol": words.symbol, "decimals": words.decimals}
    return change.model_copy(update=told)


async def act(context: Context, asset_id: UUID, kind: ControlKind, body: Control) -> ControlAccepted:
    """Create the control's request, after every check."""
    deed = await _checked(context, asset_id, kind, body)
    words, sent = (await _wording(context, asset_id, deed, body)).shortened(), body.model_dump(mode="json")
    title = words.title(deed.acts, [place.eid for place, _ in deed.places], sent)
    request = await accept(
        context,
        f"token.{kind}",
        title,
        subject=("asset", asset_id),
        scope=Scope.ASSETS_WRITE,
        steps=_steps(deed, words, sent),
        order=rules.order_of(asset_id, kind, deed.acts),
        arguments=_arguments(deed, body),
        moves=_moves(asset_id, body),
    )
    record = {"control": kind, **calls.requested(request.arguments), "request_id": str(request.id)}
    await publish(context.session, context.organization_id, "control.requested", ("asset", asset_id), None, record)
    message = acceptance_message(request, f"{title}: accepted.")
    return ControlAccepted(assetId=asset_id, status=request.status, request_id=str(request.id), message=message)


def _moves(asset_id: UUID, body: Control) -> Amount | None:
    """Return the amount that counts against a daily limit."""
    return Amount(asset_id, int(body.amount)) if isinstance(body, Mint | Burn | ForcedTransfer) else None


def _arguments(deed: Deed, body: Control) -> dict[str, Any]:
    """Return the workflow's arguments, including the reason."""
    answer = body.model_dump(mode="json", exclude={"chain_eid"})
    revokes = {"revokes": True} if deed.revokes else {}
    return {**answer, "chains": [place.eid for place, _ in deed.places], "acts": deed.acts, **revokes}


def _gas(deed: Deed) -> int:
    """Return the expected gas of one act."""
    return gas.CONTROL + gas.RECOVERED_ORDER * sum(len(ids) for ids in deed.orders.values())


def _steps(deed: Deed, words: Wording, sent: Mapping[str, Any]) -> list[Step]:
    steps = [
        Step(f"{act}_{place.eid}", words.step(act, place.eid, sent), place.eid)
        for place, _ in deed.places
        for act in deed.acts
    ]
    if deed.revokes:  # also without an attestation now: one may be issued before the recovery is approved
        (eid,) = (place.eid for place, _ in deed.places)
        revoked = f"{words.attestation_revoked(sent['lost_address'])} on {words.chains[eid]}"
        steps.append(Step(f"{KEY}_{eid}", revoked, eid))
    return steps


async def _checked(context: Context, asset_id: UUID, kind: ControlKind, body: Control) -> Deed:
    """Return the deed after simulating it on its chains: the owner is a server wallet and can pay, and the contract
    accepts the call."""
    await records.asset(context.session, context.organization_id, asset_id)
    eids = await _eids(context, asset_id, body)
    if f"token.{kind}" not in ENDING:
        places = {row.chain_eid for row in records.active(await records.deployments(context.session, asset_id))}
        await new_activity.check(context, *places.intersection(eids))
    async with lost_transactions.considered(context.session, *eids):
        try:
            return await _simulated(context, asset_id, kind, body)
        except Reverted:  # by a later block than the rules were checked at: only they name the rule and its resolution
            return await _simulated(context, asset_id, kind, body)


async def _simulated(context: Context, asset_id: UUID, kind: ControlKind, body: Control) -> Deed:
    """Return the deed that the rules allow, after simulating its first act on each of its chains."""
    deed = await control_plans.deed(context, asset_id, kind, body)
    arguments = _arguments(deed, body) | {"orders": deed.orders}
    for place, owner in deed.places:
        wallet = await signing_wallets.of_owner(context.session, context.organization_id, owner)
        await records.check_funded(context.session, wallet, place.eid, _gas(deed) * len(deed.acts))
        async with db.paused(context.session):
            call = await calls.call_of(deed.acts[0], place.eid, place.token, owner, arguments)
            await rehearse(call.intent("rehearsal", eid=place.eid, signer=owner))
    return deed


async def _eids(context: Context, asset_id: UUID, body: Control) -> list[int]:
    """Return the chains that a control reads."""
    if isinstance(body, PausePath | LimitPath):
        return [body.source_chain_eid, body.destination_chain_eid]
    if body.chain_eid is not None:
        return [body.chain_eid]
    return [row.chain_eid for row in records.active(await records.deployments(context.session, asset_id))]
