"""Indexing behind public RPC URLs: no event is lost, none is counted twice, and a node that is behind is not a
reorg."""

import asyncio
from collections.abc import Sequence
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from sqlmodel import col

from backend.chain.abi.rule_sets import TokenRules
from backend.chain.bindings import token
from backend.chain.deployment.contracts import contracts_of
from backend.chain.errors import ChainUnavailable
from backend.chain.indexer import index_pass, indexer
from backend.chain.indexer.log_limits import LearnedLimits
from backend.chain.models import CursorRow, TransactionStatus
from backend.chain.rpc.json_rpc import Rpc, connect
from backend.core import db
from backend.core.runtime import runtime
from backend.models import MarketRow
from tests.chain.conftest import HOME_EID, Stage
from tests.chain.indexer.test_indexer import opened, transfers
from tests.chain.transactions.observation import row_of
from tests.nodes import truth
from tests.nodes.conftest import CONFIRMATIONS
from tests.support.node_pool.pool import NodePool

pytestmark = pytest.mark.long


async def minted(stage: Stage, pool: NodePool, rules: TokenRules, amounts: Sequence[int] = ()) -> str:
    """A token whose supply of 100, and then each amount, is minted by separate transactions."""
    pool.become(mines_every=2)
    at = await stage.token(HOME_EID, rules, supply=100)
    for amount in amounts:
        await stage.do(HOME_EID, stage.treasury, token.mint(at, stage.treasury, amount))
    return at


async def caught_up(pool: NodePool) -> None:
    """Return when the tables have everything that is on the chain now."""
    head = await pool.node.height()
    await pool.mine(CONFIRMATIONS)
    async with asyncio.timeout(180):
        await indexer.catch_up(HOME_EID, head)


async def is_complete(pool: NodePool, at: str) -> bool:
    """Return whether the table has the transfers of a token as the chain has them, each once."""
    answer = [(entry.from_address, entry.to_address, entry.amount) for entry in await truth.transfers(pool.node, at)]
    return [(a.lower(), b.lower(), amount) for a, b, amount in await transfers(at)] == answer


async def cursor() -> int:
    """Return the block up to which the chain is indexed."""
    async with db.worker() as session:
        query = sa.select(col(CursorRow.block_number)).filter_by(chain_eid=HOME_EID, stream="head")
        return (await session.execute(query)).scalar_one()


# HIGH-2: logs come from a machine that is behind.


@pytest.mark.parametrize("behind", [4, pytest.param(20, marks=pytest.mark.nightly)])
async def test_transfers_are_complete_when_logs_come_from_a_lagging_machine(
    stage: Stage, public: None, pool: NodePool, open_rules: TokenRules, behind: int
) -> None:
    at = await minted(stage, pool, open_rules)
    await caught_up(pool)
    pool.become(lags=(0, behind), routes={"eth_getLogs": 1}, mines_every=3)
    for amount in (1, 2, 3):
        await stage.do(HOME_EID, stage.treasury, token.mint(at, stage.treasury, amount))
        await caught_up(pool)
        assert await is_complete(pool, at)


@pytest.mark.parametrize(
    "seed", [0, pytest.param(1, marks=pytest.mark.nightly), pytest.param(2, marks=pytest.mark.nightly)]
)
async def test_transfers_are_complete_behind_machines_at_different_heights(
    stage: Stage, public: None, pool: NodePool, open_rules: TokenRules, seed: int
) -> None:
    at = await minted(stage, pool, open_rules)
    pool.become(seed=seed, machines=4, most_behind=20, syncing_at=3, mines_every=3)
    for amount in (1, 2, 3):
        await stage.do(HOME_EID, stage.treasury, token.mint(at, stage.treasury, amount))
    await caught_up(pool)
    assert await is_complete(pool, at)


async def test_transfers_are_complete_when_batch_calls_reach_different_machines(
    stage: Stage, public: None, pool: NodePool, open_rules: TokenRules
) -> None:
    """The block in the same batch proves nothing here; the trailing window is read again once the machines have it."""
    at = await minted(stage, pool, open_rules)
    pool.become(lags=(0, 4, 9), splits_batches=True, mines_every=3)
    for amount in (1, 2, 3):
        await stage.do(HOME_EID, stage.treasury, token.mint(at, stage.treasury, amount))
    await caught_up(pool)
    for _ in range(12):
        await pool.mine(2)
        await caught_up(pool)
    assert await is_complete(pool, at)


