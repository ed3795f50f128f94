"""Attempts: signed, bounded, tried again, given up; sent again by people; nothing lost by a crash."""

import asyncio
from collections import defaultdict
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from backend import db, sweep
from backend.members.schemas import Role
from backend.models import MemberRow, OutboxRow
from backend.settings import settings
from backend.webhooks import egress, events, rules, sending
from backend.webhooks.models import DeliveryRow, EndpointRow
from tests.conftest import World
from tests.webhooks.conftest import Endpoint, row_of
from tests.webhooks.receiver import Received, Receiver

Queued = dict[str, list[timedelta]]


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> Queued:
    """The engine stands still: delays are noted by delivery, and a test makes the attempts itself."""
    delays: Queued = defaultdict(list)

    async def queue(*arguments: Any) -> None:
        delays[str(arguments[3])].append(arguments[5] if len(arguments) > 5 else timedelta(0))

    monkeypatch.setattr(events, "queue", queue)
    return delays


class Clock:
    """Time as a test sets it."""

    def __init__(self) -> None:
        self.at = datetime.now(UTC)

    def __call__(self) -> datetime:
        return self.at


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The sender's clock; jitter in its middle."""
    clock = Clock()
    monkeypatch.setattr(sending, "now", clock)
    monkeypatch.setattr(sending.random, "random", lambda: 0.5)
    return clock


async def attempt(end: Endpoint, delivery_id: str) -> Any:
    """Make the attempt that is due; the delivery after it."""
    await sending.attempt(end.organization, UUID(delivery_id), (await row_of(delivery_id)).run)
    return next(d for d in await end.deliveries() if d["id"] == delivery_id)


async def test_a_delivery_arrives_signed_for_its_receiver(world: World, receiver: Receiver) -> None:
    end = await Endpoint.made(world, receiver.url)
    accepted = await end.post("/test")
    assert (accepted["status"], accepted["event_type"]) == ("pending", "webhook.test")
    (got,) = await receiver.came()
    payload = Webhook(end.secret).verify(got.body, got.headers)
    assert payload == accepted["payload"]
    assert payload["data"] == {"object": "webhook", "id": end.id, "organization_id": str(end.organization)}
    with pytest.raises(WebhookVerificationError):
        Webhook("whsec_" + "A" * 43 + "=").verify(got.body, got.headers)
    assert got.line == "POST /hooks?from=signum HTTP/1.1"
    assert got.headers["content-type"] == "application/json"
    assert got.headers["host"] == f"127.0.0.1:{receiver.port}"
    done = await end.settled(accepted["id"])
    assert (done["status"], done["attempt"], done["response_status"], done["response_body"]) == (
        "succeeded", 1, 200, "thanks",
    )  # fmt: skip
    assert (done["event_id"], done["failure"], done["next_attempt_at"]) == (got.event, None, None)
    assert (await end.get())["last_success_at"] == done["attempted_at"]


async def test_ten_attempts_by_the_schedule_then_the_endpoint_is_disabled(
    world: World, receiver: Receiver, queued: Queued, clock: Clock
) -> None:
    end = await Endpoint.made(world, receiver.url)
    receiver.status = 500
    began, delivery = clock.at, await end.post("/test")
    waiting = await end.post("/test")
    times = []
    for number in range(1, 11):
        times.append(clock.at - began)
        done = await attempt(end, delivery["id"])
        assert (done["attempt"], done["response_status"]) == (number, 500)
        if number < 10:
            assert done["status"] == "pending"
            clock.at = datetime.fromisoformat(done["next_attempt_at"])
    assert queued[delivery["id"]] == [timedelta(0), *rules.RETRIES]
    assert times == [sum(rules.RETRIES[:n], timedelta()) for n in range(10)]
    assert len({r.event for r in receiver.received}) == 1
    assert len({r.headers["webhook-timestamp"] for r in receiver.received}) == 10
    assert (done["status"], done["failure"], done["next_attempt_at"]) == (
        "failed", "Answered 500; only 2xx is success", None,
    )  # fmt: skip
    assert [t["response_status"] for t in done["attempts"]] == [500] * 10
    now = await end.get()
    assert (now["status"], now["disabled_reason"]) == ("disabled", "failing")
    other = next(d for d in await end.deliveries() if d["id"] == waiting["id"])
    assert (other["status"], other["failure"]) == ("failed", "The endpoint was disabled")


async def mails_about(organization: UUID) -> list[tuple[str, str, str]]:
    """Recipient, subject and text of an organization's mails."""
    async with db.worker() as session:
        query = sa.select(OutboxRow).where(OutboxRow.organization_id == organization)
        rows = await session.scalars(query.order_by(OutboxRow.recipient))
        return [(row.recipient, row.subject, row.body) for row in rows]


