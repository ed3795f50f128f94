"""One process indexes a chain; the others wait, and take over when it is gone."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from backend.chain.abi.rule_sets import TokenRules
from backend.chain.bindings import token
from backend.chain.coordination import cursor, leadership
from backend.chain.indexer import indexer
from backend.chain.rpc.json_rpc import connect
from backend.core import db
from backend.core.runtime import runtime
from backend.core.settings import settings
from tests.chain.conftest import HOME_EID, Stage
from tests.chain.indexer.test_indexer import transfers
from tests.chain.transactions.foreign_wallets import send_as

CHECKOUT = Path(__file__).resolve().parents[3]


@asynccontextmanager
async def not_a_candidate() -> AsyncIterator[None]:
    """Inside, this process is not a candidate for the chain."""
    wanted = set(runtime.part(leadership.Candidate).wanted)
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
    command = [sys.executable, "-m", "tests.chain.indexer.indexer_process", str(HOME_EID)]
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


@dataclass(frozen=True)
class Holder:
    """A wallet whose transfers are not stored, so that a process learns of them from the chain only.

    The treasury does not send them: stored transactions after an unknown one could not be replayed by later tests.
    """

    at: str
    address: str
    treasury: str

    @classmethod
    async def of(cls, stage: Stage, at: str) -> "Holder":
        """Return a new holder of 50 base units of a token."""
        address = await stage.wallet()
        await stage.attest(HOME_EID, address)
        await stage.do(HOME_EID, stage.treasury, token.transfer(at, address, 50))
        return cls(at, address, stage.treasury)

    async def pay(self, amount: int) -> None:
        await send_as(HOME_EID, self.address, token.transfer(self.at, self.treasury, amount))


async def amounts(at: str) -> list[int]:
    return [amount for *_, amount in await transfers(at)]


async def caught_up() -> None:
    async with asyncio.timeout(30):
        await indexer.catch_up(HOME_EID, await (await connect(HOME_EID)).height())


@pytest.mark.long
async def test_killed_leader_is_replaced_without_data_loss(
    stage: Stage, open_rules: TokenRules, database_url: str
) -> None:
    at = await stage.token(HOME_EID, open_rules, supply=100)
    holder = await Holder.of(stage, at)
    async with not_a_candidate():
        other = other_process(database_url)
        process = await other.__aenter__()
    await holder.pay(1)
    await caught_up()
    assert await amounts(at) == [100, 50, 1]
    assert not leadership.leads(HOME_EID), "the other process has indexed it"

    process.kill()
    await process.wait()
    await holder.pay(2)
    await caught_up()
    await until(lambda: leadership.leads(HOME_EID))
    await holder.pay(3)
    await caught_up()
    assert await amounts(at) == [100, 50, 1, 2, 3]
    await other.__aexit__(None, None, None)


async def test_process_that_waits_for_a_leader_can_become_the_leader(
    stage: Stage, open_rules: TokenRules, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new leader's passes wait for the pass that was requested from the old one."""
    monkeypatch.setattr(indexer, "ASK_AGAIN", 3_600.0)
    at = await stage.token(HOME_EID, open_rules, supply=100)
    holder = await Holder.of(stage, at)
    async with not_a_candidate(), leadership.borrowed(HOME_EID) as is_held:
        assert is_held
        await holder.pay(1)
        waiting = asyncio.create_task(caught_up())
        await until_requested()
    await waiting
    assert await amounts(at) == [100, 50, 1]


async def until_requested() -> None:
    """Wait until a requested pass is outstanding."""
    async with asyncio.timeout(30):
        while True:
            async with db.worker() as session:
                place = await cursor.find(session, HOME_EID)
            if place is not None and place.asked > place.served:
                return
            await asyncio.sleep(0.01)


@pytest.mark.long
async def test_new_contract_is_read_by_the_leader_in_another_process(
    stage: Stage, open_rules: TokenRules, database_url: str
) -> None:
    """The block is in the tables already, but the contract is not."""
    async with not_a_candidate(), other_process(database_url):
        at = await stage.token(HOME_EID, open_rules, supply=100)
        async with asyncio.timeout(30):
            await indexer.catch_up(HOME_EID, 0)
        assert await amounts(at) == [100]


@pytest.mark.long
async def test_process_runs_the_pass_when_there_is_no_leader(stage: Stage, open_rules: TokenRules) -> None:
    at = await stage.token(HOME_EID, open_rules, supply=100)
    holder = await Holder.of(stage, at)
    async with not_a_candidate():
        await holder.pay(1)
        await caught_up()
        assert await amounts(at) == [100, 50, 1]
        assert not await leadership.is_led(HOME_EID), "the lock was borrowed for the pass only"
    await until(lambda: leadership.leads(HOME_EID))


async def test_waiters_in_another_thread_share_the_leader_pass(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """A workflow has its own event loop."""
    await until(lambda: leadership.leads(HOME_EID))
    loops = []
    make = indexer.pass_over

    async def seen(rpc: Any) -> int:
        loops.append(asyncio.get_running_loop())
        return await make(rpc)

    monkeypatch.setattr(indexer, "pass_over", seen)
    await asyncio.gather(*(asyncio.to_thread(asyncio.run, indexer.catch_up(HOME_EID, 0)) for _ in range(4)))
    assert set(loops) == {asyncio.get_running_loop()}
