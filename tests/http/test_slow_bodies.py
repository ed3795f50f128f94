"""A slow sender holds a task, but no database connection."""

import asyncio
from typing import Any

import pytest

from backend.core.connections import pools
from backend.core.settings import settings
from tests.conftest import Actor, World

CONNECTIONS = pools.sizes().most("app")
PATIENCE = 60
"""Seconds; a request that waits for a connection gives up after 30."""


class Upload:
    """A request whose body starts and continues only on command."""

    def __init__(self, api: Any, actor: Actor, path: str, kind: str = "application/json") -> None:
        self.api, self.begun, self.may_end = api, asyncio.Event(), asyncio.Event()
        host = settings().origin.partition("://")[2]
        headers = {"host": host, "origin": settings().origin, "cookie": actor.cookie, "content-type": kind}
        self.scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http",
            "path": path, "raw_path": path.encode(), "root_path": "", "query_string": b"",
            "headers": [(k.encode(), v.encode()) for k, v in headers.items()],
            "client": ("127.0.0.1", 1), "server": ("localhost", 80),
        }  # fmt: skip
        self.status = 0
        self._pieces = [b'{"label": ', b'"Slow"}']

    async def run(self) -> int:
        """Send it and return the response's status."""
        await self.api(self.scope, self._receive, self._send)
        return self.status

    async def _receive(self) -> dict[str, Any]:
        if len(self._pieces) == 2:
            return {"type": "http.request", "body": self._pieces.pop(0), "more_body": True}
        self.begun.set()
        await self.may_end.wait()
        return {"type": "http.request", "body": self._pieces.pop(0), "more_body": False}

    async def _send(self, message: dict[str, Any]) -> None:
        self.status = message.get("status", self.status)


@pytest.mark.parametrize(
    ("path", "kind", "status"),
    [
        ("/v1/orgs/{org}/wallets", "application/json", 201),
        ("/v1/oauth/token", "application/x-www-form-urlencoded", 400),
        ("/v1/auth/login", "application/json", 422),
    ],
)
async def test_slow_uploads_do_not_block_other_requests(
    world: World, api: Any, path: str, kind: str, status: int
) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    uploads = [Upload(api, admin, path.format(org=acme), kind) for _ in range(CONNECTIONS + 1)]
    running = [asyncio.create_task(upload.run()) for upload in uploads]
    try:
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*(upload.begun.wait() for upload in uploads))
            assert (await admin.call("GET", f"/orgs/{acme}"))["id"] == str(acme)
    finally:
        for upload in uploads:
            upload.may_end.set()
        answers = await asyncio.gather(*running)
    assert answers == [status] * (CONNECTIONS + 1)


async def test_body_without_a_credential_is_read_up_to_its_limit(world: World, api: Any) -> None:
    """A byte above a megabyte is a 413, from any sender."""
    admin = await world.person(await world.organization())
    upload = Upload(api, admin, "/v1/orgs/x/wallets")
    upload._pieces = [b"x" * 1_048_576, b"x"]
    upload.may_end.set()
    upload.scope["headers"] = [(k, v) for k, v in upload.scope["headers"] if k != b"cookie"]
    assert await upload.run() == 413


async def test_file_of_a_stranger_is_not_read(world: World, api: Any) -> None:
    """A file can be much larger than other bodies, so the credential is checked first."""
    admin = await world.person(await world.organization())
    upload = Upload(api, admin, f"/v1/identity/parties/{admin.user_id}/documents", "application/pdf")
    upload.scope["headers"] = [(k, v) for k, v in upload.scope["headers"] if k != b"cookie"]
    async with asyncio.timeout(PATIENCE):
        assert await upload.run() == 401
    assert not upload.begun.is_set()
