"""Logs are written into tables immediately, once, and undone with their blocks."""

import asyncio
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
import sqlalchemy as sa
from eth_account import Account

from backend.chain.abi.outcome import Log
from backend.chain.abi.rule_sets import MarketRules, TokenRules
from backend.chain.bindings import factory, market, quote_token, token
from backend.chain.deployment.contracts import contracts_of, operator
from backend.chain.devnet import anvil
from backend.chain.indexer import indexer, log_reader, reorgs
from backend.chain.models import TokenTransferRow, TransactionStatus
from backend.chain.rpc import node_urls
from backend.chain.rpc.json_rpc import Rpc, connect
from backend.chain.rpc.receipts import log_of
from backend.chain.transactions import settlement
from backend.chain.transactions.execution import execute, find
from backend.core import db
from backend.core.fields import ChainStatus
from backend.models import ChainRow, DeploymentRow, MarketRow, OrderRow
from tests.chain.conftest import AWAY_EID, HOME_EID, Stage
from tests.chain.transactions.foreign_wallets import send_as


async def transfers(at: str) -> list[tuple[str, str, int]]:
    """Return the transfers of a token as the table has them."""
    asset = sa.select(DeploymentRow.asset_id).where(DeploymentRow.token_address == at).scalar_subquery()
    columns = (TokenTransferRow.from_address, TokenTransferRow.to_address, TokenTransferRow.amount)
    async with db.worker() as session:
        found = sa.select(*columns).where(TokenTransferRow.asset_id == asset)
        rows = await session.execute(found.order_by(TokenTransferRow.block_number, TokenTransferRow.log_index))
    return [(a, b, int(c)) for a, b, c in rows]


@pytest.mark.long
async def test_token_registered_late_is_read_from_its_first_block(stage: Stage, open_rules: TokenRules) -> None:
    at = await stage.token(HOME_EID, open_rules, supply=100)  # its rows come after its first transfer
    head = await (await connect(HOME_EID)).height()
    await indexer.catch_up(HOME_EID, head)
    zero = "0x" + "0" * 40
    assert await transfers(at) == [(zero, stage.treasury, 100)]

    holder = await stage.wallet()
    await stage.attest(HOME_EID, holder)
    outcome = await stage.do(HOME_EID, stage.treasury, token.transfer(at, holder, 40))
    await indexer.catch_up(HOME_EID, outcome.block_number)
    await indexer.catch_up(HOME_EID, outcome.block_number)
    assert await transfers(at) == [(zero, stage.treasury, 100), (stage.treasury, holder, 40)]


@pytest.mark.long
async def test_reorg_is_undone_in_the_tables(stage: Stage, open_rules: TokenRules) -> None:
    at, outsider = await stage.token(HOME_EID, open_rules, supply=100), await outside(stage)
    await stage.do(HOME_EID, stage.treasury, token.mint(at, outsider, 10))
    rpc = await connect(HOME_EID)
    await indexer.catch_up(HOME_EID, await rpc.height())
    before = await transfers(at)
    await send_as(HOME_EID, outsider, token.transfer(at, stage.treasury, 7))
    await indexer.catch_up(HOME_EID, await rpc.height())
    assert len(await transfers(at)) == len(before) + 1

    await rpc.request("anvil_reorg", 1, [])
    await indexer.catch_up(HOME_EID, await rpc.height())
    assert await transfers(at) == before


@pytest.mark.long
async def test_own_transaction_is_included_again_after_a_reorg(stage: Stage, open_rules: TokenRules) -> None:
    at = await stage.token(HOME_EID, open_rules, supply=100)
    burnt = await stage.do(HOME_EID, stage.treasury, token.burn(at, 7), key="burnt")
    await indexer.catch_up(HOME_EID, burnt.block_number)
    after = await transfers(at)

    rpc = await connect(HOME_EID)
    await rpc.request("anvil_reorg", 1, [])
    await indexer.catch_up(HOME_EID, await rpc.height())
    again = await execute(token.burn(at, 7).intent("burnt", eid=HOME_EID, signer=stage.treasury))
    await indexer.catch_up(HOME_EID, again.block_number)
    assert again.tx_hash == burnt.tx_hash
    assert again.block_hash != burnt.block_hash
    assert await transfers(at) == after
    assert await token.total_supply(HOME_EID, at) == 93


