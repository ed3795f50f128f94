"""Attempts: signed, bounded, retried, given up."""

import asyncio
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from backend.core.settings import settings
from backend.webhooks import egress, rules
from tests.conftest import World
from tests.support.certificate import self_signed, serving, trusting
from tests.webhooks.conftest import Clock, Endpoint, Queued, attempt
from tests.webhooks.receiver import Received, Receiver


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """The operator allows receivers on this machine explicitly, so their responses are stored."""
    monkeypatch.setattr(settings(), "webhook_loopback", True)


async def test_response_of_a_local_service_is_not_stored(world: World, receiver: Receiver) -> None:
    receiver.body, receiver.status = b"secret of a local service", 500
    end = await Endpoint.made(world, receiver.url)
    accepted = await end.post("/test")
    await receiver.came()
    done = await end.settled(accepted["id"])
    assert (done["response_status"], done["response_body"]) == (500, None)


async def test_delivery_arrives_signed_for_its_receiver(world: World, receiver: Receiver, kept: None) -> None:
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
        "succeeded", 1, 200, None,
    )  # fmt: skip
    assert (done["event_id"], done["failure"], done["next_attempt_at"]) == (got.event, None, None)
    assert (await end.get())["last_success_at"] == done["attempted_at"]


async def test_endpoint_is_disabled_after_ten_scheduled_attempts(
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


async def test_endpoint_that_sometimes_answers_stays_enabled(
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


async def test_response_410_disables_the_endpoint_immediately(world: World, receiver: Receiver) -> None:
    end = await Endpoint.made(world, receiver.url)
    receiver.status = 410
    done = await end.settled((await end.post("/test"))["id"])
    assert (done["status"], done["attempt"], done["next_attempt_at"]) == ("failed", 1, None)
    now = await end.get()
    assert (now["status"], now["disabled_reason"]) == ("disabled", "gone")
    assert len(receiver.received) == 1


async def test_redirect_response_is_not_followed(world: World, receiver: Receiver) -> None:
    async with Receiver() as elsewhere:
        end = await Endpoint.made(world, receiver.url)
        receiver.status, receiver.headers = 307, f"location: {elsewhere.url}\r\n"
        done = await end.settled((await end.post("/test"))["id"])
        assert (done["status"], done["response_status"]) == ("pending", 307)
        assert done["failure"] == "Answered 307; redirects are not followed"
        assert elsewhere.received == []


async def test_receiver_that_answers_late_counts_as_silent(
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


async def test_endless_response_body_is_cut_without_affecting_the_result(
    world: World, receiver: Receiver, queued: Queued, monkeypatch: pytest.MonkeyPatch, kept: None
) -> None:
    monkeypatch.setattr(egress, "BODY_SECONDS", 0.2)
    end, held = await Endpoint.made(world, receiver.url), asyncio.Event()

    async def endless(request: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 {receiver.status} Any\r\n\r\n".encode())
        while True:
            writer.write(b"\0\xff" * 10_000)
            await writer.drain()

    async def dripping(request: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 500 Error\r\ncontent-length: 1000\r\n\r\nnearly")
        await held.wait()

    receiver.answering = endless
    done = await attempt(end, (await end.post("/test"))["id"])
    assert (done["status"], done["response_body"]) == ("succeeded", None), "of a success, no body is kept"
    receiver.status = 500
    done = await attempt(end, (await end.post("/test"))["id"])
    assert (done["status"], set(done["response_body"])) == ("pending", {"\ufffd"})
    assert egress.BODY_BYTES - 3 < len(done["response_body"].encode()) <= egress.BODY_BYTES
    receiver.answering = dripping
    done = await attempt(end, (await end.post("/test"))["id"])
    assert (done["status"], done["response_body"]) == ("pending", "nearly")
    held.set()


async def test_unreachable_or_malformed_receiver_fails_with_a_reason(
    world: World, receiver: Receiver, queued: Queued
) -> None:
    end = await Endpoint.made(world, receiver.url)

    async def nonsense(request: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example.com ESMTP\r\n")

    receiver.answering = nonsense
    assert (await attempt(end, (await end.post("/test"))["id"]))["failure"].startswith("The answer was not HTTP")
    await end.patch(url="http://127.0.0.1:1024/")
    assert (await attempt(end, (await end.post("/test"))["id"]))["failure"].startswith("The connection failed: ")
    await end.patch(url=f"https://127.0.0.1:{receiver.port}/")
    assert (await attempt(end, (await end.post("/test"))["id"]))["failure"] == "TLS failed"
    await end.patch(url="https://nowhere.invalid/")
    assert (await attempt(end, (await end.post("/test"))["id"]))["failure"] == "The host name does not resolve"


async def test_host_name_is_resolved_and_checked_at_every_send(
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
        assert done["failure"] == "rebinds.example.com resolves to an address that is not public; nothing was sent"
        assert asked == ["rebinds.example.com"] * looked
    assert receiver.received == []


async def test_connection_uses_the_checked_address_instead_of_the_name(
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


async def test_receiver_with_an_untrusted_certificate_receives_nothing(
    world: World, queued: Queued, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate, refused = self_signed(tmp_path), "The certificate was not accepted"
    async with Receiver(tls=serving(certificate)) as receiver:
        end = await Endpoint.made(world, f"https://localhost:{receiver.port}/")
        assert (await attempt(end, (await end.post("/test"))["id"]))["failure"].startswith(refused)
        monkeypatch.setattr(egress, "_tls", lambda: trusting(certificate))
        await end.patch(url=f"https://127.0.0.1:{receiver.port}/")
        failure = (await attempt(end, (await end.post("/test"))["id"]))["failure"]
        assert failure.startswith(refused), "it is for another name"
        assert receiver.received == []
        await end.patch(url=f"https://localhost:{receiver.port}/")
        assert (await attempt(end, (await end.post("/test"))["id"]))["status"] == "succeeded"
