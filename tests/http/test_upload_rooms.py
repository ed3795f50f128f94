"""Allocation of the room for files above 1 MiB: between people, root organizations and addresses."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from fastapi import Request

from backend.core import db
from backend.core.errors import TooManyRequests, Unavailable
from backend.distributions import routes
from backend.http import uploads
from backend.http.uploads import Uploads
from backend.limits.concurrency import Holder, Shares
from backend.models import MemberRow
from backend.server.body_callers import holder_of
from backend.users.schemas import Role
from tests.conftest import Actor, World
from tests.http.test_uploads import MEGABYTE, PATIENCE, List, parts, place_of
from tests.support.firm import SEPOLIA, Firm, refused
from tests.support.specimens import pdf

DOCUMENT = pdf(["Marta Lindqvist", "Passport"]) + b"\n" * 2_000_000
LIST = 134
"""Megabytes that a `List` announces."""


class Keyed(List):
    """A list that an API key sends from an address."""

    def __init__(self, api: Any, sender: tuple[Actor, dict[str, str]], path: str, number: int, megabytes: int) -> None:
        actor, key = sender
        super().__init__(api, actor, path, megabytes)
        headers = [pair for pair in self.scope["headers"] if pair[0] != b"cookie"]
        self.scope["headers"] = headers + [(name.encode(), value.encode()) for name, value in key.items()]
        self.scope["client"] = (f"203.0.113.{number}", 1)
        self.left, self.is_whole = megabytes, megabytes == LIST

    async def _receive(self) -> dict[str, Any]:
        if self.is_whole and self.left == 1:
            self.left, self.is_whole = 0, False
            self.begun.set()
            return {"type": "http.request", "body": MEGABYTE, "more_body": False}
        return await super()._receive()


async def begun(one: List, running: asyncio.Task[int]) -> None:
    """Wait until a list has sent what it sends, or was refused."""
    waiting = asyncio.create_task(one.begun.wait())
    await asyncio.wait({waiting, running}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()


@asynccontextmanager
async def sending(*lists: List) -> AsyncIterator[None]:
    """Lists that have arrived as far as they were sent, or were refused; they disconnect at the end."""
    running = [asyncio.create_task(one.run()) for one in lists]
    try:
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*(begun(one, run) for one, run in zip(lists, running, strict=True)))
        yield
    finally:
        for one in lists:
            one.may_end.set()
        await asyncio.gather(*running)


async def sent_document(world: World) -> Any:
    """Send a document of 2 MB for a party of a new organization, and return the response."""
    firm = await Firm.found(world)
    path = f"/identity/parties/{(await firm.party())['id']}/documents?kind=passport"
    headers = {"content-type": "application/pdf"}
    return await firm.admin.call("POST", path, content=DOCUMENT, headers=headers)


@pytest.mark.long
async def test_slow_lists_of_one_person_leave_room_for_other_files(world: World, api: Any) -> None:
    firm, path = await place_of(world)
    keys = [await world.key(firm.id, created_by=firm.admin.user_id) for _ in range(8)]
    lists = [Keyed(api, (firm.admin, key), path, number, 1) for number, key in enumerate(keys)]
    async with sending(*lists):
        assert (await sent_document(world))["kind"] == "passport"


@pytest.mark.long
async def test_files_of_one_person_are_limited_across_keys_and_addresses(
    world: World, api: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm, path = await place_of(world)
    keys = [await world.key(firm.id, created_by=firm.admin.user_id) for _ in range(2)]
    monkeypatch.setattr(api.state.uploads, "room", Shares(140_000_000, 500_000_000, 1_000_000_000))
    first, second = (Keyed(api, (firm.admin, key), path, number, 10) for number, key in enumerate(keys))
    async with sending(first):
        assert await second.run() == 429
    assert not second.begun.is_set()


@pytest.mark.long
async def test_files_of_one_hierarchy_leave_room_for_others(
    world: World, api: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm, path = await place_of(world)
    keys = [await world.key(firm.id) for _ in range(2)]
    monkeypatch.setattr(api.state.uploads, "room", Shares(140_000_000, 140_000_000, 280_000_000))
    first, second = (Keyed(api, (firm.admin, key), path, number, 10) for number, key in enumerate(keys))
    async with sending(first):
        assert await second.run() == 429
        assert (await sent_document(world))["kind"] == "passport"


@pytest.mark.long
@pytest.mark.parametrize("role", [Role.CLIENT, Role.ADMIN])
async def test_file_counts_only_for_the_root_of_the_organization_that_gets_it(
    world: World, api: Any, monkeypatch: pytest.MonkeyPatch, role: Role
) -> None:
    (firm, path), (other, other_path) = [await place_of(world) for _ in range(2)]
    async with db.worker() as session:
        session.add(MemberRow(organization_id=other.id, user_id=firm.admin.user_id, role=role))
    monkeypatch.setattr(api.state.uploads, "room", Shares(140_000_000, 140_000_000, 280_000_000))
    key = await world.key(other.id)
    of_member, of_other = List(api, firm.admin, path, 10), Keyed(api, (other.admin, key), other_path, 1, 10)
    async with sending(of_member), sending(of_other):
        assert of_other.begun.is_set()


async def test_body_of_a_person_counts_for_the_roots_where_they_are_staff(world: World) -> None:
    own, other = await world.organization("Own"), await world.organization("Other")
    staff, client = await world.person(own), await world.person(other, Role.CLIENT)
    async with db.worker() as session:
        session.add(MemberRow(organization_id=other, user_id=staff.user_id, role=Role.CLIENT))

    async def roots(actor: Actor) -> tuple[str, ...]:
        headers = [(b"cookie", actor.cookie.encode())]
        scope = {"type": "http", "method": "GET", "path": "/", "headers": headers, "client": ("203.0.113.1", 1)}
        return (await holder_of(Request(scope))).roots

    assert [await roots(staff), await roots(client)] == [(str(own),), (f"origin:{client.user_id}",)]


@pytest.mark.long
async def test_list_in_processing_leaves_room_for_documents(
    world: World, api: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list has 134 MB, and its lines are not finished."""
    firm, path = await place_of(world)
    started, may_end = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def endless(source: Any, decimals: int) -> None:
        loop.call_soon_threadsafe(started.set)
        may_end.wait()

    monkeypatch.setattr(routes, "of_csv", endless)
    large = Keyed(api, (firm.admin, await world.key(firm.id)), path, 1, LIST)
    async with sending(large):
        try:
            async with asyncio.timeout(PATIENCE):
                await started.wait()
            assert (await sent_document(world))["kind"] == "passport"
        finally:
            may_end.set()


