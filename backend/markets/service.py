"""Markets: checked and asked for. What is done on the chains is the workflow's."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from backend import db
from backend.assets import gas, records
from backend.assets.models import AssetRow, DeploymentRow
from backend.assets.rules import check_lockup
from backend.assets.schemas import AssetStatus
from backend.assets.service import usable_chain
from backend.assets.terms import terms_of
from backend.auth import operator_paid
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.bridges import service as bridges
from backend.bridges.models import BridgeRow
from backend.chain import clock, factory
from backend.chain.deployment import contracts_of
from backend.chain.factory import FactoryInfo
from backend.chains import quotes
from backend.chains.quotes import QuoteTerms
from backend.changes import shown, tell
from backend.db import violated
from backend.errors import BadRequest, Conflict, NotFound
from backend.issuers import lineage
from backend.markets import rules, terms
from backend.markets.models import MarketRow
from backend.markets.schemas import Market, MarketAccepted, MarketCreate, MarketStatus
from backend.requests.accept import accept, told
from backend.requests.service import Step


@dataclass(frozen=True)
class Checked:
    """A deploy request that passed every check. `source`: where it is bridged from, None where the token is there;
    `fee`: what the packet takes along for its delivery, wei."""

    asset: AssetRow
    chain: Any
    factory: FactoryInfo
    quote: QuoteTerms
    token: DeploymentRow | None
    source: DeploymentRow | None
    fee: int
    missing: dict[int, int]
    """How many transactions the operator pays for the place of the organization, by endpoint id."""


async def check(context: Context, asset_id: UUID, body: MarketCreate) -> Checked:
    """Every check of a deploy request, in this order: asset (404), chain, fees, lockup, factory, token (400), the
    asset's state, no other market there, funds (409)."""
    asset = await records.asset(context.session, context.organization_id, asset_id)
    chain = await usable_chain(context, body.chain_eid)
    rules.check_fees(body.taker_fee_bps, body.maker_fee_bps)
    if body.lockup_end_time is not None:
        check_lockup(body.lockup_end_time, clock.moment(), "/lockup_end_time")
    async with db.paused(context.session):
        await check_factory(body)
        info = await factory.check(body.chain_eid, body.market_factory_address)
        currency = await quotes.terms(body.chain_eid, info.default_quote)
    if currency is None:
        raise BadRequest("The factory has no quote currency.", pointer="/market_factory_address")
    rows = await records.deployments(context.session, asset_id)
    _, source = await _way(context, asset, rows, body, chain.display_name)
    wallet = await records.treasury(context.session, context.organization_id)
    deploying, fee = gas.MARKET + gas.VENUE, 0
    missing = await bridges.missing_on(context, body.chain_eid, is_there=source is None)
    if source is None:
        await records.check_funded(context.session, wallet, body.chain_eid, deploying)
    else:
        fee = await bridges.check_ready(context, asset, rows, source, body.chain_eid, deploying)
    # Once more, and locked: the chains were asked without a transaction.
    asset = await records.asset(context.session, context.organization_id, asset_id, lock=True)
    rows = await records.deployments(context.session, asset_id)
    there, source = await _way(context, asset, rows, body, chain.display_name)
    return Checked(asset, chain, info, currency, there, source, fee, missing)


async def check_factory(body: MarketCreate) -> None:
    """400 where a factory is not the one of this installation: a foreign one makes markets that do what they like with
    the tokens and the money of those who trade there."""
    ours = (await contracts_of(body.chain_eid)).market_factory
    if body.market_factory_address != ours:
        raise BadRequest(
            f"{body.market_factory_address} is not this installation's market factory on this chain, which is {ours}.",
            pointer="/market_factory_address",
        )


async def _way(
    context: Context, asset: AssetRow, rows: list[DeploymentRow], body: MarketCreate, name: str
) -> tuple[DeploymentRow | None, DeploymentRow | None]:
    """The token on the chain, or where it is bridged from; 400 or 409 where there can be no market."""
    there = _token(rows, body)
    if asset.status not in (AssetStatus.ACTIVE, AssetStatus.UPDATING):
        raise Conflict(f"The asset is {asset.status}; a market can be deployed when it is active.")
    await _check_no_market(context, asset, body.chain_eid, name)
    return there, None if there else bridges.source_of(rows, None, body.chain_eid)


def _token(rows: list[DeploymentRow], body: MarketCreate) -> DeploymentRow | None:
    """The asset's token on the chain, None where it has to be bridged; 400 where another one is named."""
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
        raise Conflict(f"{asset.symbol} has a market on {name} already; it is {status}.")


async def create(context: Context, asset_id: UUID, body: MarketCreate) -> MarketAccepted:
    """A market, the bridge before it where the asset is not on its chain yet, and the request."""
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
        steps=_steps(checked, body.chain_eid),
        order=asset_id,
        arguments=lineage.noted(checked.missing),
        includes=["bridge.send"] if checked.source else [],
    )
    market.request_id = request.id
    if market.bridge_id is not None:
        bridge = await context.session.get_one(BridgeRow, market.bridge_id)
        await bridges.begun(context.session, bridge, request.id)
    subject, made = ("market", market.id), shown(Market, market)
    await tell(context.session, market.organization_id, f"market.{market.status}", subject, None, made)
    message = f"{checked.asset.symbol} is bridged to {name} first." if checked.source else f"Deploying on {name}."
    return MarketAccepted(
        marketId=market.id,
        assetId=asset_id,
        chainEid=body.chain_eid,
        status=market.status,
        request_id=str(request.id),
        message=told(request, message),
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
            context.session, checked.asset, checked.source.chain_eid, body.chain_eid, amount=0, to_address=None
        )
        market.bridge_id = bridge.id
    context.session.add(market)
    try:
        await context.session.flush()
    except IntegrityError as error:
        if violated(error) != "uq_markets_live":
            raise
        raise Conflict(f"{checked.asset.symbol} has a market on {checked.chain.display_name} already.") from None
    return market


def _steps(checked: Checked, eid: int) -> list[Step]:
    before = bridges.steps(checked.source.chain_eid, eid) if checked.source else []
    return [
        *before,
        *([Step("token_created", "Token created", eid)] if checked.source else []),
        Step("market_created", "Market created", eid),
        Step("market_active", "Market active", eid),
    ]


async def market(context: Context, asset_id: UUID, market_id: UUID) -> MarketRow:
    """A market of an asset of the organization; 404 where it is not."""
    row: MarketRow | None = await context.session.scalar(
        sa.select(MarketRow).where(
            col(MarketRow.id) == market_id,
            col(MarketRow.asset_id) == asset_id,
            col(MarketRow.organization_id) == context.organization_id,
        )
    )
    if row is None:
        raise NotFound("This asset has no such market.")
    return row