@pytest.mark.nightly
async def test_transfers_missed_by_a_restart_are_complete_with_a_syncing_machine(
    stage: Stage, public: None, pool: NodePool, open_rules: TokenRules, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each call of a batch reaches another machine, so that the block in the same batch proves nothing."""
    at = await minted(stage, pool, open_rules)
    await caught_up(pool)
    with monkeypatch.context() as patch:
        patch.setattr(index_pass, "make", never)
        for amount in range(1, 9):
            await stage.do(HOME_EID, stage.treasury, token.mint(at, stage.treasury, amount))
            await pool.mine(12)
    pool.become(seed=5, lags=(0, 0), syncing_at=3, splits_batches=True, log_range=5, mines_every=None)
    await caught_up(pool)
    assert await is_complete(pool, at)


async def never(rpc: Rpc) -> int:
    """A pass that finds no machine."""
    raise ChainUnavailable("The server is away.")


async def test_node_that_refuses_logs_beyond_its_head_is_waited_for(
    stage: Stage, public: None, pool: NodePool, open_rules: TokenRules
) -> None:
    at = await minted(stage, pool, open_rules)
    pool.become(lags=(0, 6), refuses_logs_beyond_head=True, mines_every=3)
    await stage.do(HOME_EID, stage.treasury, token.mint(at, stage.treasury, 5))
    await caught_up(pool)
    assert await is_complete(pool, at)


# HIGH-3: a machine that is behind or syncing is not a reorg.


@pytest.mark.parametrize(
    "behind", [5, pytest.param(3, marks=pytest.mark.nightly), pytest.param(20, marks=pytest.mark.nightly)]
)
async def test_lagging_node_is_not_a_reorg(
    stage: Stage, public: None, pool: NodePool, open_rules: TokenRules, behind: int
) -> None:
    at = await minted(stage, pool, open_rules)
    key = f"behind:{behind}"
    await stage.do(HOME_EID, stage.treasury, token.burn(at, 7), key=key)
    await caught_up(pool)
    before, place = await place_of(key), await cursor()
    pool.become(lags=(behind,), mines_every=None)
    await passes()
    assert await place_of(key) == before
    assert [amount for *_, amount in await transfers(at)] == [100, 7]
    assert await cursor() >= place


async def place_of(key: str) -> tuple[TransactionStatus, str, int | None]:
    """Return the status of a transaction, its hash and its block."""
    row = await row_of(key)
    return row.status, row.tx_hash, row.block_number


async def test_syncing_node_deletes_nothing(
    stage: Stage, public: None, short_timeouts: None, pool: NodePool, open_rules: TokenRules
) -> None:
    at = await minted(stage, pool, open_rules, [1, 2])
    await caught_up(pool)
    place = await cursor()
    pool.become(lags=(), syncing_at=3, mines_every=None)
    await passes()
    assert [amount for *_, amount in await transfers(at)] == [100, 1, 2]
    assert await cursor() >= place


async def passes() -> None:
    """Run a few passes over the chain, ignoring errors, as an indexer retries."""
    rpc = await connect(HOME_EID)
    for _ in range(3):
        passing = asyncio.create_task(indexer.pass_over(rpc))
        await asyncio.wait({passing}, timeout=5)
        passing.cancel()
        await asyncio.gather(passing, return_exceptions=True)


@pytest.mark.nightly
async def test_reorg_noticed_late_by_machines_keeps_the_transfers_of_the_new_branch(
    stage: Stage, public: None, pool: NodePool, open_rules: TokenRules
) -> None:
    at = await minted(stage, pool, open_rules, [1, 2])
    await caught_up(pool)
    await stage.do(HOME_EID, stage.treasury, token.mint(at, stage.treasury, 3))
    await caught_up(pool)
    pool.become(lags=(0, 3), switches_within=40, mines_every=3)
    for depth in (4, 6):
        await pool.reorg(depth, returned=0.5)
        await pool.mine(3)
        await caught_up(pool)
    async with asyncio.timeout(60):
        while await truth.supply(pool.node, at) != 106:  # noqa: ASYNC110 - what was dropped is sent again
            await asyncio.sleep(0.02)
    for _ in range(3):
        await pool.mine(10)
        await caught_up(pool)
    assert await is_complete(pool, at)


async def test_rewind_rereads_only_later_blocks(
    stage: Stage, public: None, pool: NodePool, open_rules: TokenRules
) -> None:
    at = await minted(stage, pool, open_rules)
    contracts = await deployed_contracts()
    place = await opened(stage, at, contracts)
    await pool.mine(300)
    await stage.do(HOME_EID, stage.treasury, token.mint(at, stage.treasury, 5))
    await caught_up(pool)
    made = await market_block(place)
    start = len(pool.asked)
    await pool.reorg(5)
    await pool.mine(3)
    await caught_up(pool)
    read = [a.parameters[0] for a in pool.asked[start:] if a.method == "eth_getLogs"]
    assert read
    firsts = [int(query["fromBlock"], 16) for query in read if "fromBlock" in query]
    assert min(firsts, default=made + 300) >= made + 150
    assert await is_complete(pool, at)


async def deployed_contracts() -> str:
    """Return the market factory of the chain."""
    return str((await contracts_of(HOME_EID)).market_factory)


async def market_block(place: str) -> int:
    """Return the block in which a market was created."""
    async with db.worker() as session:
        query = sa.select(col(MarketRow.block_number)).where(col(MarketRow.market_address) == place)
        return int((await session.execute(query)).scalar_one() or 0)


# Blockers 2 and 9: limits of eth_getLogs.


@pytest.mark.parametrize("blocks", [50, pytest.param(5, marks=pytest.mark.nightly)])
async def test_missed_blocks_are_read_from_a_node_that_limits_log_ranges(
    stage: Stage, public: None, pool: NodePool, open_rules: TokenRules, blocks: int
) -> None:
    at = await minted(stage, pool, open_rules)
    await caught_up(pool)
    pool.become(log_range=blocks, mines_every=None)
    await pool.mine(160)
    await caught_up(pool)
    pool.become(mines_every=2)
    await stage.do(HOME_EID, stage.treasury, token.mint(at, stage.treasury, 5))
    await caught_up(pool)
    assert await is_complete(pool, at)


async def test_events_are_complete_when_responses_hold_two_logs(
    stage: Stage, public: None, pool: NodePool, open_rules: TokenRules
) -> None:
    at = await minted(stage, pool, open_rules, [1, 2, 3, 4, 5])
    pool.become(log_results=2, mines_every=2)
    await caught_up(pool)
    assert await is_complete(pool, at)


@pytest.mark.nightly
async def test_log_range_grows_again_after_it_was_halved(
    stage: Stage, public: None, pool: NodePool, open_rules: TokenRules, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The process remembers the refusals of other tests, which would need more blocks than are mined here.
    monkeypatch.delitem(runtime.part(LearnedLimits).by_chain, HOME_EID, raising=False)
    await minted(stage, pool, open_rules)
    pool.become(log_range=40, mines_every=None)
    await pool.mine(200)
    await caught_up(pool)
    pool.become(log_range=None)
    start = len(pool.asked)  # the indexer also runs its own passes, as soon as there are blocks
    await pool.mine(1_500)  # all but the newest 512 are read by range, enough for the most patient limit to grow
    await caught_up(pool)
    read = [asked.parameters[0] for asked in pool.asked[start:] if asked.method == "eth_getLogs"]
    assert max(int(q["toBlock"], 16) - int(q["fromBlock"], 16) + 1 for q in read if "toBlock" in q) > 40


async def test_latest_only_node_without_tags_is_indexed(
    stage: Stage, public: None, pool: NodePool, open_rules: TokenRules
) -> None:
    """As HyperEVM's public RPC: 50 blocks of logs, the latest state only, no tags."""
    at = await minted(stage, pool, open_rules)
    pool.become(history=0, safe=None, final=None, log_range=50, mines_every=3)
    for amount in (1, 2):
        await stage.do(HOME_EID, stage.treasury, token.mint(at, stage.treasury, amount))
    await pool.mine(120)
    await caught_up(pool)
    assert await is_complete(pool, at)


# Blocker 9: no database transaction is open during calls to the chain.


async def test_indexer_waits_for_a_node_without_an_open_database_transaction(
    stage: Stage, public: None, short_timeouts: None, pool: NodePool, open_rules: TokenRules, database_url: str
) -> None:
    await minted(stage, pool, open_rules)
    await caught_up(pool)
    pool.become(stuck=frozenset({"eth_getLogs"}), mines_every=None)
    await pool.mine(5)
    start = len(pool.asked)
    passing = asyncio.create_task(indexer.pass_over(await connect(HOME_EID)))
    async with asyncio.timeout(20):
        while not any(asked.method == "eth_getLogs" for asked in pool.asked[start:]):  # noqa: ASYNC110 - a node's call
            await asyncio.sleep(0.005)
    async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as owner:
        asked = (await (await owner.execute("select now()")).fetchone() or (None,))[0]
        async with asyncio.timeout(1):  # of the two seconds that the call takes
            while await open_transactions(owner, asked):  # noqa: ASYNC110 - they end
                await asyncio.sleep(0.01)
    passing.cancel()
    await asyncio.gather(passing, return_exceptions=True)


async def open_transactions(owner: psycopg.AsyncConnection[Any], before: Any) -> list[Any]:
    """The last statements of transactions that started before a moment and are idle."""
    query = "select query from pg_stat_activity where state = 'idle in transaction' and xact_start < %s"
    return await (await owner.execute(query, (before,))).fetchall()
