"""Files above 1 MiB: who may send them, how many bytes are held, and where."""

import asyncio
import os
import re
import stat
import tracemalloc
from collections.abc import AsyncIterator
from itertools import product
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
import sqlalchemy as sa
from limits import RateLimitItemPerMinute

from backend import db, runtime, uploads
from backend.auth import rate_limit
from backend.errors import PayloadTooLarge, TooManyRequests, Unavailable
from backend.middleware import MAX_BODY, max_bytes
from backend.quota import Quota
from backend.settings import settings
from backend.uploads import Uploads
from tests.auth.test_slow_bodies import Upload
from tests.conftest import Actor, World
from tests.firm import SEPOLIA
from tests.issuance import Issuance

MEGABYTE = b"x" * 1_000_000
PATIENCE = 60
QUERY = f"name=List&chain_eid={SEPOLIA}".encode()


class List(Upload):
    """A list of recipients that announces 134 MB, sends some megabytes and stops until it is told to go on."""

    def __init__(self, api: Any, actor: Actor, path: str, megabytes: int = 0, query: bytes = QUERY) -> None:
        super().__init__(api, actor, path, "text/csv")
        self.scope["query_string"] = query
        self.scope["headers"].append((b"content-length", b"134000000"))
        self.left = megabytes

    async def _receive(self) -> dict[str, Any]:
        if self.left:
            self.left -= 1
            return {"type": "http.request", "body": MEGABYTE, "more_body": True}
        self.begun.set()
        await self.may_end.wait()
        return {"type": "http.disconnect"}


async def place_of(world: World) -> tuple[Issuance, str]:
    """A firm, and the path of distributions of its asset."""
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset()
    return firm, f"/v1{firm.base}/assets/{asset['id']}/distributions"


async def test_list_without_a_valid_target_is_refused_unread(world: World, api: Any) -> None:
    firm, path = await place_of(world)
    elsewhere = path.replace(path.split("/")[-2], str(uuid4()))
    for wrong, query, status in (
        (elsewhere, QUERY, 404),
        (path.replace(path.split("/")[-2], "x"), QUERY, 404),
        (path, b"name=List&chain_eid=99999", 400),
        (path, b"name=List", 400),
        (path, b"chain_eid=40161", 400),
    ):
        upload = List(api, firm.admin, wrong, query=query)
        async with asyncio.timeout(PATIENCE):
            assert await upload.run() == status
        assert not upload.begun.is_set()


def test_files_are_larger_for_exactly_the_types_that_operations_take(api: Any) -> None:
    """Those operations look up the credential before they read a byte; no other body may be so large."""
    taken = {
        (re.sub(r"{\w+}", "x", route.path), kind)
        for route in api.routes
        for kind in getattr(getattr(route, "endpoint", None), "__takes__", ())
    }
    kinds = {kind for _, kind in taken} | {"application/json", "text/csvx", "image/gif", ""}
    for path, kind in product({path for path, _ in taken}, kinds):
        scope = {"method": "POST", "path": path, "headers": [(b"content-type", kind.encode())]}
        assert (max_bytes(scope) > MAX_BODY) is ((path, kind) in taken), (path, kind)


