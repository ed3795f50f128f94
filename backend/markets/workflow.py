"""Workflow of an accepted market: the bridge if needed, the market, and its rules read back."""

from uuid import UUID

from sqlalchemy.exc import IntegrityError

from backend.assets import records
from backend.assets.transaction_step import write
from backend.bridges import delivery
from backend.chain.bindings import factory, token
from backend.chain.bindings import market as contract
from backend.chain.deployment.contracts import contracts_of
from backend.chain.errors import Undone
from backend.chain.indexer import indexer
from backend.chain.rpc.json_rpc import connect
from backend.core.changes import set_status
from backend.core.db import Write, violated
from backend.core.errors import Conflict, SignumError
from backend.markets import orders_workflow
from backend.markets.models import MarketRow
from backend.markets.rules import LIVE
from backend.markets.schemas import Market, MarketStatus
from backend.markets.terms import market_rules
from backend.requests.runs import Run, StepNotes
from backend.requests.workflows import workflow

__all__ = ["deploy", "orders_workflow"]


async def deploy_failed(run: Run, error: SignumError) -> None:
    """Mark the market as failed, and its bridge too unless it was confirmed; a retry continues where it stopped."""
    market = await _market(run)
    if market.status in LIVE and not isinstance(error, Undone):
        return  # it was read back as live; only the request did not finish
    if market.bridge_id is not None:
        await delivery.failed(run, market.bridge_id, error)
    await _note(run, status=MarketStatus.FAILED, failure=error.detail)


@workflow("market.deploy", on_failure=deploy_failed)
async def deploy(run: Run) -> None:
    """Bridge first if the asset is not on the chain; then deploy the market. It is active once the chain confirms
    it."""
    market = await _begin(run)
    if market.bridge_id is not None:
        market = await _bring_token(run, market, market.bridge_id)
    async with run.step("market_created") as step:
        market = await _create(run, step, market)
    async with run.step("market_active") as step:
        await _open(run, step, market)


async def _begin(run: Run) -> MarketRow:
    try:
        return await _reopened(run)
    except IntegrityError as error:
        if violated(error) != "uq_markets_live":
            raise
        raise Conflict("Another market of the asset was deployed on this chain in the meantime.") from None


async def _reopened(run: Run) -> MarketRow:
    async with run.transaction() as session:
        market = await session.get_one(MarketRow, run.subject_id, with_for_update=True)
        if market.status is MarketStatus.FAILED:
            waits = market.bridge_id is not None and market.rwa_token_address is None
            status = MarketStatus.PENDING_BRIDGE if waits else MarketStatus.DEPLOYING
            await _set(session, market, status=status, failure=None)
        return market


async def _bring_token(run: Run, market: MarketRow, bridge_id: UUID) -> MarketRow:
    if market.rwa_token_address is None:
        await delivery.carry(run, bridge_id)
    async with run.step("token_created") as step:
        async with run.transaction() as session:
            rows = await records.deployments(session, market.asset_id)
            asset = await records.asset(session, run.organization_id, market.asset_id)
        row = next(r for r in records.active(rows) if r.chain_eid == market.chain_eid)
        words = f"Token {asset.symbol} at {row.token_address}, {_count(row.applied_rules)} rules in force."
        step.tx_hash, step.detail = row.tx_hash, words
        return await _note(run, rwa_token_address=row.token_address, status=MarketStatus.DEPLOYING)


def _count(rules: dict[str, object]) -> int:
    return sum(1 for value in rules.values() if value not in (0, "0", False, [], "none"))


async def _create(run: Run, step: StepNotes, market: MarketRow) -> MarketRow:
    """Create the market's contract from the token's owner, who receives the fees."""
    assert market.rwa_token_address is not None
    eid, made_by = market.chain_eid, market.market_factory_address
    if made_by != (await contracts_of(eid)).market_factory:
        raise Conflict(f"{made_by} is not the market factory of this installation on this chain.")
    owner = await token.owner(eid, market.rwa_token_address)
    call = factory.create_market(
        made_by,
        token=market.rwa_token_address,
        quote=market.quote_token_address,
        fee_collector=owner,
        taker_bps=market.taker_fee_bps,
        maker_bps=market.maker_fee_bps,
        rules=market_rules(market),
    )
    outcome = await write(run, step, call, "market", eid=eid, signer=owner, label="create market")
    address = factory.created(outcome, made_by)
    step.detail = f"Market {await _pair(run, market)} at {address}"
    return await _note(run, market_address=address, block_number=outcome.block_number)


async def _pair(run: Run, market: MarketRow) -> str:
    async with run.transaction() as session:
        asset = await records.asset(session, run.organization_id, market.asset_id)
    return f"{asset.symbol}/{market.quote_symbol}"


async def _open(run: Run, step: StepNotes, market: MarketRow) -> None:
    """Allow the market to settle on the token, and read the result back from the chain."""
    assert market.rwa_token_address is not None
    assert market.market_address is not None
    eid, at = market.chain_eid, market.market_address
    if not await factory.is_market(eid, market.market_factory_address, at):
        raise Conflict("The factory does not know the market.")
    owner = await token.owner(eid, market.rwa_token_address)
    call = token.set_venue(market.rwa_token_address, at)
    await write(run, step, call, "venue", eid=eid, signer=owner, label="allow market")
    info = await contract.info(eid, at)
    same = (info.token, info.taker_fee_bps, info.maker_fee_bps, info.rules, info.owner) == (
        market.rwa_token_address,
        market.taker_fee_bps,
        market.maker_fee_bps,
        market_rules(market),
        owner,
    )
    if not same or not await token.is_venue(eid, market.rwa_token_address, at):
        raise Conflict("The market on the chain differs from the one that was requested.")
    await indexer.catch_up(eid, await (await connect(eid)).height())
    status = MarketStatus.HALTED if info.halted else MarketStatus.ACTIVE
    await _note(run, status=status, quote_token_address=info.quote, failure=None)
    await indexer.catch_up(eid, 0)  # anything else that may halt it is in the tables now
    step.detail = "Fees and rules were read back; orders are accepted."


async def _market(run: Run) -> MarketRow:
    async with run.transaction() as session:
        return await session.get_one(MarketRow, run.subject_id)


async def _note(run: Run, **values: object) -> MarketRow:
    async with run.transaction() as session:
        market = await session.get_one(MarketRow, run.subject_id, with_for_update=True)
        await _set(session, market, **values)
        return market


async def _set(session: Write, market: MarketRow, **values: object) -> None:
    await set_status(session, "market", Market, market, **values)
