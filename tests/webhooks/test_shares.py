"""A receiver that hangs takes few of the slots for sending, so deliveries of other organizations are not delayed."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from types import MappingProxyType
from uuid import UUID

import pytest
import pytest_asyncio

from backend.core.runtime import runtime
from backend.engine import queues
from backend.engine.fair_partitions import SlowReceivers
from backend.webhooks import egress, events, stalled_deliveries
from tests.conftest import Actor, World
from tests.webhooks.conftest import Endpoint, row_of
from tests.webhooks.receiver import Received, Receiver
from tests.webhooks.test_log import overdue

SLOTS = 8
"""A quarter is 2."""


@pytest.fixture
def few_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    """The queue for webhooks has few slots."""
    monkeypatch.setattr(queues, "SLOTS", MappingProxyType({**queues.SLOTS, queues.WEBHOOKS: SLOTS}))


@pytest_asyncio.fixture
async def stuck() -> AsyncIterator[Receiver]:
    """Listens, and responds only at the end of the test."""
    held = asyncio.Event()

    async def hang(request: Received, writer: asyncio.StreamWriter) -> None:
        await held.wait()

    async with Receiver(answering=hang) as receiver:
        yield receiver
        held.set()


async def flooded(person: Actor, organization: UUID, url: str, endpoints: int = 3, each: int = 2) -> None:
    """Create endpoints as a person, and send some events to each."""
    for _ in range(endpoints):
        path = f"/orgs/{organization}/webhooks"
        made = await person.call("POST", path, json={"url": url})
        for _ in range(each):
            await person.call("POST", f"{path}/{made['id']}/test")


@pytest.mark.long
async def test_hanging_endpoints_of_a_hierarchy_hold_a_quarter_of_the_slots(
    world: World, receiver: Receiver, stuck: Receiver, few_slots: None
) -> None:
    root = await world.organization("Root")
    below = await world.organization("Below", root)
    for organization in (root, below):
        await flooded(await world.person(organization), organization, stuck.url)
    await stuck.came(SLOTS // 4)
    victim = await Endpoint.made(world, receiver.url)
    assert (await victim.settled((await victim.post("/test"))["id"]))["status"] == "succeeded"
    assert len(stuck.received) == SLOTS // 4


@pytest.mark.long
async def test_hanging_endpoints_of_a_person_hold_a_quarter_of_the_slots(
    world: World, receiver: Receiver, stuck: Receiver, few_slots: None
) -> None:
    person = await world.person(await world.organization())
    for name in ("First", "Second", "Third"):
        made = await person.call("POST", "/orgs", json={"name": name})
        await flooded(person, UUID(made["id"]), stuck.url)
    await stuck.came(SLOTS // 4)
    victim = await Endpoint.made(world, receiver.url)
    assert (await victim.settled((await victim.post("/test"))["id"]))["status"] == "succeeded"
    assert len(stuck.received) == SLOTS // 4


@pytest.mark.long
async def test_retry_of_a_hanging_endpoint_counts_for_its_hierarchy(
    world: World, receiver: Receiver, stuck: Receiver, few_slots: None
) -> None:
    acme = await world.organization()
    end = await Endpoint.made(world, stuck.url, acme)
    first = await end.post("/test")
    await stuck.came(1)
    for _ in range(3):
        await end.post(f"/deliveries/{first['id']}/replay")
    await flooded(end.admin, acme, stuck.url)
    await stuck.came(SLOTS // 4)
    victim = await Endpoint.made(world, receiver.url)
    assert (await victim.settled((await victim.post("/test"))["id"]))["status"] == "succeeded"
    assert len(stuck.received) == SLOTS // 4


async def test_sweep_finds_a_lost_delivery_behind_many_of_another_tenant(
    world: World, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queues, "SLOTS", MappingProxyType({**queues.SLOTS, queues.WEBHOOKS: 0}))
    monkeypatch.setattr(stalled_deliveries, "OVERDUE", timedelta(minutes=10))
    monkeypatch.setattr(stalled_deliveries, "BATCH", 2)
    flood, victim = await Endpoint.made(world, receiver.url), await Endpoint.made(world, receiver.url)
    waiting = [await flood.post("/test") for _ in range(3)]
    with monkeypatch.context() as patch:
        patch.setattr(events.engine, "is_running", lambda: False)
        lost = await victim.post("/test")
    for delivery in waiting:
        await overdue(delivery["id"], timedelta(minutes=20))
    await overdue(lost["id"], timedelta(minutes=15))
    await stalled_deliveries.look()
    assert [(await row_of(delivery["id"])).run for delivery in (*waiting, lost)] == [1, 1, 1, 2]


@pytest.mark.long
async def test_slow_endpoint_gets_one_request_at_a_time(
    world: World, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(egress, "SLOW_SECONDS", 0.0)
    slow, quick = await Endpoint.made(world, receiver.url), await Endpoint.made(world, receiver.url)
    await slow.settled((await slow.post("/test"))["id"])
    assert slow.id in runtime.part(SlowReceivers).names
    held = asyncio.Event()

    async def hang(request: Received, writer: asyncio.StreamWriter) -> None:
        await held.wait()
        await receiver._answer(request, writer)

    receiver.answering = hang
    sent = [await slow.post("/test") for _ in range(3)]
    await receiver.came(2)
    await quick.post("/test")
    await receiver.came(3)
    assert len(receiver.received) == 3, "the first, one of three, and the other endpoint's"
    held.set()
    for delivery in sent:
        await slow.settled(delivery["id"])
    runtime.reset(SlowReceivers)