@pytest.mark.long
async def test_transaction_removed_by_a_reorg_on_a_public_chain_is_sent_again(
    stage: Stage, open_rules: TokenRules, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Public chains do not replay: the transaction is open again until it has its confirmations in another block."""
    at = await stage.token(HOME_EID, open_rules, supply=100)
    rpc = await connect(HOME_EID)
    burnt = await stage.do(HOME_EID, stage.treasury, token.burn(at, 7), key="burnt in public")
    await rpc.request("anvil_mine", "0x2")
    await indexer.catch_up(HOME_EID, await rpc.height())

    monkeypatch.setattr(node_urls, "is_embedded", lambda eid: False)
    monkeypatch.setattr(settlement, "LEFT_ALONE", timedelta(0))
    await rpc.request("anvil_reorg", 3, [])
    await indexer.catch_up(HOME_EID, await rpc.height() - 2)
    await rpc.request("anvil_mine", "0x2")
    await settlement.settle_open(rpc)
    row = await find("burnt in public")
    assert row is not None
    assert (row.status, row.tx_hash) == (TransactionStatus.CONFIRMED, burnt.tx_hash)
    assert row.block_hash != burnt.block_hash
    assert row.block_number is not None
    await indexer.catch_up(HOME_EID, row.block_number)
    assert [amount for *_, amount in await transfers(at)] == [100, 7]


async def test_indexer_waits_between_polls_of_a_public_node(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    me = asyncio.current_task()

    async def pass_over(rpc: Rpc) -> int:
        return 7 + (len(pauses) == 2)

    async def sleep(seconds: float) -> None:
        if asyncio.current_task() is not me:
            await asyncio.sleep(seconds)
        else:
            pauses.append(seconds)

    monkeypatch.setattr(indexer, "pass_over", pass_over)
    monkeypatch.setattr(indexer, "asyncio", SimpleNamespace(**vars(asyncio) | {"sleep": sleep}))
    monkeypatch.setattr(node_urls, "is_embedded", lambda eid: False)
    await indexer.catch_up(AWAY_EID, 8)
    assert pauses == [2.0, 2.0]


async def test_chain_list_has_the_block_height(stage: Stage) -> None:
    height = await (await connect(HOME_EID)).height()
    await indexer.catch_up(HOME_EID, height)
    async with db.worker() as session:
        row = (await session.execute(sa.select(ChainRow).where(ChainRow.xchain_eid == HOME_EID))).scalar_one()
    assert row.status is ChainStatus.ACTIVE
    assert row.height is not None
    assert row.height >= height


async def test_orders_follow_their_events_and_reorgs(stage: Stage, open_rules: TokenRules) -> None:
    contracts = await contracts_of(HOME_EID)
    assert contracts.quote_token is not None
    at, buyer = await stage.token(HOME_EID, open_rules, supply=10**20), await outside(stage)
    place = await opened(stage, at, contracts.market_factory)
    await stage.do(HOME_EID, await operator(), quote_token.mint(contracts.quote_token, buyer, 10**9))
    await send_as(HOME_EID, buyer, quote_token.approve(contracts.quote_token, place, 10**9))
    await stage.do(HOME_EID, stage.treasury, token.approve(at, place, 10**19))
    ask = await stage.do(HOME_EID, stage.treasury, market.place(place, side="sell", price=10**6, amount=10 * 10**18))
    await send_as(HOME_EID, buyer, market.place(place, side="buy", price=10**6, amount=4 * 10**18, hints=[1]))
    rpc = await connect(HOME_EID)
    await indexer.catch_up(HOME_EID, await rpc.height())
    assert await orders(place) == [(1, "sell", "partial", 4 * 10**18), (2, "buy", "filled", 4 * 10**18)]

    await rpc.request("anvil_reorg", 1, [])
    await indexer.catch_up(HOME_EID, await rpc.height())
    assert await orders(place) == [(1, "sell", "open", 0)]

    await stage.do(HOME_EID, stage.treasury, market.cancel(place, market.placed(ask).order_id))
    await indexer.catch_up(HOME_EID, await rpc.height())
    assert await orders(place) == [(1, "sell", "cancelled", 0)]


async def test_block_times_are_read_where_a_node_omits_them_from_logs(
    stage: Stage, open_rules: TokenRules, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = await stage.token(HOME_EID, open_rules, supply=10)
    rpc = await connect(HOME_EID)
    head = await rpc.height()

    def without_time(entry: dict[str, Any]) -> Log:
        return log_of({name: value for name, value in entry.items() if name != "blockTimestamp"})

    monkeypatch.setattr(log_reader, "log_of", without_time)
    piece = await log_reader.read_range(rpc, [at], head - 20, head, await reorgs.block_at(rpc, 0))
    assert piece.logs
    for log in piece.logs:
        block = await rpc.request("eth_getBlockByNumber", hex(log.block_number), False)
        assert log.timestamp == int(block["timestamp"], 16)


async def outside(stage: Stage) -> str:
    """An attested wallet with a foreign key."""
    address = Account.create().address
    await anvil.fund(HOME_EID, address)
    await stage.attest(HOME_EID, address)
    return address


async def opened(stage: Stage, at: str, market_factory: str) -> str:
    """A market of a token, with its row."""
    made = await stage.do(
        HOME_EID,
        stage.treasury,
        factory.create_market(
            market_factory,
            token=at,
            fee_collector=stage.treasury,
            taker_bps=0,
            maker_bps=0,
            rules=MarketRules(),
        ),
    )
    place = factory.created(made, market_factory)
    await stage.do(HOME_EID, stage.treasury, token.set_venue(at, place))
    async with db.worker() as session:
        deployment = sa.select(DeploymentRow).where(DeploymentRow.token_address == at)
        asset_id = (await session.execute(deployment)).scalar_one().asset_id
        session.add(
            MarketRow(
                organization_id=stage.organization_id,
                asset_id=asset_id,
                chain_eid=HOME_EID,
                market_address=place,
                market_factory_address=market_factory,
                block_number=made.block_number,
            )
        )
    return place


async def orders(place: str) -> list[tuple[int, str, str, int]]:
    """Return the orders of a market as the table has them."""
    columns = (OrderRow.chain_order_id, OrderRow.side, OrderRow.status, OrderRow.filled)
    async with db.worker() as session:
        found = sa.select(*columns).join(MarketRow, MarketRow.id == OrderRow.market_id)
        found = found.where(MarketRow.market_address == place)
        rows = await session.execute(found.order_by(OrderRow.chain_order_id))
    return [(number, side.value, status.value, int(filled)) for number, side, status, filled in rows]
