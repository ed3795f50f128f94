"""Deliveries do not block each other, survive a crash, and stay in the log for thirty days."""

import asyncio
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
import sqlalchemy as sa
from dbos import DBOS
from sqlmodel import col

from backend.core import db
from backend.engine import retention
from backend.server import sweep
from backend.webhooks import attempts, events
from backend.webhooks.models import DeliveryRow, EndpointRow
from tests.conftest import World
from tests.support.firm import refused
from tests.support.runs import result_of
from tests.webhooks.conftest import Endpoint, Queued, attempt, row_of
from tests.webhooks.receiver import Received, Receiver


async def test_hanging_receiver_does_not_delay_others(world: World, receiver: Receiver) -> None:
    acme, held = await world.organization(), asyncio.Event()

    async def hang(request: Received, writer: asyncio.StreamWriter) -> None:
        await held.wait()

    async with Receiver(answering=hang) as stuck:
        slow = await Endpoint.made(world, stuck.url, acme)
        quick = await Endpoint.made(world, receiver.url, acme)
        for _ in range(12):
            await slow.post("/test")
        await stuck.came(5)
        await quick.post("/test")
        await receiver.came()
        assert len(stuck.received) == 5, "limited concurrency"
        held.set()


@pytest.mark.long
async def test_waiting_for_receivers_holds_no_database_connection(world: World, receiver: Receiver) -> None:
    """Twenty are being sent concurrently; if each held one of the workflows' fifteen connections, five would wait."""
    acme, held = await world.organization(), asyncio.Event()

    async def hang(request: Received, writer: asyncio.StreamWriter) -> None:
        await held.wait()
        await receiver._answer(request, writer)

    receiver.answering = hang
    ends = [await Endpoint.made(world, receiver.url, acme) for _ in range(4)]
    sent = [(end, await end.post("/test")) for end in ends for _ in range(5)]
    await receiver.came(20)
    held.set()
    for end, delivery in sent:
        assert (await end.settled(delivery["id"]))["status"] == "succeeded"


async def test_delivery_without_a_worker_is_resumed_by_the_sweep(
    world: World, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = await Endpoint.made(world, receiver.url)
    with monkeypatch.context() as patch:
        patch.setattr(events.engine, "is_running", lambda: False)
        lost, early = await end.post("/test"), await end.post("/test")
    await overdue(lost["id"], timedelta(minutes=2))
    await sweep.once()
    (got,) = await receiver.came()
    assert got.event == lost["event_id"]
    assert (await end.settled(lost["id"], 2))["status"] == "succeeded"
    assert (await row_of(early["id"])).run == 1


async def overdue(delivery_id: str, by: timedelta) -> None:
    """Make an attempt overdue."""
    async with db.worker() as session:
        query = sa.update(DeliveryRow).where(col(DeliveryRow.id) == UUID(delivery_id))
        await session.execute(query.values(next_attempt_at=datetime.now(UTC) - by))


async def test_delivery_log_keeps_thirty_days(world: World, receiver: Receiver, queued: Queued) -> None:
    end = await Endpoint.made(world, receiver.url)
    old, waiting, new = [await end.post("/test") for _ in range(3)]
    for delivery in (old, new):
        await attempt(end, delivery["id"])
    async with db.worker() as session:
        ids = [UUID(d["id"]) for d in (old, waiting)]
        long_ago = datetime.now(UTC) - timedelta(days=31)
        await session.execute(sa.update(DeliveryRow).where(col(DeliveryRow.id).in_(ids)).values(created_at=long_ago))
        await attempts.forget(session)
    assert {d["id"] for d in await end.deliveries()} == {waiting["id"], new["id"]}


async def test_endpoint_deleted_during_a_delivery_writes_nothing(
    world: World, receiver: Receiver, queued: Queued
) -> None:
    end = await Endpoint.made(world, receiver.url)
    delivery = await end.post("/test")

    async def delete_first(request: Received, writer: asyncio.StreamWriter) -> None:
        await end.admin.call("DELETE", end.path)
        await receiver._answer(request, writer)

    receiver.answering = delete_first
    await attempts.attempt(end.organization, UUID(delivery["id"]), 1)
    async with db.worker() as session:
        assert await session.get(DeliveryRow, UUID(delivery["id"])) is None
        assert await session.get(EndpointRow, UUID(end.id)) is None
    await attempts.attempt(end.organization, UUID(delivery["id"]), 1)
    assert len(receiver.received) == 1


async def test_delivery_log_is_filtered_and_paged(world: World, receiver: Receiver, queued: Queued) -> None:
    end = await Endpoint.made(world, receiver.url)
    sent = [await end.post("/test") for _ in range(3)]
    await attempt(end, sent[0]["id"])
    assert [d["id"] for d in await end.deliveries(status="succeeded")] == [sent[0]["id"]]
    assert await end.deliveries(event_type="asset.created") == []
    path = f"{end.path}/deliveries/{sent[0]['id']}"
    assert await end.admin.call("GET", path) == (await end.deliveries(status="succeeded"))[0]
    other = await Endpoint.made(world, receiver.url)
    await refused(other.admin, "GET", path, 403)
    await refused(other.admin, "GET", path.replace(end.path, other.path), 404)
    page = await end.admin.call("GET", f"{end.path}/deliveries", params={"limit": 2})
    rest = await end.admin.call("GET", f"{end.path}/deliveries", params={"limit": 2, "cursor": page["nextCursor"]})
    assert [d["id"] for d in [*page["deliveries"], *rest["deliveries"]]] == [d["id"] for d in reversed(sent)]
    assert rest["nextCursor"] is None


async def test_engine_keeps_its_record_of_an_attempt_for_a_day(
    world: World, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = await Endpoint.made(world, receiver.url)
    delivery = await end.post("/test")
    await end.settled(delivery["id"])
    other = await end.post("/recover", {"since": "2026-01-01T00:00:00Z"})
    runs = [events.run_id(UUID(delivery["id"]), 1), f"{other['requestId']}:1"]
    await result_of(runs[1])
    await retention.once()
    assert None not in [await DBOS.get_workflow_status_async(run) for run in runs]
    monkeypatch.setattr(retention, "ATTEMPTS_KEPT", timedelta(seconds=-1))
    await retention.once()
    attempt_of, recovery = [await DBOS.get_workflow_status_async(run) for run in runs]
    assert (attempt_of is None, recovery is None) == (True, False)
    assert [d["status"] for d in await end.deliveries()] == ["succeeded"]
