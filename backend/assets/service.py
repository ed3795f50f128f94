"""Create, update and archive assets. The request's workflow does the work on chain."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from backend.assets import gas, holders, order_cancellations, records, rules, states
from backend.assets.models import AssetRow, DeploymentRow
from backend.assets.records import SymbolTaken
from backend.assets.rules import Terms
from backend.assets.schemas import (
    Asset,
    AssetAccepted,
    AssetArchiveImpact,
    AssetArchivePlan,
    AssetCreate,
    AssetCreateImpact,
    AssetCreatePlan,
    AssetStatus,
    AssetUpdate,
    OpenOrders,
)
from backend.assets.terms import terms_of, token_rules, write
from backend.auth import operator_paid, versions
from backend.auth.calls import Version
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.chain.deployment.contracts import contracts_of
from backend.chain.devnet import clock
from backend.chains import new_activity
from backend.chains import service as chains
from backend.core.changes import publish, publish_change, shown
from backend.core.db import Write, violated
from backend.core.errors import BadRequest, Conflict, Invalid
from backend.issuers import lineage
from backend.requests.accept import accept, acceptance_message
from backend.requests.models import RequestRow
from backend.requests.schemas import RequestStatus
from backend.requests.service import Step
from backend.requests.waiting import accepted_status
from backend.wallets import signing_wallets
from backend.wallets.models import WalletRow
from backend.wallets.rules import server_wallet_entry

TEXTS = {"name", "description", "nominal_value"}
"""Fields of an update that are not compliance rules."""


async def usable_chain(
    context: Context, eid: int, pointer: str = "/chain_eid", also: Sequence[dict[str, Any]] = ()
) -> Any:
    """Return the row of a chain that the organization can use now; otherwise raise 400 with the reason, or 409 if it is
    not enabled, with the operation's other prerequisites."""
    try:
        chain = await chains.usable(context, eid)
        await contracts_of(eid)
    except BadRequest as error:
        raise BadRequest(error.detail, pointer=pointer) from None
    await new_activity.check(context, eid, also=also)
    return chain


async def _creatable(context: Context, body: AssetCreate) -> tuple[Any, WalletRow]:
    """Return the chain and the treasury of a new asset after every check: chain (400), prerequisites (409), lock-up,
    supply (400), the treasury's funds, the symbol (409)."""
    owner = await signing_wallets.find_treasury(context.session, context.organization_id)
    needed = server_wallet_entry(context.organization_id, has_wallet=owner is not None)
    chain = await usable_chain(context, body.chain_eid, also=[needed])
    rules.check_lockup(body.compliance_rules.lockup_end_time, clock.moment(), "/compliance_rules/lockup_end_time")
    rules.check_supply(int(body.initial_supply), body.decimals)
    wallet = await signing_wallets.treasury(context.session, context.organization_id)
    cost = gas.TOKEN + gas.RULES + gas.MINT
    await records.check_funded(context.session, wallet, body.chain_eid, cost, size=gas.TOKEN_SIZE)
    await records.check_symbol(context.session, context.organization_id, body.symbol)
    return chain, wallet


def _creation(body: AssetCreate, chain: Any) -> list[Step]:
    return [
        Step("token_created", f"Create the token on {chain.display_name}", body.chain_eid),
        Step("rules_set", "Set the rules", body.chain_eid),
        *([Step("supply_minted", "Mint the initial supply", body.chain_eid)] if int(body.initial_supply) else []),
        Step("asset_active", "Activate the asset", body.chain_eid),
    ]


async def creation_plan(context: Context, body: AssetCreate) -> AssetCreatePlan:
    """Run every check of a creation, and return what it would create."""
    chain, wallet = await _creatable(context, body)
    given = Terms.model_validate(body.model_dump(include=set(Terms.model_fields)))
    impact = AssetCreateImpact(
        symbol=body.symbol,
        chain_eid=body.chain_eid,
        owner=wallet.address,
        initial_supply=body.initial_supply,
        rules=given.flat(),
    )
    return AssetCreatePlan(steps=[s.title for s in _creation(body, chain)], impact=impact)


