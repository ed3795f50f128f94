"""Work enqueued in this or another process starts immediately, even if the queues poll rarely."""

import asyncio
import threading
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from backend.core.runtime import runtime
from backend.engine import queue_wakeup, queues
from tests.conftest import World
from tests.support.firm import BASE, SEPOLIA, Firm

LONG = 600.0


@pytest_asyncio.fixture
async def firm(world: World, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Firm]:
    """An issuer on two chains, while the queue polls every ten minutes."""
    monkeypatch.setattr(queue_wakeup, "LONGEST", LONG)
    yield await Firm.issuing(world, SEPOLIA, BASE)
    queue_wakeup.wake(queues.QUEUE)  # its next pause is of the usual length


async def test_work_of_this_process_starts_immediately(firm: Firm) -> None:
    for name in ("Again", "Once more"):
        await firm.post("/issuer/register", {"name": name}, headers=firm.key)
        await _succeeded(firm, (await firm.get("/issuer"))["request_id"])


async def test_run_starts_at_the_end_of_the_previous_one_of_its_partition(firm: Firm) -> None:
    party = await firm.verified((await firm.post("/wallets", {"label": "One"}))["address"])
    bodies = [{"party_id": party["id"], "chain_eid": eid} for eid in (SEPOLIA, BASE)]
    for accepted in [await firm.post("/attestations", body) for body in bodies]:
        await _succeeded(firm, accepted["requestId"])


async def test_work_of_another_process_starts_immediately(firm: Firm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime.part(queue_wakeup.Wakeups), "served", frozenset())  # as where nothing is served
    await firm.post("/issuer/register", {"name": "Elsewhere"}, headers=firm.key)
    await _succeeded(firm, (await firm.get("/issuer"))["request_id"])


async def test_work_that_no_wakeup_announced_is_found(firm: Firm, monkeypatch: pytest.MonkeyPatch) -> None:
    async def lost(*_: object) -> None:
        """As where the process was killed between its commit and the wake-up."""

    monkeypatch.setattr(queue_wakeup, "wake_after_commit", lost)
    await firm.post("/issuer/register", {"name": "Found"}, headers=firm.key)
    await _succeeded(firm, (await firm.get("/issuer"))["request_id"])


async def test_queue_is_polled_soon_when_the_engine_has_lengthened_its_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue_wakeup, "LONGEST", 0.05)
    stop = queue_wakeup._Stop(threading.Event(), queues.NIGHTLY)
    async with asyncio.timeout(LONG / 10):
        assert await asyncio.to_thread(stop.wait, LONG) is False


async def test_end_of_the_engine_does_not_wait_for_the_next_poll(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue_wakeup, "LONGEST", LONG)
    wakeups = queue_wakeup.Wakeups()
    monkeypatch.setattr(runtime, "part", lambda _: wakeups)
    stop = queue_wakeup._Stop(threading.Event(), queues.BULK)
    async with asyncio.timeout(LONG / 10):
        waiting = asyncio.create_task(asyncio.to_thread(stop.wait, LONG))
        queue_wakeup.end()
        assert await waiting is True


async def test_wakeup_concerns_one_queue() -> None:
    counts = runtime.part(queue_wakeup.Wakeups).counts
    before = counts[queues.WEBHOOKS]
    queue_wakeup.wake(queues.BULK)
    assert counts[queues.WEBHOOKS] == before


async def _succeeded(firm: Firm, request_id: str) -> None:
    async with asyncio.timeout(LONG / 10):
        request = await firm.settle(request_id)
    assert request["status"] == "succeeded"
