"""Large reads use a replica, which never shows less than the primary had when the read began."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import httpx
import pytest

from backend.core import replica
from backend.core.readiness import readiness
from backend.core.runtime import runtime
from backend.core.settings import settings
from backend.server.runtime import local_transport
from tests.conftest import HOME, Actor, World
from tests.support.replica_server import ReplicaServer


@pytest.fixture(scope="module")
def server(database_url: str) -> Iterator[ReplicaServer]:
    replica_server = ReplicaServer(HOME / "pg")
    replica_server.start()
    yield replica_server
    replica_server.stop()


@pytest.fixture
def reads(api: object, server: ReplicaServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[replica.Reads]:
    monkeypatch.setattr(settings(), "database_url_replica", server.url)
    runtime.reset(replica.Reads)
    yield runtime.part(replica.Reads)
    runtime.reset(replica.Reads)
    if replica.NOTE in readiness().notes:
        readiness().notes.remove(replica.NOTE)


@pytest.fixture
async def firm(world: World) -> UUID:
    return await world.organization("Harbour Fund")


@pytest.fixture
async def admin(world: World, firm: UUID) -> Actor:
    return await world.person(firm)


async def written_and_read(admin: Actor, firm: UUID, number: int) -> None:
    """Create a party; a search and an export of that moment have it."""
    body = {"organization_id": str(firm), "name": f"Nordwind {number}", "country": "DEU"}
    made = await admin.call("POST", "/identity/parties", json=body)
    found = await admin.call("GET", f"/orgs/{firm}/search", params={"q": body["name"]})
    assert [one["id"] for one in found["results"]] == [made["id"]]


async def test_search_right_after_a_write_finds_it_on_the_replica(
    admin: Actor, firm: UUID, reads: replica.Reads
) -> None:
    for number in range(20):
        await written_and_read(admin, firm, number)
    assert reads.replica == 20
    assert reads.primary == 0


async def test_export_reads_from_the_replica(api: Any, admin: Actor, firm: UUID, reads: replica.Reads) -> None:
    for number in range(3):
        await written_and_read(admin, firm, number)
    before = reads.replica
    async with httpx.AsyncClient(transport=local_transport(api), base_url="http://test/v1") as http:
        text = (await http.get(f"/orgs/{firm}/audit.csv", headers={"cookie": admin.cookie})).text
    assert text.count("party.created") == 3
    assert reads.replica > before


async def test_replica_that_is_behind_is_not_read(
    admin: Actor, firm: UUID, reads: replica.Reads, server: ReplicaServer
) -> None:
    server.hold(held=True)
    try:
        await written_and_read(admin, firm, 1)
        assert reads.replica == 0
        assert replica.NOTE in readiness().notes
    finally:
        server.hold(held=False)
    reads.paused_at = None
    await written_and_read(admin, firm, 2)
    assert reads.replica == 1
    assert replica.NOTE not in readiness().notes


async def test_replica_that_hangs_is_not_read(
    admin: Actor, firm: UUID, reads: replica.Reads, server: ReplicaServer
) -> None:
    await written_and_read(admin, firm, 1)
    with server.hanging():
        for number in (2, 3):
            await written_and_read(admin, firm, number)
    assert (reads.replica, reads.primary) == (1, 2)


async def test_replica_that_was_promoted_or_died_is_not_read(
    admin: Actor, firm: UUID, reads: replica.Reads, server: ReplicaServer
) -> None:
    server.promote()
    await written_and_read(admin, firm, 1)
    server.end()
    reads.paused_at = None
    await written_and_read(admin, firm, 2)
    assert (reads.replica, reads.primary) == (0, 2)
