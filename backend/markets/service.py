"""Check and request markets. The workflow does the work on chain."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from backend.assets import gas, records
from backend.assets.models import AssetRow, DeploymentRow
from backend.assets.rules import check_lockup
from backend.assets.schemas import AssetStatus
from backend.assets.service import usable_chain
from backend.assets.terms import terms_of
from backend.auth import operator_paid
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.bridges import rules as bridge_rules
from backend.bridges import service as bridges
from backend.bridges.models import BridgeRow
from backend.caps.changes import Change
from backend.chain.bindings import factory
from backend.chain.bindings.factory import FactoryInfo
from backend.chain.deployment.contracts import contracts_of
from backend.chain.devnet import clock
from backend.chains import quote_currencies
from backend.chains.quote_currencies import QuoteTerms
from backend.core import db
from backend.core.changes import publish, shown
from backend.core.db import violated
from backend.core.errors import BadRequest, Conflict, NotFound
from backend.issuers import lineage
from backend.markets import rules, terms
from backend.markets.models import MarketRow
from backend.markets.schemas import Market, MarketAccepted, MarketCreate, MarketStatus
from backend.requests.accept import accept, acceptance_message
from backend.requests.service import Step
from backend.requests.waiting import accepted_status
from backend.wallets import signing_wallets


@dataclass(frozen=True)
class Checked:
    """A deploy request that passed every check. `source`: the chain it is bridged from, None if the token is already
    there; `fee`: the delivery fee sent with the packet, in wei."""

    asset: AssetRow
    chain: Any
    factory: FactoryInfo
    quote: QuoteTerms
    token: DeploymentRow | None
    source: DeploymentRow | None
    fee: int
    missing: dict[int, int]
    """Return how many transactions the operator pays to register the organization, by endpoint ID."""
    caps: Change
    """The shares of the asset's caps that the bridge before the market would set."""


async def check(context: Context, asset_id: UUID, body: MarketCreate) -> Checked:
    """Run every check of a deploy request, in this order: asset (404), chain, fees, lock-up, factory, token (400), the
    asset's state, no other market there, funds (409)."""
    asset = await records.asset(context.session, context.organization_id, asset_id)
    chain = await usable_chain(context, body.chain_eid)
    rules.check_fees(body.taker_fee_bps, body.maker_fee_bps)
    if body.lockup_end_time is not None:
        check_lockup(body.lockup_end_time, clock.moment(), "/lockup_end_time")
    async with db.paused(context.session):
        await check_factory(body)
        info = await factory.check(body.chain_eid, body.market_factory_address)
        currency = await quote_currencies.terms(body.chain_eid, info.default_quote)
    if currency is None:
        raise BadRequest(
            "This chain has no quote currency for markets. The operator sets one in SIGNUM_QUOTE_TOKENS.",
            pointer="/market_factory_address",
        )
    rows = await records.deployments(context.session, asset_id)
    _, source = await _way(context, asset, rows, body, chain.display_name)
    _check_amount(body, asset, source)
    wallet = await signing_wallets.treasury(context.session, context.organization_id)
    deploying, fee = gas.MARKET + gas.VENUE, 0
    missing = await bridges.missing_on(context, body.chain_eid, is_there=source is None)
    if source is None:
        await records.check_funded(context.session, wallet, body.chain_eid, deploying)
    else:
        fee = await bridges.check_ready(context, asset, rows, source, body.chain_eid, deploying)
        await bridges.check_balance(context, asset, source, int(body.bridge_amount))
    # Again and locked, because the chains were queried without a transaction.
    asset = await records.asset(context.session, context.organization_id, asset_id, lock=True)
    rows = await records.deployments(context.session, asset_id)
    there, source = await _way(context, asset, rows, body, chain.display_name)
    change = await bridges.cap_change(context, asset, body.chain_eid, is_there=source is None)
    change.check_expected(body.expected_caps)
    return Checked(asset, chain, info, currency, there, source, fee, missing, change)


def _check_amount(body: MarketCreate, asset: AssetRow, source: DeploymentRow | None) -> None:
    """Raise 400 for an amount that cannot cross, and for one without a bridge."""
    if source is None and int(body.bridge_amount):
        raise BadRequest(
            "The asset's token is already on this chain, so nothing is bridged. Omit the amount, and bridge it "
            "separately.",
            pointer="/bridge_amount",
        )
    bridge_rules.check_amount(int(body.bridge_amount), asset.decimals, "/bridge_amount")


async def check_factory(body: MarketCreate) -> None:
    """Raise 400 if a factory is not this installation's: markets of a foreign factory could take the tokens and the
    money of their traders."""
    ours = (await contracts_of(body.chain_eid)).market_factory
    if body.market_factory_address != ours:
        raise BadRequest(
            f"{body.market_factory_address} is not this installation's market factory on this chain. Use {ours}.",
            pointer="/market_factory_address",
        )


