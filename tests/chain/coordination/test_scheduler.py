"""Callers that wait for the indexer share its passes."""

import asyncio
import time

import pytest

from backend.chain.coordination import leadership, scheduler
from backend.chain.errors import ChainUnavailable
from backend.chain.indexer import indexer
from backend.chain.rpc.json_rpc import Rpc, patience
from backend.core.runtime import runtime
from backend.registrations import event_streams

assert event_streams, "streams are registered"
CHAIN = 40_999
"""A chain that nothing else in this process indexes."""


class Node:
    """Counts the passes over a chain; each one waits to be released."""

    def __init__(self) -> None:
        self.made, self.under_way, self.released = 0, 0, asyncio.Event()

    async def make(self, chain: Rpc) -> int:
        """A pass: the block it has reached is its number."""
        self.made += 1
        number, self.under_way = self.made, self.under_way + 1
        assert self.under_way == 1
        await self.released.wait()
        self.under_way -= 1
        return number

    def ask(self, since: float | None = None) -> "asyncio.Task[int]":
        """A waiting caller."""
        return asyncio.create_task(scheduler.shared(Rpc(CHAIN), self.make, since))


async def _turns(number: int = 5) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


async def test_hundred_waiters_share_the_next_pass() -> None:
    node = Node()
    first = node.ask()
    await _turns()
    rest = [node.ask() for _ in range(100)]
    await _turns()
    assert node.made == 1  # it started before this caller waited, so it does not count for it
    node.released.set()
    assert await first == 1
    assert set(await asyncio.gather(*rest)) == {2}
    assert await node.ask() == 3


async def test_waiter_shares_a_pass_that_started_since_its_moment() -> None:
    node, before = Node(), time.monotonic()
    first = node.ask()
    await _turns()
    since, later = node.ask(before), node.ask(time.monotonic())
    node.released.set()
    assert (await first, await since, await later) == (1, 1, 2)
    assert await node.ask(before) == 2  # also one that has ended
    assert await node.ask(time.monotonic()) == 3


async def test_waiter_does_not_share_a_failed_pass_since_its_moment() -> None:
    async def fail(chain: Rpc) -> int:
        raise ChainUnavailable("silent")

    before = time.monotonic()
    with pytest.raises(ChainUnavailable):
        await scheduler.shared(Rpc(CHAIN), fail)
    node = Node()
    node.released.set()
    assert await node.ask(before) == 1


async def test_waiter_cancelled_during_a_pass_leaves_it_to_the_others() -> None:
    node = Node()
    first, second = node.ask(), node.ask()
    await _turns()
    first.cancel()
    await _turns()
    node.released.set()
    assert await second == 1
    assert first.cancelled()


async def test_failed_pass_raises_for_all_waiters_and_the_next_pass_runs() -> None:
    async def fail(chain: Rpc) -> int:
        raise ChainUnavailable("silent")

    asked = [asyncio.create_task(scheduler.shared(Rpc(CHAIN), fail)) for _ in range(3)]
    response = await asyncio.gather(*asked, return_exceptions=True)
    assert [type(one) for one in response] == [ChainUnavailable] * 3
    node = Node()
    node.released.set()
    assert await node.ask() == 1


async def test_catch_up_on_a_silent_chain_waits_as_long_as_the_caller(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A request gives up immediately; a workflow keeps waiting until the chain answers."""
    asked, answer = 0, asyncio.Event()

    async def make(chain: Rpc) -> int:
        nonlocal asked
        asked += 1
        await answer.wait()
        if asked == 1:
            raise ChainUnavailable("silent")
        return 7

    async def connect(eid: int) -> Rpc:
        return Rpc(eid)

    monkeypatch.setattr(indexer, "connect", connect)
    monkeypatch.setattr(indexer, "_pass_elsewhere", make)
    monkeypatch.setattr(leadership, "loop_of", lambda eid: None)
    with patience(30):
        patient = asyncio.create_task(indexer.catch_up(CHAIN, 7))
    impatient = asyncio.create_task(indexer.catch_up(CHAIN, 7))
    for _ in range(10):
        await asyncio.sleep(0)
    assert asked == 1, "both share the first pass"
    answer.set()
    with pytest.raises(ChainUnavailable):
        await impatient
    assert not patient.done()
    await patient
    assert asked == 2


@pytest.fixture(autouse=True)
async def _alone() -> None:
    """No pass of another test is running."""
    runtime.reset(scheduler.Lines)