@pytest.mark.long
async def test_list_of_line_ends_is_refused_with_its_first_lines(world: World) -> None:
    firm, path = await place_of(world)
    sent: dict[str, Any] = {"content": b"\n" * 2_000_000, "headers": {"content-type": "text/csv"}}
    query = {"name": "List", "chain_eid": str(SEPOLIA), "dry_run": "true"}
    problem = await refused(firm.admin, "POST", path.removeprefix("/v1"), 422, params=query, **sent)
    assert problem.detail == "1001 of the first 1001 lines are empty. Remove them. The first 100 are listed."
    assert problem.errors[0] == {"pointer": "/recipients/0", "detail": "Line 1: is empty"}


HOLDERS = {
    "person": Holder(("key:2", "user:1", "address:2"), ("root:2",)),
    "address": Holder(("key:2", "user:2", "address:1"), ("root:2",)),
    "root": Holder(("key:2", "user:2", "address:2"), ("root:1",)),
}
ONE = Holder(("key:1", "user:1", "address:1"), ("root:1",))
OTHER = Holder(("key:3", "user:3", "address:3"), ("root:3",))


@pytest.mark.parametrize("same", HOLDERS.values(), ids=HOLDERS)
async def test_one_large_file_of_a_person_address_or_root_is_processed_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, same: Holder
) -> None:
    monkeypatch.setattr(uploads, "MAX_DOCUMENT", 5)
    monkeypatch.setattr(uploads, "WAIT_SECONDS", 0.0)
    own = Uploads(tmp_path, 1_000, 1_000)
    async with own.received(parts(b"x" * 8), 8, ONE):
        with pytest.raises(Unavailable):
            await own.received(parts(b"x" * 8), 8, same).__aenter__()
        async with own.received(parts(b"x" * 8), 8, OTHER), own.received(parts(b"x"), 1, same):
            assert own.room.narrow.held == 17
    assert (own.room.narrow.held, own.room.wide.names) == (0, {})


async def test_file_beyond_the_room_ends_while_it_arrives(tmp_path: Path) -> None:
    own, same = Uploads(tmp_path, 100, 150), HOLDERS["person"]

    async def body() -> AsyncIterator[bytes]:
        yield b"x" * 40
        assert own.room.take(same, 40)
        yield b"x" * 40

    with pytest.raises(TooManyRequests) as refused:
        await own.received(body(), 80, ONE).__aenter__()
    assert refused.value.headers["Retry-After"] == "30"
    own.room.give_back(same, 40)
    assert (own.room.narrow.held, own.room.narrow.names) == (0, {})
