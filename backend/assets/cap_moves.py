"""Moves of shares of the caps between the chains of an asset: plan and accept them."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from backend.assets import chain_caps, holders, records, rules, service, states
from backend.assets.models import AssetRow, DeploymentRow
from backend.assets.rules import Terms
from backend.assets.schemas import Asset, AssetAccepted, AssetStatus
from backend.assets.terms import terms_of, write
from backend.auth import versions
from backend.auth.calls import Version
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.caps import rules as cap_rules
from backend.caps.changes import Change
from backend.caps.schemas import CapRule, CapShare, CapSharesImpact, CapSharesPlan, CapSharesUpdate
from backend.chains import new_activity
from backend.chains import service as chains
from backend.core.changes import publish_change, shown
from backend.core.db import Write
from backend.core.errors import Conflict
from backend.core.units import grouped
from backend.requests.accept import accept, acceptance_message
from backend.requests.models import RequestRow
from backend.requests.schemas import RequestStatus
from backend.requests.service import Step
from backend.requests.waiting import accepted_status


@dataclass(frozen=True)
class Move:
    """Shares that passed every check: the asset, locked; its terms with them; its chains with a token; the effects."""

    asset: AssetRow
    terms: Terms
    rows: list[DeploymentRow]
    change: Change


async def _checked(session: Write, organization_id: UUID, asset_id: UUID, shares: Sequence[CapShare]) -> Move:
    """Run every check: the asset (404), its status, the shares against the caps and what each chain uses (409)."""
    asset = await records.asset(session, organization_id, asset_id, lock=True)
    rules.check_updatable(asset.status)
    rows = await records.deployments(session, asset_id)
    names = await records.chain_names(session)
    eids = records.sharing(rows)
    there = await holders.by_chain(session, organization_id, asset_id)
    terms = terms_of(asset).model_copy(update={"cap_shares": tuple(shares)})
    fault = cap_rules.fault(terms.caps, shares, {eid: names[eid] for eid in eids}, there.used, _words(asset))
    if fault:
        raise Conflict(fault)
    if len(records.active(rows)) < len(eids):
        raise Conflict("The asset is being deployed on another chain. Set the shares when that is done.")
    change = await chain_caps.change(session, asset, terms, eids)
    return Move(asset, terms, records.active(rows), change)


def _words(asset: AssetRow) -> cap_rules.Words:
    def words(rule: CapRule, amount: int) -> str:
        if rule is CapRule.MAX_HOLDERS:
            return f"{amount:,} holder{'' if amount == 1 else 's'}"
        return f"{grouped(amount, asset.decimals)} {asset.symbol}"

    return words


async def plan(context: Context, asset_id: UUID, body: CapSharesUpdate) -> CapSharesPlan:
    """Run every check, and return the shares that would change. Nothing is written."""
    move = await _checked(context.session, context.organization_id, asset_id, body.shares)
    await _check_chains(context, move)
    names = await records.chain_names(context.session)
    steps = [f"Set the limits on {names[row.chain_eid]}" for row in move.rows] if move.change.effects else []
    return CapSharesPlan(
        steps=[*steps, "Read them back"] if steps else ["No transaction is needed"],
        impact=CapSharesImpact(caps=move.change.effects),
    )


async def create(context: Context, asset_id: UUID, body: CapSharesUpdate) -> AssetAccepted:
    """Accept the shares, and create the request that sets them on every chain."""
    version = context.call.version if context.call else None
    if version is None:
        await service.check_may_omit_version(context, asset_id)
    move = await _checked(context.session, context.organization_id, asset_id, body.shares)
    await _check_chains(context, move)
    names = await records.chain_names(context.session)
    asset = move.asset
    request = await accept(
        context,
        "asset.share_caps",
        f"Share the limits of {asset.symbol} among {len(move.rows)} chains",
        subject=("asset", asset.id),
        scope=Scope.ASSETS_WRITE,
        steps=[
            *(
                Step(f"rules_{row.chain_eid}", f"Set the limits on {names[row.chain_eid]}", row.chain_eid)
                for row in move.rows
            ),
            Step("asset_active", "Record the limits"),
        ],
        order=asset.id,
        arguments={
            "shares": [share.model_dump() for share in body.shares],
            "reason": body.reason,
            "version": asdict(version) if version else None,
        },
    )
    if request.status is not RequestStatus.AWAITING_APPROVAL:
        await queue(context.session, request)
    message = acceptance_message(request, f"{len(move.rows)} chains get new limits.")
    status = accepted_status(request, asset.status)
    return AssetAccepted(assetId=asset.id, status=status, request_id=str(request.id), message=message)


async def _check_chains(context: Context, move: Move) -> None:
    eids = [row.chain_eid for row in move.rows]
    await chains.check_network(context, *eids)
    await new_activity.check(context, *eids)


async def queue(session: Write, request: RequestRow) -> None:
    """Show that the shares wait to be set, once they are approved."""
    move = await _checked(session, request.organization_id, request.subject_id, _shares(request.arguments))
    try:
        await versions.compare_again(session, Version.restored(request.arguments.get("version")))
    except versions.VersionMismatch:
        raise Conflict("The asset has changed since this was requested. Deny it, then set the shares again.") from None
    status = AssetStatus.UPDATING if move.asset.status is AssetStatus.ACTIVE else move.asset.status
    await states.change(session, move.asset, request_id=request.id, status=status)


async def apply(session: Write, request_id: UUID) -> Terms:
    """Write the shares of a request that starts to the asset, once, and return its terms with them."""
    request = await session.get_one(RequestRow, request_id, with_for_update=True)
    if request.arguments.get("is_applied"):
        return terms_of(await records.asset(session, request.organization_id, request.subject_id, lock=True))
    move = await _checked(session, request.organization_id, request.subject_id, _shares(request.arguments))
    request.arguments = {**request.arguments, "is_applied": True}
    before = shown(Asset, move.asset)
    write(move.asset, move.terms)
    subject, after = ("asset", move.asset.id), shown(Asset, move.asset)
    await publish_change(session, move.asset.organization_id, "asset.updated", subject, before, after)
    return move.terms


def _shares(arguments: dict[str, Any]) -> list[CapShare]:
    return [CapShare(**share) for share in arguments["shares"]]