async def test_refused_list_counts_against_the_rate_limit_once(
    world: World, api: Any, limits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    path = f"/v1{firm.base}/assets/{uuid4()}/distributions"
    monkeypatch.setitem(rate_limit.PER_PRINCIPAL, "testnet", RateLimitItemPerMinute(2))
    admin = await world.person(UUID(firm.base.rpartition("/")[2]))
    assert [await List(api, admin, path).run() for _ in range(3)] == [404, 404, 429]


async def test_document_for_an_unknown_party_is_refused_unread(world: World, api: Any) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    upload = Upload(api, firm.admin, f"/v1/identity/parties/{uuid4()}/documents", "application/pdf")
    async with asyncio.timeout(PATIENCE):
        assert await upload.run() == 404
    assert not upload.begun.is_set()


async def test_file_for_an_operation_without_files_is_limited_to_a_megabyte(world: World, api: Any) -> None:
    admin = await world.person(await world.organization())
    upload = Upload(api, admin, f"/v1/identity/parties/{uuid4()}/verify", "application/pdf")
    upload._pieces = [b"x" * 1_048_576, b"x"]
    upload.may_end.set()
    assert await upload.run() == 413


async def test_unfinished_list_is_held_in_a_file_and_counted(
    world: World, api: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    firm, path = await place_of(world)
    own = api.state.uploads
    monkeypatch.setattr(own, "folder", tmp_path)
    monkeypatch.setattr(own, "quota", Quota(200_000_000, 300_000_000))
    upload = List(api, firm.admin, path, megabytes=60)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        running = asyncio.create_task(upload.run())
        async with asyncio.timeout(PATIENCE):
            await upload.begun.wait()
        held = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert held < 20_000_000
    assert own.quota.held == 134_000_000
    assert os.listdir(tmp_path) == []

    second = List(api, firm.admin, path)
    assert await second.run() == 429
    assert not second.begun.is_set()
    other, elsewhere = await place_of(world)
    third = List(api, other.admin, elsewhere)
    third.scope["client"] = ("198.51.100.7", 1)
    own.quota.in_all = 200_000_000
    assert await third.run() == 503
    assert not third.begun.is_set()

    upload.may_end.set()
    await running
    assert (own.quota.held, own.quota.names) == (0, {})


async def parts(*given: bytes) -> AsyncIterator[bytes]:
    for part in given:
        yield part


async def test_file_has_no_name_and_is_its_owners_only(tmp_path: Path) -> None:
    own = Uploads(tmp_path, 1_000, 1_000)
    async with own.received(parts(b"a" * 10, b"b"), 11, "key:1", "198.51.100.7") as upload:
        found = os.fstat(upload.file.fileno())
        assert (stat.S_IMODE(found.st_mode), found.st_nlink) == (0o600, 0)
        assert (upload.size, upload.read()) == (11, b"a" * 10 + b"b")
    assert own.quota.held == 0


async def test_bytes_count_by_principal_by_address_and_in_all(tmp_path: Path) -> None:
    own = Uploads(tmp_path, 100, 150)
    async with own.received(parts(), 80, "key:1", "198.51.100.7"):
        for principal, address in (("key:1", "198.51.100.8"), ("key:2", "198.51.100.7")):
            with pytest.raises(TooManyRequests) as refused:
                await own.received(parts(), 30, principal, address).__aenter__()
            assert refused.value.headers["Retry-After"] == "30"
        with pytest.raises(Unavailable) as full:
            await own.received(parts(), 80, "key:2", "198.51.100.8").__aenter__()
        assert full.value.headers["Retry-After"] == "30"
        with pytest.raises(PayloadTooLarge):
            await own.received(parts(), 101, "key:2", "198.51.100.8").__aenter__()
        assert own.quota.held == 80
    assert (own.quota.held, own.quota.names) == (0, {})


async def test_files_beyond_the_processed_bytes_wait_for_their_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "PROCESSED", 10)
    own = Uploads(tmp_path, 1_000, 1_000)
    most = 0

    async def send(number: int) -> None:
        nonlocal most
        async with own.received(parts(b"x" * 8), 8, f"key:{number}", f"198.51.100.{number}"):
            most = max(most, own._processed)
            await asyncio.to_thread(os.getpid)  # the others get that far meanwhile

    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*(send(number) for number in range(5)))
    assert (most, own._processed, own.quota.held) == (8, 0, 0)
    async with own.received(parts(b"x" * 8), 8, "key:1", "198.51.100.7"):
        monkeypatch.setattr(uploads, "WAIT_SECONDS", 0.0)
        with pytest.raises(Unavailable):
            await own.received(parts(b"x" * 8), 8, "key:2", "198.51.100.8").__aenter__()
    assert (own._processed, own.quota.held) == (0, 0)


async def test_disk_that_is_full_is_a_503(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(dir: Path) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(uploads.tempfile, "TemporaryFile", full)
    own = Uploads(tmp_path, 1_000, 1_000)
    with pytest.raises(Unavailable):
        await own.received(parts(b"x"), 1, "key:1", "198.51.100.7").__aenter__()
    assert own.quota.held == 0


async def test_large_list_is_taken_once_and_its_answer_replayed(world: World, api: Any) -> None:
    firm, path = await place_of(world)
    text = "\n".join(f"0x{n:040x},{n}" for n in range(1, 24_001))
    assert len(text) > 1_048_576
    headers = firm.key | {"content-type": "text/csv", "idempotency-key": "one"}
    params = {"name": "List", "chain_eid": str(SEPOLIA)}
    transport = runtime.local_transport(api)
    async with httpx.AsyncClient(transport=transport, base_url=settings().origin, timeout=PATIENCE) as http:
        made = await http.post(path, content=text, headers=headers, params=params)
        assert made.status_code == 201, made.text
        assert made.json()["total_recipients"] == 24_000
        other = await http.post(path, content=f"{text}\n", headers=headers, params=params)
        assert other.status_code == 422
        async with db.worker() as session:
            await session.execute(
                sa.text("update assets set status = 'failed' where id = :id"), {"id": path.split("/")[-2]}
            )
        again = await http.post(path, content=text, headers=headers, params=params)
    assert (again.status_code, again.json()["id"]) == (201, made.json()["id"])
    assert again.headers["idempotency-replayed"] == "true"
