"""Assets: created, changed, archived. What concerns a chain is done by the workflow of the request."""

from typing import Any
from uuid import UUID

from sqlalchemy.exc import IntegrityError

from backend.assets import gas, holders, records, rules, states
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
)
from backend.assets.terms import terms_of, token_rules, write
from backend.auth import operator_paid
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.chain import clock
from backend.chain.deployment import contracts_of
from backend.chains import service as chains
from backend.changes import shown, tell, tell_change
from backend.db import Write, violated
from backend.errors import BadRequest, Invalid
from backend.issuers import lineage
from backend.requests.accept import accept, told
from backend.requests.models import RequestRow
from backend.requests.schemas import RequestStatus
from backend.requests.service import Step
from backend.wallets.models import WalletRow


async def usable_chain(context: Context, eid: int, pointer: str = "/chain_eid") -> Any:
    """A chain that the organization can use now, as its registry's row; 400 that says why not."""
    try:
        chain = await chains.usable(context, eid)
        await contracts_of(eid)
    except BadRequest as error:
        raise BadRequest(error.detail, pointer=pointer) from None
    if not await chains.is_enabled(context.session, context.organization_id, eid):
        raise BadRequest(f"{chain.display_name} is not enabled for this organization.", pointer=pointer)
    return chain


async def _creatable(context: Context, body: AssetCreate) -> tuple[Any, WalletRow]:
    """The chain and the treasury of a new asset, once every check is passed: chain, lockup, supply (400), treasury, its
    funds, the symbol (409)."""
    chain = await usable_chain(context, body.chain_eid)
    rules.check_lockup(body.compliance_rules.lockup_end_time, clock.moment(), "/compliance_rules/lockup_end_time")
    rules.check_supply(int(body.initial_supply), body.decimals)
    wallet = await records.treasury(context.session, context.organization_id)
    needed = gas.TOKEN + gas.RULES + gas.MINT
    await records.check_funded(context.session, wallet, body.chain_eid, needed, size=gas.TOKEN_SIZE)
    await records.check_symbol(context.session, context.organization_id, body.symbol)
    return chain, wallet


def _creation(body: AssetCreate, chain: Any) -> list[Step]:
    return [
        Step("token_created", f"Token created on {chain.display_name}", body.chain_eid),
        Step("rules_set", "Rules set", body.chain_eid),
        *([Step("supply_minted", "Initial supply minted", body.chain_eid)] if int(body.initial_supply) else []),
        Step("asset_active", "Asset active", body.chain_eid),
    ]


async def creation_plan(context: Context, body: AssetCreate) -> AssetCreatePlan:
    """Every check of a creation, and what it would make."""
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
    """A new asset and the request that deploys it."""
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
    await tell(context.session, asset.organization_id, "asset.created", ("asset", asset.id), None, made)
    message = told(request, f"{asset.symbol} is being deployed on {chain.display_name}.")
    return AssetAccepted(assetId=asset.id, status=asset.status, request_id=str(request.id), message=message)


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
    """The asset, locked, and the terms it would have: every check of an update, and nothing written."""
    if patch.name is None and "name" in patch.model_fields_set:
        raise Invalid([{"pointer": "/name", "detail": "cannot be taken away"}])
    asset = await records.asset(session, organization_id, asset_id, lock=True)
    rules.check_updatable(asset.status)
    terms = rules.merged(terms_of(asset), patch, clock.moment())
    eids = records.sharing(await records.deployments(session, asset_id))
    held = await holders.by_chain(session, organization_id, asset_id)
    for eid in eids:
        token_rules(terms, eids, eid, held)  # 409 where the caps cannot be shared
    return asset, terms


async def update(context: Context, asset_id: UUID, patch: AssetUpdate) -> AssetAccepted:
    """Change an asset, and the request that brings the change to its chains."""
    asset, terms = await planned(context.session, context.organization_id, asset_id, patch)
    rows = records.active(await records.deployments(context.session, asset_id))
    on_chain = _is_on_chain(asset, terms, len(rows))
    if on_chain:
        await chains.check_network(context, *(r.chain_eid for r in rows))
    names = await records.chain_names(context.session)
    steps = [Step(f"rules_{r.chain_eid}", f"Rules on {names[r.chain_eid]}", r.chain_eid) for r in rows if on_chain]
    request = await accept(
        context,
        "asset.update",
        f"Update {asset.symbol}",
        subject=("asset", asset.id),
        scope=Scope.ASSETS_WRITE,
        steps=[*steps, Step("asset_active", "Asset updated")],
        order=asset.id,
        arguments={"patch": patch.model_dump(mode="json", exclude_unset=True)},
    )
    if request.status is not RequestStatus.AWAITING_APPROVAL:
        await apply(context.session, request)
    message = f"{len(steps)} chain(s) get the new rules." if steps else "Nothing changes on any chain."
    return AssetAccepted(
        assetId=asset.id, status=asset.status, request_id=str(request.id), message=told(request, message)
    )


def _is_on_chain(asset: AssetRow, terms: Terms, chains: int) -> bool:
    """Whether a change of terms has to be brought to chains; so has one that did not get there before."""
    return chains > 0 and (terms != terms_of(asset) or asset.failure is not None)


async def apply(session: Write, request: RequestRow) -> None:
    """Write what an update asks for, in the asset and as its request's order for the chains. Only once nobody has to
    agree any more: what is not approved must not reach a chain by another way, such as a bridge."""
    patch = AssetUpdate.model_validate(request.arguments["patch"])
    asset, terms = await planned(session, request.organization_id, request.subject_id, patch)
    rows = records.active(await records.deployments(session, asset.id))
    on_chain = _is_on_chain(asset, terms, len(rows))
    before = shown(Asset, asset)
    write(asset, terms)
    for field in patch.model_fields_set & {"name", "description"}:
        setattr(asset, field, getattr(patch, field))
    request.arguments = {**request.arguments, "terms": terms.model_dump(mode="json"), "on_chain": on_chain}
    asset.request_id = request.id
    if asset.status is AssetStatus.ACTIVE:
        asset.status = AssetStatus.UPDATING
    subject = ("asset", asset.id)
    await tell_change(session, asset.organization_id, "asset.updated", subject, before, shown(Asset, asset))


async def _archivable(context: Context, asset_id: UUID) -> AssetRow:
    asset = await records.asset(context.session, context.organization_id, asset_id, lock=True)
    rules.check_archivable(asset.status)
    return asset


async def archive(context: Context, asset_id: UUID) -> None:
    """Put away an asset that never came to a chain."""
    asset = await _archivable(context, asset_id)
    await states.change(context.session, asset, "asset.archived", status=AssetStatus.ARCHIVED)


async def archive_plan(context: Context, asset_id: UUID) -> AssetArchivePlan:
    """Every check of an archiving."""
    asset = await _archivable(context, asset_id)
    impact = AssetArchiveImpact(symbol=asset.symbol, before=asset.status, after=AssetStatus.ARCHIVED)
    return AssetArchivePlan(steps=[f"Archive {asset.symbol}; its symbol is free again"], impact=impact)
