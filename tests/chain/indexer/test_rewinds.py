"""Reorganizations deeper than the cursor's trail: indexing stops, an operator decides, and indexing resumes."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
import sqlalchemy as sa

from backend.chain import alarms
from backend.chain.abi.rule_sets import TokenRules
from backend.chain.bindings import token
from backend.chain.coordination import cursor
from backend.chain.errors import ChainUnavailable
from backend.chain.indexer import indexer
from backend.chain.indexer.reorgs import DeepReorg
from backend.chain.models import AlarmKind
from backend.chain.rpc.json_rpc import connect, patience
from backend.cli import chain_rewind
from backend.core import db
from backend.core.errors import CannotStart
from backend.core.fields import ChainStatus
from backend.core.settings import settings
from backend.models import ChainRow, CursorRow
from tests.chain.conftest import AWAY_EID, HOME_EID, Stage
from tests.chain.indexer.test_indexer import transfers
from tests.nodes.conftest import CONFIRMATIONS, pool, public
from tests.support.node_pool.pool import NodePool

__all__ = ["pool", "public"]
CHECKOUT = Path(__file__).resolve().parents[3]
DEEP = cursor.TRAIL + 20


@pytest_asyncio.fixture
async def clear_reorg_alarm() -> AsyncIterator[None]:
    """The chain is repaired when the test ends."""
    yield
    async with db.worker() as session:
        await alarms.clear(session, HOME_EID, AlarmKind.DEEP_REORG)


async def minted(stage: Stage, pool: NodePool, rules: TokenRules) -> str:
    """A token with a supply of 100, a block with one more mint, and then more blocks than the trail has."""
    pool.become(mines_every=2)
    at = await stage.token(HOME_EID, rules, supply=100)
    await stage.do(HOME_EID, stage.treasury, token.mint(at, stage.treasury, 1))
    pool.become(mines_every=None)
    await caught_up(pool)
    for _ in range(DEEP):
        await pool.mine()
        await indexer.pass_over(await connect(HOME_EID))
    return at


async def caught_up(pool: NodePool) -> None:
    head = await pool.node.height()
    await pool.mine(CONFIRMATIONS)
    async with asyncio.timeout(60):
        with patience(30):
            await indexer.catch_up(HOME_EID, head)


async def stopped() -> None:
    """Return when the chain is no longer read."""
    async with asyncio.timeout(60):
        while True:
            try:
                await indexer.catch_up(HOME_EID, 0)
            except DeepReorg:
                return
            except ChainUnavailable:
                continue


async def place() -> cursor.Place:
    async with db.worker() as session:
        found = await cursor.find(session, HOME_EID)
    assert found is not None
    return found


async def chain_row() -> ChainRow:
    async with db.worker() as session:
        return (await session.execute(sa.select(ChainRow).where(ChainRow.xchain_eid == HOME_EID))).scalar_one()


async def open_alarms() -> list[str]:
    async with db.worker() as session:
        return [row.detail for row in await alarms.list_open(session, HOME_EID) if row.kind is AlarmKind.DEEP_REORG]


async def amounts(at: str) -> list[int]:
    return [amount for *_, amount in await transfers(at)]


@pytest.mark.long
async def test_reorg_below_the_trail_stops_the_chain_until_an_operator_rewinds_it(
    stage: Stage, public: None, pool: NodePool, open_rules: TokenRules, clear_reorg_alarm: None
) -> None:
    at = await minted(stage, pool, open_rules)
    before = await place()
    await pool.reorg(DEEP + 10, returned=1.0)
    await pool.mine(CONFIRMATIONS)
    await stopped()
    assert (await place()).block == before.block, "nothing is undone"
    assert await amounts(at) == [100, 1]
    (detail,) = await open_alarms()
    assert f"signum chain rewind --eid {HOME_EID} --to-block " in detail
    row = await chain_row()
    assert (row.status, row.last_error) == (ChainStatus.DOWN, detail)

    chain, block = await connect(HOME_EID), int(detail.rpartition(" ")[2])
    assert 0 < block < before.block.number - cursor.TRAIL
    planned = await chain_rewind.plan_within(chain, block)
    assert planned.block.number == block
    await chain_rewind.rewind_within(chain, planned)
    assert await open_alarms() == []
    await caught_up(pool)
    assert sorted(await amounts(at)) == [1, 100]
    assert (await chain_row()).status is ChainStatus.ACTIVE
    assert (await place()).block.number > before.block.number


@pytest.mark.long
async def test_chain_resumes_when_its_node_returns_to_the_right_branch(
    stage: Stage, public: None, pool: NodePool, open_rules: TokenRules, clear_reorg_alarm: None
) -> None:
    """The operator had set the RPC URL of another chain, or of a node on another branch."""
    at = await minted(stage, pool, open_rules)
    before = await place()
    pool.become(switches_within=10**6, lags=(0,))
    await pool.reorg(DEEP + 10, returned=1.0)
    branch = pool.machines[0].old
    assert branch is not None
    pool.machines[0].old = None
    await pool.mine(CONFIRMATIONS)
    await stopped()
    assert await open_alarms() != []

    pool.machines[0].reorganized(branch)
    with patience(30):
        await indexer.catch_up(HOME_EID, before.block.number)
    assert await open_alarms() == []
    assert (await chain_row()).status is ChainStatus.ACTIVE
    assert await amounts(at) == [100, 1]
    pool.become(switches_within=0)
    chain = await connect(HOME_EID)
    await chain_rewind.rewind_within(chain, await chain_rewind.plan_within(chain, branch.fork))
    await caught_up(pool)
    assert sorted(await amounts(at)) == [1, 100]


async def test_chain_trail_exists_after_the_first_read(stage: Stage, public: None) -> None:
    chain = await connect(AWAY_EID)
    await chain.request("anvil_mine", hex(cursor.TRAIL))
    await indexer.catch_up(AWAY_EID, await chain.height() - CONFIRMATIONS)
    async with db.worker() as session:
        await session.execute(sa.delete(CursorRow).filter_by(chain_eid=AWAY_EID))
    await indexer.catch_up(AWAY_EID, 0)
    async with db.worker() as session:
        found, blocks = await cursor.find(session, AWAY_EID), await cursor.trail(session, AWAY_EID)
    assert found is not None
    assert [block.number for block in blocks] == [found.block.number - below for below in range(1, cursor.TRAIL + 1)]


@pytest.mark.long
async def test_rewind_to_a_reorganized_block_suggests_a_lower_one(
    stage: Stage, public: None, pool: NodePool, open_rules: TokenRules, clear_reorg_alarm: None
) -> None:
    await minted(stage, pool, open_rules)
    await caught_up(pool)
    before = await place()
    await pool.reorg(40, returned=1.0)
    with pytest.raises(CannotStart, match="was reorganized below block") as refused:
        await chain_rewind.plan_within(await connect(HOME_EID), before.block.number - 3)
    lower = int(str(refused.value).rpartition(" ")[2])
    planned = await chain_rewind.plan_within(await connect(HOME_EID), lower)
    assert planned.known == lower


async def signum(*arguments: object, url: str, answer: str = "") -> tuple[int, str]:
    """Run the command as a process; return its exit code and output."""
    environment = os.environ | {"DATABASE_URL": url, "SIGNUM_HOME": str(settings().home), "COLUMNS": "200"}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "backend.cli", "chain", "rewind", *map(str, arguments)),
        cwd=CHECKOUT,
        env=environment,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    out, _ = await asyncio.wait_for(process.communicate(answer.encode()), 120)
    return process.returncode or 0, out.decode()


@pytest.mark.long
async def test_rewind_command_shows_its_plan_and_runs_when_confirmed(
    stage: Stage, open_rules: TokenRules, database_url: str
) -> None:
    at = await stage.token(HOME_EID, open_rules, supply=100)
    minted = await stage.do(HOME_EID, stage.treasury, token.mint(at, stage.treasury, 1))
    await indexer.catch_up(HOME_EID, minted.block_number)
    revision, block = (await place()).revision, minted.block_number - 1
    options = ("--eid", HOME_EID, "--to-block", block)
    code, out = await signum(*options, url=database_url, answer="n\n")
    assert code == 1
    assert f"A rewind to block {block} removes what came after it: 1 transfer." in out
    assert (await place()).revision == revision

    async with db.worker() as session:
        await alarms.sound(session, HOME_EID, AlarmKind.DEEP_REORG, "It was reorganized.")
    code, out = await signum(*options, url=database_url, answer="y\n")
    assert (code, f"Rewound to block {block}." in out) == (0, True), out
    assert await open_alarms() == []
    await indexer.catch_up(HOME_EID, minted.block_number)
    assert await amounts(at) == [100, 1]
    assert (await place()).revision > revision


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--eid", 999, "--to-block", 1], "The chain 999 has no node"),
        (["--eid", HOME_EID, "--to-block", 10**9], "Name a block from 0 to the one before."),
        (["--eid", HOME_EID, "--to-block", -1], "Name a block from 0 to the one before."),
    ],
)
async def test_rewind_command_rejects_impossible_rewinds(
    stage: Stage, database_url: str, options: list[object], why: str
) -> None:
    await indexer.catch_up(HOME_EID, 1)
    code, out = await signum(*options, "--yes", url=database_url)
    assert code == 1
    assert why in out