async def test_the_admins_get_a_mail_when_an_endpoint_was_disabled_for_them(
    world: World, receiver: Receiver, queued: Queued, clock: Clock
) -> None:
    end = await Endpoint.made(world, f"{receiver.url}&token=s3cret")
    admins = [await world.person(end.organization) for _ in range(2)]
    await world.person(end.organization, Role.VIEWER)
    asked = await world.person(await world.organization("Elsewhere"))
    body = {"user_id": str(asked.user_id), "role": "admin"}
    await end.admin.call("POST", f"/orgs/{end.organization}/members", json=body)
    known = {end.admin.email, *(a.email for a in admins)}
    receiver.status = 500
    delivery = await end.post("/test")
    for _ in range(10):
        clock.at += timedelta(hours=8)
        await attempt(end, delivery["id"])
    mails = await mails_about(end.organization)
    assert {recipient for recipient, _, _ in mails} == known, "and nobody who has not agreed to be one"
    assert len(mails) == len(known), "one each, however many deliveries were waiting"
    for _, subject, text in mails:
        assert subject == "A webhook endpoint of Acme gets nothing any more"
        assert f"{settings().origin}/o/{end.organization}/webhooks/{end.id}" in text
        assert "500" in text
        assert "s3cret" not in text, "an address may carry a secret"


async def test_where_nobody_is_admin_here_the_nearest_above_get_the_mail(world: World, receiver: Receiver) -> None:
    top = await world.organization("Top")
    middle = await world.organization("Middle", top)
    low = await world.organization("Low", middle)
    far, near = await world.person(top), await world.person(middle)
    end = await Endpoint.made(world, receiver.url, low)
    async with db.worker() as session:
        own = sa.update(MemberRow).where(col(MemberRow.user_id) == end.admin.user_id)
        await session.execute(own.values(role=Role.VIEWER))
    receiver.status = 410
    end.admin = near
    await end.settled((await end.post("/test"))["id"])
    [(recipient, _, text)] = await mails_about(low)
    assert recipient == near.email, f"not {far.email}"
    assert "410" in text


async def test_who_disables_an_endpoint_needs_no_mail(world: World, receiver: Receiver) -> None:
    end = await Endpoint.made(world, receiver.url)
    await end.patch(status="disabled")
    assert await mails_about(end.organization) == []


async def test_an_endpoint_that_sometimes_answers_stays_enabled(
    world: World, receiver: Receiver, queued: Queued, clock: Clock
) -> None:
    end = await Endpoint.made(world, receiver.url)
    poison, fine = await end.post("/test"), await end.post("/test")

    async def answer(request: Received, writer: asyncio.StreamWriter) -> None:
        receiver.status = 500 if request.event == poison["event_id"] else 204
        await receiver._answer(request, writer)

    receiver.answering, receiver.body = answer, b""
    for number in range(10):
        clock.at += timedelta(hours=1)
        done = await attempt(end, poison["id"])
        if number == 4:
            assert (await attempt(end, fine["id"]))["status"] == "succeeded"
    assert done["status"] == "failed"
    assert (await end.get())["status"] == "enabled"


async def test_gone_disables_at_once(world: World, receiver: Receiver) -> None:
    end = await Endpoint.made(world, receiver.url)
    receiver.status = 410
    done = await end.settled((await end.post("/test"))["id"])
    assert (done["status"], done["attempt"], done["next_attempt_at"]) == ("failed", 1, None)
    now = await end.get()
    assert (now["status"], now["disabled_reason"]) == ("disabled", "gone")
    assert len(receiver.received) == 1


async def test_a_redirect_is_an_answer_and_not_followed(world: World, receiver: Receiver) -> None:
    async with Receiver() as elsewhere:
        end = await Endpoint.made(world, receiver.url)
        receiver.status, receiver.headers = 307, f"location: {elsewhere.url}\r\n"
        done = await end.settled((await end.post("/test"))["id"])
        assert (done["status"], done["response_status"]) == ("pending", 307)
        assert done["failure"] == "Answered 307; redirects are not followed"
        assert elsewhere.received == []