async def _way(
    context: Context, asset: AssetRow, rows: list[DeploymentRow], body: MarketCreate, name: str
) -> tuple[DeploymentRow | None, DeploymentRow | None]:
    """Return the token on the chain, or the deployment it is bridged from; 400 or 409 if no market is possible."""
    there = _token(rows, body)
    if asset.status not in (AssetStatus.ACTIVE, AssetStatus.UPDATING):
        raise Conflict(f"The asset is {asset.status}. A market requires an active asset.")
    await _check_no_market(context, asset, body.chain_eid, name)
    return there, None if there else await bridges.source_for(context, rows, None, body.chain_eid)


def _token(rows: list[DeploymentRow], body: MarketCreate) -> DeploymentRow | None:
    """Return the asset's token on the chain, None if it must be bridged; 400 if the request names another token."""
    there = next((r for r in records.active(rows) if r.chain_eid == body.chain_eid), None)
    if body.rwa_token_address is not None and (there is None or there.token_address != body.rwa_token_address):
        raise BadRequest("This is not the asset's token on that chain.", pointer="/rwa_token_address")
    return there


async def _check_no_market(context: Context, asset: AssetRow, eid: int, name: str) -> None:
    query = sa.select(col(MarketRow.status)).where(
        col(MarketRow.asset_id) == asset.id,
        col(MarketRow.chain_eid) == eid,
        col(MarketRow.status) != MarketStatus.FAILED,
    )
    status = await context.session.scalar(query)
    if status is not None:
        raise Conflict(f"{asset.symbol} already has a market on {name}; it is {status}.")


async def create(context: Context, asset_id: UUID, body: MarketCreate) -> MarketAccepted:
    """Create a market, the bridge before it if the asset has no token on its chain, and the request."""
    checked = await check(context, asset_id, body)
    await operator_paid.count(context.session, context.organization_id, sum(checked.missing.values()))
    market = await _insert(context, body, checked)
    name = checked.chain.display_name
    request = await accept(
        context,
        "market.deploy",
        f"Deploy a market for {checked.asset.symbol} on {name}",
        subject=("market", market.id),
        scope=Scope.ASSETS_WRITE,
        steps=_steps(checked, body.chain_eid, await records.chain_names(context.session)),
        order=asset_id,
        arguments=lineage.noted(checked.missing),
        includes=["bridge.send"] if checked.source else [],
    )
    market.request_id = request.id
    if market.bridge_id is not None:
        bridge = await context.session.get_one(BridgeRow, market.bridge_id)
        await bridges.begun(context.session, bridge, request.id)
    await bridges.confirmed(context, checked.asset, request.id, checked.caps, body.expected_caps)
    subject, made = ("market", market.id), shown(Market, market)
    await publish(context.session, market.organization_id, f"market.{market.status}", subject, None, made)
    message = f"{checked.asset.symbol} is bridged to {name} first." if checked.source else f"Deploying on {name}."
    return MarketAccepted(
        marketId=market.id,
        assetId=asset_id,
        chainEid=body.chain_eid,
        status=accepted_status(request, market.status),
        request_id=str(request.id),
        message=acceptance_message(request, message),
    )


async def _insert(context: Context, body: MarketCreate, checked: Checked) -> MarketRow:
    market = MarketRow(
        organization_id=context.organization_id,
        asset_id=checked.asset.id,
        chain_eid=body.chain_eid,
        status=MarketStatus.PENDING_BRIDGE if checked.source else MarketStatus.DEPLOYING,
        rwa_token_address=checked.token.token_address if checked.token else None,
        market_factory_address=body.market_factory_address,
        quote_token_address=checked.factory.default_quote,
        quote_symbol=checked.quote.symbol,
        quote_decimals=checked.quote.decimals,
        taker_fee_bps=body.taker_fee_bps,
        maker_fee_bps=body.maker_fee_bps,
        **terms.columns(body, terms_of(checked.asset)),
    )
    if checked.source is not None:
        bridge = await bridges.insert(
            context.session,
            checked.asset,
            checked.source.chain_eid,
            body.chain_eid,
            amount=int(body.bridge_amount),
            to_address=None,
        )
        market.bridge_id = bridge.id
    context.session.add(market)
    try:
        await context.session.flush()
    except IntegrityError as error:
        if violated(error) != "uq_markets_live":
            raise
        raise Conflict(f"{checked.asset.symbol} already has a market on {checked.chain.display_name}.") from None
    return market


def _steps(checked: Checked, eid: int, names: Mapping[int, str]) -> list[Step]:
    before = bridges.steps(checked.source.chain_eid, eid, names) if checked.source else []
    return [
        *before,
        *([Step("token_created", "Verify the token", eid)] if checked.source else []),
        Step("market_created", "Create the market", eid),
        Step("market_active", "Open for trading", eid),
    ]


async def market(context: Context, asset_id: UUID, market_id: UUID) -> MarketRow:
    """Return a market of an asset of the organization; 404 if it does not exist."""
    row: MarketRow | None = await context.session.scalar(
        sa.select(MarketRow).where(
            col(MarketRow.id) == market_id,
            col(MarketRow.asset_id) == asset_id,
            col(MarketRow.organization_id) == context.organization_id,
        )
    )
    if row is None:
        raise NotFound("This asset has no market with this ID.")
    return row
