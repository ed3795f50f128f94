"""Memory and time that the guard allows for bodies, per address and in all."""

import asyncio
from typing import Any

import orjson
import pytest
from sqlalchemy.exc import OperationalError

from backend.http.middleware import MAX_CSV, large_size
from backend.limits.concurrency import Holder, Shares
from backend.server import request_bodies
from backend.server.request_bodies import Pace, Room
from backend.server.request_guard import Limits, RequestGuard

LIST = "/v1/orgs/o/assets/a/distributions"
PARTS = 6


class Sender:
    """A request of `PARTS` parts of 10,000 bytes, which never ends."""

    def __init__(self, address: str, path: str = "/v1/auth/login", kind: str = "application/json") -> None:
        self.scope: dict[str, Any] = {
            "type": "http",
            "method": "POST",
            "path": path,
            "headers": [
                (b"content-type", kind.encode()),
                (b"content-length", b"2000000" if path == LIST else b"65536"),
            ],
            "client": (address, 1),
        }
        self.left, self.stopped = PARTS, asyncio.Event()
        self.status, self.headers, self.body = 0, dict[bytes, bytes](), b""

    async def receive(self) -> dict[str, Any]:
        if self.left:
            self.left -= 1
            return {"type": "http.request", "body": b"x" * 10_000, "more_body": True}
        self.stopped.set()
        await asyncio.Event().wait()
        raise AssertionError("never")

    async def send(self, message: Any) -> None:
        self.status = message.get("status", self.status)
        self.headers |= dict(message.get("headers", []))
        self.body += message.get("body", b"")


async def keeping(scope: Any, receive: Any, send: Any) -> None:
    """An application that reads a whole body."""
    while (await receive())["type"] != "http.disconnect":
        continue


async def ended(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_body_bytes_in_memory_are_limited_by_address_and_in_total() -> None:
    guard = RequestGuard(keeping, proxies=[])
    guard.bodies.open = Room(guard.bodies.open.bodies, Shares(90_000, 108_000, 108_000))
    first, second, third = Sender("198.51.100.1"), Sender("198.51.100.1"), Sender("198.51.100.2")
    running = asyncio.create_task(guard(first.scope, first.receive, first.send))
    await first.stopped.wait()
    assert guard.bodies.held == 60_000

    await guard(second.scope, second.receive, second.send)
    assert (second.status, second.left, second.headers[b"retry-after"]) == (429, 2, b"5")
    assert orjson.loads(second.body)["detail"].startswith("Your concurrent requests exceed 90000 bytes")
    await guard(third.scope, third.receive, third.send)
    assert (third.status, third.left, third.headers[b"retry-after"]) == (503, 1, b"5")
    assert third.headers[b"content-type"] == b"application/problem+json"
    assert guard.bodies.held == 60_000

    await ended(running)
    assert (guard.bodies.held, guard.bodies.open.memory.narrow.names) == (0, {})


async def test_body_bytes_are_counted_until_the_response() -> None:
    answering, done = asyncio.Event(), asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        for _ in range(PARTS):
            await receive()
        answering.set()
        await done.wait()

    guard, sender = RequestGuard(app, proxies=[]), Sender("198.51.100.1")
    running = asyncio.create_task(guard(sender.scope, sender.receive, sender.send))
    await answering.wait()
    assert guard.bodies.held == 60_000
    done.set()
    await running
    assert guard.bodies.held == 0


async def test_list_streamed_to_a_file_uses_no_memory() -> None:
    guard, sender = RequestGuard(keeping, proxies=[]), Sender("198.51.100.1", LIST, "text/csv")
    running = asyncio.create_task(guard(sender.scope, sender.receive, sender.send))
    await sender.stopped.wait()
    assert guard.bodies.held == 0
    await ended(running)


async def test_list_that_stalls_is_answered_before_its_deadline() -> None:
    limits = Limits(body_seconds=1_000_000.0, silent_seconds=0.0)
    guard, sender = RequestGuard(keeping, limits, proxies=[]), Sender("198.51.100.1", LIST, "text/csv")
    await guard(sender.scope, sender.receive, sender.send)
    assert sender.status == 408


@pytest.mark.parametrize(("length", "size"), [(b"134217728", MAX_CSV), (None, MAX_CSV), (b"1048576", 0)])
def test_list_declares_its_size_and_has_minutes_at_most(length: bytes | None, size: int) -> None:
    scope = Sender("198.51.100.1", LIST, "text/csv").scope
    scope["headers"] = [h for h in scope["headers"] if h[0] != b"content-length"]
    scope["headers"] += [(b"content-length", length)] if length else []
    assert large_size(scope) == size
    pace = Pace.of(scope, Limits())
    assert pace.whole <= 20 + 512
    assert pace.part <= (20 if size else 20 + 32)


def test_body_of_unknown_length_has_the_small_body_deadline_until_its_sender_is_known() -> None:
    scope = Sender("198.51.100.1").scope
    scope["headers"] = [(b"transfer-encoding", b"chunked")]
    pace = Pace.of(scope, Limits())
    assert (pace.unidentified, pace.whole) == (22, 52)


async def test_large_body_is_a_503_while_the_database_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    async def silent(request: Any) -> Any:
        raise OperationalError("select", {}, OSError())

    monkeypatch.setattr(request_bodies, "holder_of", silent)
    guard, sender = RequestGuard(keeping, proxies=[]), Sender("198.51.100.1")
    sender.scope["headers"] = [(b"content-length", b"2000000"), (b"x-api-key", b"sgn_x")]
    await guard(sender.scope, sender.receive, sender.send)
    assert (sender.status, sender.left) == (503, PARTS)


async def test_credential_lookup_that_ends_after_the_response_counts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, may_end = asyncio.Event(), asyncio.Event()
    reading: list[asyncio.Task[Any]] = []

    async def late(request: Any) -> Holder:
        asked.set()
        await may_end.wait()
        return Holder(("key:1",), ("root",))

    async def app(scope: Any, receive: Any, send: Any) -> None:
        reading.append(asyncio.create_task(receive()))
        await asked.wait()

    monkeypatch.setattr(request_bodies, "holder_of", late)
    guard, sender = RequestGuard(app, proxies=[]), Sender("198.51.100.1")
    sender.scope["headers"] = [(b"content-length", b"2000000"), (b"x-api-key", b"sgn_x")]
    await guard(sender.scope, sender.receive, sender.send)
    may_end.set()
    await reading[0]
    for room in (guard.bodies.open, guard.bodies.known):
        assert (room.bodies.narrow.held, room.memory.narrow.held) == (0, 0)