async def test_who_does_not_answer_in_time_has_not_answered(
    world: World, receiver: Receiver, queued: Queued, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(egress, "TIMEOUT", 0.2)
    end, held = await Endpoint.made(world, receiver.url), asyncio.Event()

    async def silent(request: Received, writer: asyncio.StreamWriter) -> None:
        await held.wait()

    async def drop_by_drop(request: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nx-slow: ")
        while not held.is_set():
            writer.write(b"a")
            await writer.drain()
            with suppress(TimeoutError):
                await asyncio.wait_for(held.wait(), 0.01)

    for answering in (silent, drop_by_drop):
        receiver.answering = answering
        delivery = await end.post("/test")
        done = await attempt(end, delivery["id"])
        assert (done["response_status"], done["status"]) == (None, "pending")
        assert done["failure"].startswith("No answer within")
    held.set()


async def test_a_body_without_end_costs_nothing_and_decides_nothing(
    world: World, receiver: Receiver, queued: Queued, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(egress, "BODY_SECONDS", 0.2)
    end, held = await Endpoint.made(world, receiver.url), asyncio.Event()

    async def endless(request: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"\0\xff" * 10_000)
            await writer.drain()

    async def dripping(request: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 202 OK\r\ncontent-length: 1000\r\n\r\nnearly")
        await held.wait()

    receiver.answering = endless
    done = await attempt(end, (await end.post("/test"))["id"])
    assert (done["status"], len(done["response_body"])) == ("succeeded", egress.BODY_BYTES)
    assert set(done["response_body"]) == {"\ufffd"}
    receiver.answering = dripping
    done = await attempt(end, (await end.post("/test"))["id"])
    assert (done["status"], done["response_body"]) == ("succeeded", "nearly")
    held.set()


async def test_nobody_there_and_nonsense_are_failures_with_a_reason(
    world: World, receiver: Receiver, queued: Queued
) -> None:
    end = await Endpoint.made(world, receiver.url)

    async def nonsense(request: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example.com ESMTP\r\n")

    receiver.answering = nonsense
    assert (await attempt(end, (await end.post("/test"))["id"]))["failure"].startswith("The answer was not HTTP")
    await end.patch(url="http://127.0.0.1:1024/")
    assert (await attempt(end, (await end.post("/test"))["id"]))["failure"] == "No connection could be made"
    await end.patch(url=f"https://127.0.0.1:{receiver.port}/")
    assert (await attempt(end, (await end.post("/test"))["id"]))["failure"] == "TLS failed"
    await end.patch(url="https://nowhere.invalid/")
    assert (await attempt(end, (await end.post("/test"))["id"]))["failure"] == "The name of the host leads nowhere"


async def test_a_name_is_judged_at_every_send_and_connected_as_judged(
    world: World, receiver: Receiver, queued: Queued, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [["93.184.215.14"], ["127.0.0.1"], ["93.184.215.14", "169.254.169.254"]]
    asked: list[str] = []

    def look_up(host: str, port: int) -> list[str]:
        asked.append(host)
        return answers[len(asked) - 1]

    monkeypatch.setattr(egress, "_look_up", look_up)
    end = await Endpoint.made(world, "https://rebinds.example.com/")
    delivery = await end.post("/test")
    for looked in (2, 3):
        done = await attempt(end, delivery["id"])
        assert done["failure"] == "rebinds.example.com leads to an address that is not public; nothing was sent"
        assert asked == ["rebinds.example.com"] * looked
    assert receiver.received == []


async def test_the_connection_is_made_to_the_judged_address_and_not_by_name(
    world: World, receiver: Receiver, queued: Queued, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0

    def look_up(host: str, port: int) -> list[str]:
        nonlocal asked
        asked += 1
        return ["127.0.0.1"]

    monkeypatch.setattr(egress, "_look_up", look_up)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("all_proxy", "http://127.0.0.1:1")
    end = await Endpoint.made(world, f"http://localhost:{receiver.port}/")
    done = await attempt(end, (await end.post("/test"))["id"])
    assert (done["status"], asked) == ("succeeded", 2)
    assert receiver.received[0].headers["host"] == f"localhost:{receiver.port}"


async def test_what_was_allowed_once_is_refused_when_it_is_no_more(
    world: World, receiver: Receiver, queued: Queued, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = await Endpoint.made(world, receiver.url)
    delivery = await end.post("/test")
    monkeypatch.setattr(egress.settings(), "webhook_loopback", False)
    assert "this machine" in (await attempt(end, delivery["id"]))["failure"]
    assert receiver.received == []


async def test_after_a_rotation_both_secrets_sign_for_a_day(
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


async def test_a_rotation_in_a_hurry_ends_every_secret_before_it(
    world: World, receiver: Receiver, queued: Queued
) -> None:
    end = await Endpoint.made(world, receiver.url)
    await end.post("/rotate-secret")
    last = await end.post("/rotate-secret", {"overlap_seconds": 0})
    assert last["old_secrets_until"] is None
    await attempt(end, (await end.post("/test"))["id"])
    (got,) = receiver.received
    assert len(got.headers["webhook-signature"].split()) == 1
    Webhook(last["secret"]).verify(got.body, got.headers)


async def test_sent_again_it_is_the_same_event_with_ten_attempts_more(
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
    await sending.attempt(end.organization, UUID(delivery["id"]), ticket)
    assert len(receiver.received) == 3, "the attempt that was due before is not"
    receiver.status = 200
    done = await attempt(end, delivery["id"])
    assert (done["status"], done["attempt"], len(done["attempts"])) == ("succeeded", 1, 4)
    assert {r.event for r in receiver.received} == {delivery["event_id"]}
    await end.post(f"/deliveries/{delivery['id']}/replay")
    assert (await attempt(end, delivery["id"]))["status"] == "succeeded"
    assert len(receiver.received) == 5


async def test_recovery_sends_what_has_failed_since_and_nothing_else(world: World, receiver: Receiver) -> None:
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


async def test_one_that_hangs_holds_up_nobody_else(world: World, receiver: Receiver) -> None:
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
        assert len(stuck.received) == 5, "so many at a time, and no more"
        held.set()


async def test_no_connection_to_the_database_is_held_while_receivers_think(world: World, receiver: Receiver) -> None:
    """Twenty are being sent at once; were each to hold one of the workflows' fifteen connections, five would wait."""
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


async def test_what_nobody_works_on_is_taken_up(
    world: World, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = await Endpoint.made(world, receiver.url)
    with monkeypatch.context() as patch:
        patch.setattr(events.workflows, "is_running", lambda: False)
        lost, early = await end.post("/test"), await end.post("/test")
    await overdue(lost["id"], timedelta(minutes=2))
    await sweep.once()
    (got,) = await receiver.came()
    assert got.event == lost["event_id"]
    assert (await end.settled(lost["id"], 2))["status"] == "succeeded"
    assert (await row_of(early["id"])).run == 1


async def overdue(delivery_id: str, by: timedelta) -> None:
    """Let an attempt have been due for a while."""
    async with db.worker() as session:
        query = sa.update(DeliveryRow).where(col(DeliveryRow.id) == UUID(delivery_id))
        await session.execute(query.values(next_attempt_at=datetime.now(UTC) - by))


async def test_the_log_goes_back_thirty_days(world: World, receiver: Receiver, queued: Queued) -> None:
    end = await Endpoint.made(world, receiver.url)
    old, waiting, new = [await end.post("/test") for _ in range(3)]
    for delivery in (old, new):
        await attempt(end, delivery["id"])
    async with db.worker() as session:
        ids = [UUID(d["id"]) for d in (old, waiting)]
        long_ago = datetime.now(UTC) - timedelta(days=31)
        await session.execute(sa.update(DeliveryRow).where(col(DeliveryRow.id).in_(ids)).values(created_at=long_ago))
        await sending.forget(session)
    assert {d["id"] for d in await end.deliveries()} == {waiting["id"], new["id"]}


async def test_deleted_meanwhile_nothing_is_written_and_nothing_breaks(
    world: World, receiver: Receiver, queued: Queued
) -> None:
    end = await Endpoint.made(world, receiver.url)
    delivery = await end.post("/test")

    async def delete_first(request: Received, writer: asyncio.StreamWriter) -> None:
        await end.admin.call("DELETE", end.path)
        await receiver._answer(request, writer)

    receiver.answering = delete_first
    await sending.attempt(end.organization, UUID(delivery["id"]), 1)
    async with db.worker() as session:
        assert await session.get(DeliveryRow, UUID(delivery["id"])) is None
        assert await session.get(EndpointRow, UUID(end.id)) is None
    await sending.attempt(end.organization, UUID(delivery["id"]), 1)
    assert len(receiver.received) == 1


async def test_the_log_is_filtered_and_paged(world: World, receiver: Receiver, queued: Queued) -> None:
    end = await Endpoint.made(world, receiver.url)
    sent = [await end.post("/test") for _ in range(3)]
    await attempt(end, sent[0]["id"])
    assert [d["id"] for d in await end.deliveries(status="succeeded")] == [sent[0]["id"]]
    assert await end.deliveries(event_type="asset.created") == []
    page = await end.admin.call("GET", f"{end.path}/deliveries", params={"limit": 2})
    rest = await end.admin.call("GET", f"{end.path}/deliveries", params={"limit": 2, "cursor": page["nextCursor"]})
    assert [d["id"] for d in [*page["deliveries"], *rest["deliveries"]]] == [d["id"] for d in reversed(sent)]
    assert rest["nextCursor"] is None