async def create(context: Context, body: AssetCreate) -> AssetAccepted:
    """Create an asset and the request that deploys it."""
    chain, _ = await _creatable(context, body)
    path = await lineage.path_of(context.session, context.organization_id)
    missing = await lineage.unwritten(context.session, path, [body.chain_eid])
    await operator_paid.count(context.session, context.organization_id, sum(missing.values()))
    asset = await _insert(context, body)
    request = await accept(
        context,
        "asset.deploy",
        f"Deploy {asset.symbol} on {chain.display_name}",
        subject=("asset", asset.id),
        scope=Scope.ASSETS_WRITE,
        steps=_creation(body, chain),
        order=asset.id,
        arguments={"chain_eid": body.chain_eid, **lineage.noted(missing)},
    )
    asset.request_id = request.id
    made = shown(Asset, asset) | {"initial_supply": body.initial_supply, "chain_eid": body.chain_eid}
    await publish(context.session, asset.organization_id, "asset.created", ("asset", asset.id), None, made)
    message = acceptance_message(request, f"{asset.symbol} is being deployed on {chain.display_name}.")
    status = accepted_status(request, asset.status)
    return AssetAccepted(assetId=asset.id, status=status, request_id=str(request.id), message=message)


async def _insert(context: Context, body: AssetCreate) -> AssetRow:
    fields = body.model_dump(exclude={"chain_eid", "initial_supply", "compliance_rules"})
    asset = AssetRow(
        organization_id=context.organization_id,
        status=AssetStatus.DEPLOYING,
        initial_supply=int(body.initial_supply),
        compliance_rules=body.compliance_rules.model_dump(),
        **fields,
    )
    context.session.add(asset)
    try:
        await context.session.flush()
    except IntegrityError as error:
        if violated(error) != "uq_assets_symbol":
            raise
        raise SymbolTaken(body.symbol) from None
    context.session.add(
        DeploymentRow(organization_id=context.organization_id, asset_id=asset.id, chain_eid=body.chain_eid)
    )
    await context.session.flush()
    return asset


async def planned(session: Write, organization_id: UUID, asset_id: UUID, patch: AssetUpdate) -> tuple[AssetRow, Terms]:
    """Return the asset, locked, and its new terms: every check of an update, without writing."""
    if patch.name is None and "name" in patch.model_fields_set:
        raise Invalid([{"pointer": "/name", "detail": "cannot be null"}])
    asset = await records.asset(session, organization_id, asset_id, lock=True)
    rules.check_updatable(asset.status)
    terms = rules.merged(terms_of(asset), patch, clock.moment())
    eids = records.sharing(await records.deployments(session, asset_id))
    held = await holders.by_chain(session, organization_id, asset_id)
    for eid in eids:
        token_rules(terms, eids, eid, held)  # 409 if the caps cannot be shared
    return asset, terms


async def update(context: Context, asset_id: UUID, patch: AssetUpdate) -> AssetAccepted:
    """Change an asset, and create the request that writes the change to its chains."""
    version = context.call.version if context.call else None
    if version is None and patch.model_fields_set - TEXTS - {"reason"}:
        await check_may_omit_version(context, asset_id)
    asset, terms = await planned(context.session, context.organization_id, asset_id, patch)
    rows = records.active(await records.deployments(context.session, asset_id))
    # Behind another change, which may write what this one finds now.
    on_chain = bool(rows) and (_differs(asset, terms) or asset.status is AssetStatus.UPDATING)
    if on_chain:
        await chains.check_network(context, *(r.chain_eid for r in rows))
        await new_activity.check(context, *(r.chain_eid for r in rows))
    names = await records.chain_names(context.session)
    steps = [
        Step(f"rules_{r.chain_eid}", f"Set the rules on {names[r.chain_eid]}", r.chain_eid) for r in rows if on_chain
    ]
    traded = await order_cancellations.chains(context.session, asset_id) if patch.orders is OpenOrders.CANCEL else set()
    cancelling = [r.chain_eid for r in rows if r.chain_eid in traded]
    if cancelling:
        await chains.check_network(context, *cancelling)
    steps += [
        Step(order_cancellations.step_name(eid), f"Cancel orders of ineligible holders on {names[eid]}", eid)
        for eid in cancelling
    ]
    request = await accept(
        context,
        "asset.update",
        f"Change the rules of {asset.symbol}" if on_chain else f"Update {asset.symbol}",
        subject=("asset", asset.id),
        scope=Scope.ASSETS_WRITE,
        steps=[*steps, Step("asset_active", "Read the rules back" if on_chain else "Update the asset")],
        order=asset.id,
        arguments={
            "patch": patch.model_dump(mode="json", exclude_unset=True),
            "version": asdict(version) if version else None,
            "on_chain": on_chain,
            "cancelling": cancelling,
            "reason": patch.reason,
        },
    )
    if request.status is not RequestStatus.AWAITING_APPROVAL:
        await queue(context.session, request)
    message = (
        f"{len(rows)} {'chain gets' if len(rows) == 1 else 'chains get'} the new rules."
        if on_chain
        else "No chain needs a change."
    )
    return AssetAccepted(
        assetId=asset.id,
        status=accepted_status(request, asset.status),
        request_id=str(request.id),
        message=acceptance_message(request, message),
    )


