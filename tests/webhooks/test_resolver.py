"""A name server that does not answer takes only the share of the tenant that names it."""

import asyncio
import secrets
import socket
from collections.abc import Iterator
from threading import Condition, Event
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col

from backend.client import ApiProblem
from backend.core import db
from backend.core.runtime import runtime
from backend.engine.fair_partitions import SlowReceivers
from backend.webhooks import egress
from backend.webhooks.models import EndpointRow
from tests.conftest import World
from tests.webhooks.conftest import Endpoint
from tests.webhooks.receiver import Receiver
from tests.webhooks.test_shares import SLOTS, few_slots, flooded

__all__ = ["few_slots"]
PRIVATE = "private.example.com"
LIMIT = 20.0
"""Seconds after which a test gives up."""


class NameServer:
    """Names of tests: one of them is not answered once `is_stuck` is set."""

    def __init__(self) -> None:
        self.tarpit, self.is_stuck = f"tarpit-{secrets.token_hex(4)}.example.com", False
        self.url = f"https://{self.tarpit}/"
        self.asked, self._came = 0, Condition()
        self.may_answer = Event()

    def look_up(self, host: str, port: int) -> list[str]:
        """Replace the system's resolver."""
        if host == self.tarpit and self.is_stuck:
            with self._came:
                self.asked += 1
                self._came.notify_all()
            self.may_answer.wait(LIMIT)
            raise socket.gaierror
        return {self.tarpit: ["93.184.215.14"], PRIVATE: ["10.0.0.1"]}.get(host, ["127.0.0.1"])

    async def came(self, count: int) -> None:
        """Wait for this many lookups without an answer."""
        await asyncio.to_thread(self._wait, count)

    def _wait(self, count: int) -> None:
        with self._came:
            assert self._came.wait_for(lambda: self.asked >= count, LIMIT)


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Iterator[NameServer]:
    """A name server; waiting for it ends quickly."""
    server = NameServer()
    monkeypatch.setattr(egress, "_look_up", server.look_up)
    for name in ("LOOKUP_SECONDS", "RESOLVING_SECONDS"):
        monkeypatch.setattr(egress, name, 0.05)
    yield server
    server.may_answer.set()
    runtime.reset(SlowReceivers)


@pytest.mark.long
async def test_send_keeps_its_slot_until_its_lookup_ends(
    world: World, receiver: Receiver, names: NameServer, few_slots: None
) -> None:
    acme = await world.organization()
    person = await world.person(acme)
    names.is_stuck = True
    await flooded(person, acme, names.url, endpoints=1, each=4)
    await names.came(1 + SLOTS // 4)
    victim = await Endpoint.made(world, f"http://localhost:{receiver.port}/")
    for _ in range(3):
        assert (await victim.settled((await victim.post("/test"))["id"]))["status"] == "succeeded"
    assert names.asked == 1 + SLOTS // 4, "one at the creation, and one for each slot"


async def test_lookup_without_an_answer_fails_the_attempt(
    world: World, names: NameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = await Endpoint.made(world, names.url)
    end_lookup = egress._Lookup.end

    async def answer_late(lookup: egress._Lookup) -> None:
        if lookup.running and not lookup.running.done():
            names.may_answer.set()
        await end_lookup(lookup)

    monkeypatch.setattr(egress._Lookup, "end", answer_late)
    names.is_stuck = True
    done = await end.settled((await end.post("/test"))["id"])
    assert done["failure"] == "The host name did not resolve within 0 seconds"


async def test_lookups_at_creation_are_limited_for_each_caller(
    world: World, names: NameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    acme, other = await world.organization(), await world.organization()
    person, neighbour = await world.person(acme), await world.person(other)
    names.is_stuck = True
    await flooded(person, acme, names.url, endpoints=egress.CHECKS_EACH + 2, each=0)
    assert names.asked == egress.CHECKS_EACH
    with pytest.raises(ApiProblem, match="not public"):
        await neighbour.call("POST", f"/orgs/{other}/webhooks", json={"url": f"https://{PRIVATE}/"})


async def test_change_with_a_slow_name_server_locks_no_endpoint(
    world: World, receiver: Receiver, names: NameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = await Endpoint.made(world, receiver.url)
    monkeypatch.setattr(egress, "RESOLVING_SECONDS", LIMIT)
    names.is_stuck = True
    change = asyncio.create_task(end.patch(url=names.url))
    await names.came(1)
    async with db.worker() as session:
        row = sa.select(EndpointRow).where(col(EndpointRow.id) == UUID(end.id)).with_for_update(nowait=True)
        assert (await session.scalars(row)).one().url == receiver.url
    assert (await end.settled((await end.post("/test"))["id"]))["status"] == "succeeded"
    names.may_answer.set()
    assert (await change)["url"] == names.url
