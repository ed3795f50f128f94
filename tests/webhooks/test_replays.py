"""Replays by people: with old and new secrets, and only to URLs that are still allowed."""

from datetime import timedelta
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col
from standardwebhooks.webhooks import Webhook

from backend.core import db
from backend.webhooks import attempts, egress, recovery
from backend.webhooks.models import DeliveryRow
from tests.conftest import World
from tests.webhooks.conftest import Clock, Endpoint, Queued, attempt, row_of
from tests.webhooks.receiver import Receiver


async def test_delivery_to_an_address_that_is_not_allowed_now_is_refused(
    world: World, receiver: Receiver, queued: Queued, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = await Endpoint.made(world, receiver.url)
    delivery = await end.post("/test")
    monkeypatch.setattr(egress.settings(), "webhook_loopback", False)
    assert "this machine" in (await attempt(end, delivery["id"]))["failure"]
    assert receiver.received == []


async def test_rotated_secrets_both_sign_for_a_day(
    world: World, receiver: Receiver, queued: Queued, clock: Clock
) -> None:
    end = await Endpoint.made(world, receiver.url)
    fresh = await end.post("/rotate-secret")
    assert fresh["secret"] not in (end.secret, None)
    assert fresh["old_secrets_until"] is not None
    await attempt(end, (await end.post("/test"))["id"])
    (got,) = receiver.received
    assert len(got.headers["webhook-signature"].split()) == 2
    for secret in (end.secret, fresh["secret"]):
        Webhook(secret).verify(got.body, got.headers)
    clock.at += timedelta(hours=24, minutes=1)
    await attempt(end, (await end.post("/test"))["id"])
    assert len(receiver.received[1].headers["webhook-signature"].split()) == 1


async def test_immediate_rotation_ends_earlier_secrets(world: World, receiver: Receiver, queued: Queued) -> None:
    end = await Endpoint.made(world, receiver.url)
    await end.post("/rotate-secret")
    last = await end.post("/rotate-secret", {"overlap_seconds": 0.0})
    assert last["old_secrets_until"] is None
    await attempt(end, (await end.post("/test"))["id"])
    (got,) = receiver.received
    assert len(got.headers["webhook-signature"].split()) == 1
    Webhook(last["secret"]).verify(got.body, got.headers)


async def test_replayed_delivery_is_the_same_event_with_ten_more_attempts(
    world: World, receiver: Receiver, queued: Queued, clock: Clock
) -> None:
    end = await Endpoint.made(world, receiver.url)
    delivery = await end.post("/test")
    receiver.status = 503
    for _ in range(3):
        done = await attempt(end, delivery["id"])
    ticket = (await row_of(delivery["id"])).run
    again = await end.post(f"/deliveries/{delivery['id']}/replay")
    assert (again["status"], again["attempt"], len(again["attempts"])) == ("pending", 0, 3)
    await attempts.attempt(end.organization, UUID(delivery["id"]), ticket)
    assert len(receiver.received) == 3, "the attempt that was due before is not"
    receiver.status = 200
    done = await attempt(end, delivery["id"])
    assert (done["status"], done["attempt"], len(done["attempts"])) == ("succeeded", 1, 4)
    assert {r.event for r in receiver.received} == {delivery["event_id"]}
    await end.post(f"/deliveries/{delivery['id']}/replay")
    assert (await attempt(end, delivery["id"]))["status"] == "succeeded"
    assert len(receiver.received) == 5


@pytest.mark.long
async def test_recovery_sends_only_deliveries_failed_since_its_start(
    world: World, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "BATCH", 1)  # in several transactions
    end = await Endpoint.made(world, receiver.url)
    sent = [await end.post("/test") for _ in range(4)]
    await receiver.came(4)
    for delivery in sent:
        await end.settled(delivery["id"])
    async with db.worker() as session:
        ids = [UUID(d["id"]) for d in sent[:3]]
        await session.execute(sa.update(DeliveryRow).where(col(DeliveryRow.id).in_(ids)).values(status="failed"))
    receiver.received.clear()
    accepted = await end.post("/recover", {"since": sent[1]["created_at"]})
    got = await receiver.came(2)
    assert {r.event for r in got} == {sent[1]["event_id"], sent[2]["event_id"]}
    request = await end.admin.call("GET", f"/orgs/{end.organization}/requests/{accepted['requestId']}")
    assert request["subject"] == {"type": "webhook", "id": end.id}
    problem = {"since": "2100-01-01T00:00:00Z"}
    with pytest.raises(Exception, match="in the future"):
        await end.post("/recover", problem)
