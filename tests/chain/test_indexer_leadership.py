"""One process indexes a chain; the others wait for it, and take over when it is gone."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from backend.chain import indexer, leadership, token
from backend.chain.rpc import connect
from backend.chain.rule_sets import TokenRules
from backend.settings import settings
from tests.chain.conftest import HOME_EID, Stage
from tests.chain.outside import send_as
from tests.chain.test_indexer import transfers

CHECKOUT = Path(__file__).resolve().parents[2]


@asynccontextmanager
async def stood_down() -> AsyncIterator[None]:
    """Inside, this process is no candidate for the chain."""
    wanted = set(leadership._here.wanted)
    leadership.stand_for(wanted - {HOME_EID})
    await until(lambda: not leadership.leads(HOME_EID))
    try:
        yield
    finally:
        leadership.stand_for(wanted)


async def until(is_so: Any) -> None:
    async with asyncio.timeout(30):
        while not is_so():  # noqa: ASYNC110 - another process acts
            await asyncio.sleep(0.01)


@asynccontextmanager
async def other_process(url: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Another process that indexes, once it leads the chain."""
    environment = os.environ | {"DATABASE_URL": url, "SIGNUM_HOME": str(settings().home)}
    command = [sys.executable, "-m", "tests.chain.indexing_process", str(HOME_EID)]
    process = await asyncio.create_subprocess_exec(
        *command, env=environment, cwd=CHECKOUT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(60):
            await process.stdout.readline()
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def mint(stage: Stage, at: str, amount: int) -> None:
    await send_as(HOME_EID, stage.treasury, token.mint(at, stage.treasury, amount))


async def amounts(at: str) -> list[int]:
    return [amount for *_, amount in await transfers(at)]


async def caught_up() -> None:
    async with asyncio.timeout(30):
        await indexer.catch_up(HOME_EID, await (await connect(HOME_EID)).height())


async def test_killed_leader_is_replaced_and_nothing_is_lost(
    stage: Stage, open_rules: TokenRules, database_url: str
) -> None:
    at = await stage.token(HOME_EID, open_rules, supply=100)
    async with stood_down():
        other = other_process(database_url)
        process = await other.__aenter__()
    await mint(stage, at, 1)
    await caught_up()
    assert await amounts(at) == [100, 1]
    assert not leadership.leads(HOME_EID), "the other process has indexed it"

    process.kill()
    await process.wait()
    await mint(stage, at, 2)
    await caught_up()
    await until(lambda: leadership.leads(HOME_EID))
    await mint(stage, at, 3)
    await caught_up()
    assert await amounts(at) == [100, 1, 2, 3]
    await other.__aexit__(None, None, None)


async def test_contract_that_was_just_written_is_read_by_the_leader_elsewhere(
    stage: Stage, open_rules: TokenRules, database_url: str
) -> None:
    """The block is in the tables already; the contract is not."""
    async with stood_down(), other_process(database_url):
        at = await stage.token(HOME_EID, open_rules, supply=100)
        async with asyncio.timeout(30):
            await indexer.catch_up(HOME_EID, 0)
        assert await amounts(at) == [100]


async def test_process_makes_the_pass_itself_where_nobody_leads(stage: Stage, open_rules: TokenRules) -> None:
    at = await stage.token(HOME_EID, open_rules, supply=100)
    async with stood_down():
        await mint(stage, at, 1)
        await caught_up()
        assert await amounts(at) == [100, 1]
        assert not await leadership.is_led(HOME_EID), "the lock was borrowed for the pass only"
    await until(lambda: leadership.leads(HOME_EID))


async def test_those_who_wait_in_another_thread_share_the_leaders_pass(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A workflow has an event loop of its own."""
    await until(lambda: leadership.leads(HOME_EID))
    loops = []
    make = indexer.pass_over

    async def seen(rpc: Any) -> int:
        loops.append(asyncio.get_running_loop())
        return await make(rpc)

    monkeypatch.setattr(indexer, "pass_over", seen)
    await asyncio.gather(*(asyncio.to_thread(asyncio.run, indexer.catch_up(HOME_EID, 0)) for _ in range(4)))
    assert set(loops) == {asyncio.get_running_loop()}
