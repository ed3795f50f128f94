"""Files above 1 MiB: who can send them, how many bytes are held, and where."""

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

from backend.core import db
from backend.core.errors import PayloadTooLarge, TooManyRequests, Unavailable
from backend.core.settings import settings
from backend.http import uploads
from backend.http.middleware import MAX_BODY, max_bytes
from backend.http.uploads import Uploads
from backend.limits import rate_limits
from backend.limits.concurrency import Holder, Shares
from backend.server import runtime
from tests.conftest import Actor, World
from tests.http.test_slow_bodies import Upload
from tests.support.firm import SEPOLIA
from tests.support.issuance import Issuance

MEGABYTE = b"x" * 1_000_000
PATIENCE = 60
QUERY = f"name=List&chain_eid={SEPOLIA}".encode()


class List(Upload):
    """A list of recipients that announces 134 MB, sends some megabytes and pauses until a command."""

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


@pytest.mark.long
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


def test_file_limit_applies_only_to_types_the_operations_accept(api: Any) -> None:
    """Those operations look up the credential before they read a byte; no other body can be so large."""
    taken = {
        (re.sub(r"{\w+}", "x", route.path), kind)
        for route in api.routes
        for kind in getattr(getattr(route, "endpoint", None), "__takes__", ())
    }
    kinds = {kind for _, kind in taken} | {"application/json", "text/csvx", "image/gif", ""}
    for path, kind in product({path for path, _ in taken}, kinds):
        scope = {"method": "POST", "path": path, "headers": [(b"content-type", kind.encode())]}
        assert (max_bytes(scope) > MAX_BODY) is ((path, kind) in taken), (path, kind)


@pytest.mark.long
async def test_refused_list_counts_once_toward_the_rate_limit(
    world: World, api: Any, limits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    path = f"/v1{firm.base}/assets/{uuid4()}/distributions"
    monkeypatch.setitem(rate_limits.PER_PRINCIPAL, "testnet", RateLimitItemPerMinute(2))
    admin = await world.person(UUID(firm.base.rpartition("/")[2]))
    assert [await List(api, admin, path).run() for _ in range(3)] == [404, 404, 429]


@pytest.mark.long
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


@pytest.mark.long
async def test_unfinished_list_is_stored_in_a_file_and_counted(
    world: World, api: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    firm, path = await place_of(world)
    own = api.state.uploads
    monkeypatch.setattr(own, "folder", tmp_path)
    monkeypatch.setattr(own, "room", Shares(180_000_000, 180_000_000, 300_000_000))
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
    assert own.room.narrow.held == 60_000_000
    assert os.listdir(tmp_path) == []

    second = List(api, firm.admin, path)
    assert await second.run() == 429
    assert not second.begun.is_set()
    other, elsewhere = await place_of(world)
    third = List(api, other.admin, elsewhere)
    third.scope["client"] = ("198.51.100.7", 1)
    own.room.narrow.in_all = 180_000_000
    assert await third.run() == 503
    assert not third.begun.is_set()

    upload.may_end.set()
    await running
    assert (own.room.narrow.held, own.room.narrow.names) == (0, {})


async def parts(*given: bytes) -> AsyncIterator[bytes]:
    for part in given:
        yield part


def holder(number: int) -> Holder:
    return Holder((f"user:{number}",), (f"root:{number}",))


async def test_upload_file_has_no_name_and_is_private(tmp_path: Path) -> None:
    own = Uploads(tmp_path, 1_000, 1_000)
    async with own.received(parts(b"a" * 10, b"b"), 11, holder(1)) as upload:
        found = os.fstat(upload.file.fileno())
        assert (stat.S_IMODE(found.st_mode), found.st_nlink) == (0o600, 0)
        assert (upload.size, upload.read()) == (11, b"a" * 10 + b"b")
    assert own.room.narrow.held == 0


async def test_upload_bytes_count_by_key_person_address_root_and_in_total(tmp_path: Path) -> None:
    own = Uploads(tmp_path, 100, 300)
    full = Holder(("key:1", "user:1", "address:1"), ("root:1",))
    async with own.received(parts(b"x" * 80), 80, full):
        for name in full.names:
            with pytest.raises(TooManyRequests) as refused:
                await own.received(parts(), 30, Holder((name, "other"), ("root:2",))).__aenter__()
            assert refused.value.headers["Retry-After"] == "30"
        with pytest.raises(TooManyRequests):
            await own.received(parts(), 80, Holder(("user:2",), ("root:1",))).__aenter__()
        own.room.narrow.in_all = 150
        with pytest.raises(Unavailable) as crowded:
            await own.received(parts(), 80, holder(2)).__aenter__()
        assert crowded.value.headers["Retry-After"] == "30"
        with pytest.raises(PayloadTooLarge):
            await own.received(parts(), 101, holder(2)).__aenter__()
        assert own.room.narrow.held == 80
    assert (own.room.narrow.held, own.room.narrow.names, own.room.wide.names) == (0, {}, {})


async def test_slow_upload_holds_only_the_bytes_that_arrived(tmp_path: Path) -> None:
    own = Uploads(tmp_path, 100, 100)

    async def slow() -> AsyncIterator[bytes]:
        yield b"x"
        assert own.room.narrow.held == 1
        async with own.received(parts(b"x" * 90), 90, holder(2)) as other:
            assert other.size == 90

    async with own.received(slow(), 100, holder(1)) as upload:
        assert upload.size == 1


@pytest.mark.parametrize(("size", "most"), [(2, 2), (8, 1)])
async def test_uploads_above_the_processing_limit_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, most: int
) -> None:
    monkeypatch.setattr(uploads, "MAX_DOCUMENT", 5)
    own, running, seen = Uploads(tmp_path, 1_000, 1_000), 0, 0

    async def send() -> None:
        nonlocal running, seen
        async with own.received(parts(b"x" * size), size, holder(1)):
            running += 1
            seen = max(seen, running)
            await asyncio.to_thread(os.getpid)  # the others reach that point in the meantime
            running -= 1

    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*(send() for _ in range(5)))
    assert (seen, running, own.room.narrow.held) == (most, 0, 0)


async def test_full_disk_is_a_503(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(dir: Path) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(uploads.tempfile, "TemporaryFile", full)
    own = Uploads(tmp_path, 1_000, 1_000)
    with pytest.raises(Unavailable):
        await own.received(parts(b"x"), 1, holder(1)).__aenter__()
    assert own.room.narrow.held == 0


@pytest.mark.long
async def test_large_list_is_accepted_once_and_its_response_replayed(world: World, api: Any) -> None:
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
