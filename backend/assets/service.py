"""Assets: created, changed, archived. What concerns a chain is done by the workflow of the request."""

from typing import Any
from uuid import UUID

from sqlalchemy.exc import IntegrityError

from backend.assets import gas, records, rules, states
from backend.assets.models import AssetRow, DeploymentRow
from backend.assets.rules import Terms
from backend.assets.schemas import Asset, AssetAccepted, AssetCreate, AssetStatus, AssetUpdate
from backend.assets.terms import terms_of, token_rules, write
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.chain import clock
from backend.chain.deployment import contracts_of
from backend.chains import service as chains
from backend.changes import shown, tell, tell_change
from backend.db import violated
from backend.errors import BadRequest, Conflict, Invalid
from backend.requests.accept import accept
from backend.requests.service import Step


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


async def create(context: Context, body: AssetCreate) -> AssetAccepted:
    """A new asset and the request that deploys it."""
    chain = await usable_chain(context, body.chain_eid)
    rules.check_lockup(body.compliance_rules.lockup_end_time, clock.moment(), "/compliance_rules/lockup_end_time")
    rules.check_supply(int(body.initial_supply), body.decimals)
    wallet = await records.treasury(context.session, context.organization_id)
    await records.check_funded(context.session, wallet, body.chain_eid, gas.TOKEN + gas.RULES + gas.MINT)
    asset = await _insert(context, body)
    steps = [
        Step("token_created", f"Token created on {chain.display_name}", body.chain_eid),
        Step("rules_set", "Rules set", body.chain_eid),
        *([Step("supply_minted", "Initial supply minted", body.chain_eid)] if asset.initial_supply else []),
        Step("asset_active", "Asset active", body.chain_eid),
    ]
    request = await accept(
        context,
        "asset.deploy",
        f"Deploy {asset.symbol} on {chain.display_name}",
        subject=("asset", asset.id),
        scope=Scope.ASSETS_WRITE,
        steps=steps,
        order=asset.id,
        arguments={"chain_eid": body.chain_eid},
    )
    asset.request_id = request.id
    made = shown(Asset, asset) | {"initial_supply": body.initial_supply, "chain_eid": body.chain_eid}
    await tell(context.session, asset.organization_id, "asset.created", ("asset", asset.id), None, made)
    message = f"{asset.symbol} is being deployed on {chain.display_name}."
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
        raise Conflict(f"The organization has an asset with the symbol {body.symbol} already.") from None
    context.session.add(
        DeploymentRow(organization_id=context.organization_id, asset_id=asset.id, chain_eid=body.chain_eid)
    )
    await context.session.flush()
    return asset


async def planned(context: Context, asset_id: UUID, patch: AssetUpdate) -> tuple[AssetRow, Terms]:
    """The asset, locked, and the terms it would have: every check of an update, and nothing written."""
    if patch.name is None and "name" in patch.model_fields_set:
        raise Invalid([{"pointer": "/name", "detail": "cannot be taken away"}])
    asset = await records.asset(context.session, context.organization_id, asset_id, lock=True)
    rules.check_updatable(asset.status)
    terms = rules.merged(terms_of(asset), patch, clock.moment())
    eids = records.sharing(await records.deployments(context.session, asset_id))
    for eid in eids:
        token_rules(terms, eids, eid)  # 409 where the caps cannot be shared
    return asset, terms


async def update(context: Context, asset_id: UUID, patch: AssetUpdate) -> AssetAccepted:
    """Change an asset, and the request that brings the change to its chains."""
    asset, terms = await planned(context, asset_id, patch)
    before = shown(Asset, asset)
    rows = records.active(await records.deployments(context.session, asset_id))
    on_chain = bool(rows) and (terms != terms_of(asset) or asset.failure is not None)
    write(asset, terms)
    for field in patch.model_fields_set & {"name", "description"}:
        setattr(asset, field, getattr(patch, field))
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
        arguments={"terms": terms.model_dump(mode="json"), "on_chain": on_chain},
    )
    asset.request_id = request.id
    if asset.status is AssetStatus.ACTIVE:
        asset.status = AssetStatus.UPDATING
    subject = ("asset", asset.id)
    await tell_change(context.session, asset.organization_id, "asset.updated", subject, before, shown(Asset, asset))
    message = f"{len(steps)} chain(s) get the new rules." if steps else "Nothing changes on any chain."
    return AssetAccepted(assetId=asset.id, status=asset.status, request_id=str(request.id), message=message)


async def archive(context: Context, asset_id: UUID) -> None:
    """Put away an asset that never came to a chain."""
    asset = await records.asset(context.session, context.organization_id, asset_id, lock=True)
    rules.check_archivable(asset.status)
    await states.change(context.session, asset, "asset.archived", status=AssetStatus.ARCHIVED)