async def check_may_omit_version(context: Context, asset_id: UUID) -> None:
    """Raise 428 for a change of rules without the version it was made for, where the organization requires one."""
    text = sa.text("select require_if_match from organizations where id = :id")
    if await context.session.scalar(text, {"id": context.organization_id}):
        raise versions.VersionRequired(f"/orgs/{context.organization_id}/assets/{asset_id}")


def _differs(asset: AssetRow, terms: Terms) -> bool:
    """Return whether a change of terms must be written to chains; this includes a change that failed to get there
    before."""
    return terms != terms_of(asset) or asset.failure is not None


async def queue(session: Write, request: RequestRow) -> None:
    """Show that an update waits, once it is approved. The asset keeps its fields until the update starts: one that is
    denied before must not reach a chain by another way, such as a later update or a bridge."""
    patch = AssetUpdate.model_validate(request.arguments["patch"])
    asset, _ = await planned(session, request.organization_id, request.subject_id, patch)
    await _check_version(session, request, patch)
    status = AssetStatus.UPDATING if asset.status is AssetStatus.ACTIVE else asset.status
    await states.change(session, asset, request_id=request.id, status=status)


async def apply(session: Write, request_id: UUID) -> tuple[AssetRow, dict[str, Any]]:
    """Write the fields of an update that starts to the asset, once. Return the asset, locked, and what was written:
    `terms`, and whether they go `on_chain`."""
    request = await session.get_one(RequestRow, request_id, with_for_update=True)
    if "terms" in request.arguments:
        return await records.asset(session, request.organization_id, request.subject_id, lock=True), request.arguments
    patch = AssetUpdate.model_validate(request.arguments["patch"])
    asset, terms = await planned(session, request.organization_id, request.subject_id, patch)
    rows = records.active(await records.deployments(session, asset.id))
    on_chain = request.arguments.get("on_chain", False) or (bool(rows) and _differs(asset, terms))
    request.arguments = {**request.arguments, "terms": terms.model_dump(mode="json"), "on_chain": on_chain}
    before = shown(Asset, asset)
    write(asset, terms)
    for field in patch.model_fields_set & TEXTS:
        setattr(asset, field, getattr(patch, field))
    subject = ("asset", asset.id)
    after = shown(Asset, asset)
    if after != before and patch.reason:
        before, after = before | {"reason": None}, after | {"reason": patch.reason}
    await publish_change(session, asset.organization_id, "asset.updated", subject, before, after)
    return asset, request.arguments


async def _check_version(session: Write, request: RequestRow, patch: AssetUpdate) -> None:
    """Raise 409 if the asset, which is locked, has changed since the update was requested for a version of it, or if
    another accepted update will change the same fields first."""
    version = Version.restored(request.arguments.get("version"))
    try:
        await versions.compare_again(session, version)
    except versions.VersionMismatch:
        raise Conflict("The asset has changed since this update was requested. Deny it, then edit it again.") from None
    if version is None or versions.ANY in version.tags:
        return
    for earlier in await _waiting(session, request):
        if shared := sorted(patch.given() & AssetUpdate.model_validate(earlier.arguments["patch"]).given()):
            fields = ", ".join(shared)
            raise Conflict(f"An earlier update of {fields} has not started yet. Read the asset again when it has.")


async def _waiting(session: Write, request: RequestRow) -> Sequence[RequestRow]:
    """Return the accepted updates of the same asset that have not written their fields yet."""
    query = sa.select(RequestRow).where(
        col(RequestRow.subject_id) == request.subject_id,
        col(RequestRow.kind) == request.kind,
        col(RequestRow.status).in_([RequestStatus.ACCEPTED, RequestStatus.RUNNING]),
        col(RequestRow.id) != request.id,
    )
    return [row for row in (await session.scalars(query)).all() if "terms" not in row.arguments]


async def _archivable(context: Context, asset_id: UUID) -> AssetRow:
    asset = await records.asset(context.session, context.organization_id, asset_id, lock=True)
    rules.check_archivable(asset.status)
    return asset


async def archive(context: Context, asset_id: UUID) -> None:
    """Archive an asset that was never on a chain."""
    asset = await _archivable(context, asset_id)
    await states.change(context.session, asset, "asset.archived", status=AssetStatus.ARCHIVED)


async def archive_plan(context: Context, asset_id: UUID) -> AssetArchivePlan:
    """Run every check of an archiving."""
    asset = await _archivable(context, asset_id)
    impact = AssetArchiveImpact(symbol=asset.symbol, before=asset.status, after=AssetStatus.ARCHIVED)
    return AssetArchivePlan(steps=[f"Archive {asset.symbol}; its symbol becomes available again"], impact=impact)
