"""`/v1/ready` reports what currently prevents the process from its work."""

import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from backend.core.runtime import runtime
from backend.core.settings import Settings, settings
from backend.engine import dbos_internals, progress, queue_wakeup
from backend.engine.progress import Progress
from backend.engine.queue_wakeup import Wakeups
from backend.server import health_port
from backend.server import runtime as server
from backend.status import checks
from backend.status.checks import Checks
from tests.support.server import free_port


@pytest.fixture(autouse=True)
def unchecked(api: Any) -> Iterator[None]:
    """No results are cached."""
    runtime.reset(Checks)
    yield
    runtime.reset(Checks)


async def ready(api: Any) -> tuple[int, list[str]]:
    async with httpx.AsyncClient(transport=server.local_transport(api), base_url="http://signum") as client:
        answer = await client.get("/v1/ready")
    return answer.status_code, answer.json()["faults"]


async def test_working_process_is_ready(api: Any) -> None:
    assert await ready(api) == (200, [])


async def test_full_disk_is_not_ready(api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings(), "min_free_mib", 10**9)
    status, (fault,) = await ready(api)
    assert status == 503
    assert fault.startswith("The disk of the data folder is full: ")


async def test_engine_without_progress_is_not_ready(api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = runtime.part(Progress)
    monkeypatch.setattr(seen, "renewed_at", time.monotonic() - 60)
    monkeypatch.setattr(seen, "obstacle", "the queue chain is not served")
    status, (fault,) = await ready(api)
    assert status == 503
    assert fault == "The workflow engine has made no progress for 60 s: the queue chain is not served."


async def test_event_loop_that_hangs_is_no_progress(api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.1)
    assert await progress.obstacle() is None
    loop = dbos_internals.loop()
    assert loop is not None
    loop.call_soon_threadsafe(time.sleep, 0.5)
    assert await progress.obstacle() == "the event loop of the workflows does not respond"


async def test_queue_whose_poll_hangs_is_no_progress(api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    began = time.monotonic() - progress.LONGEST_POLL - 1
    monkeypatch.setitem(runtime.part(Wakeups).polls, "stuck", began)
    assert queue_wakeup.hanging(progress.LONGEST_POLL) == ["stuck"]
    assert await progress.obstacle() == "the queue stuck is not served"


async def test_worker_answers_on_its_health_port(api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    async with (
        health_port.serving(Settings(worker_health_port=port)),
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client,
    ):
        assert (await client.get("/v1/health")).json() == {"status": "ok"}
        answer = await client.get("/v1/ready")
        assert (answer.status_code, answer.json()["ready"]) == (200, True)
        monkeypatch.setattr(settings(), "min_free_mib", 10**9)
        monkeypatch.setattr(checks, "FRESH", 0.0)
        answer = await client.get("/v1/ready")
        assert (answer.status_code, len(answer.json()["faults"])) == (503, 1)
        assert (await client.get("/v1/orgs")).status_code == 404
