"""Checks of processes that die, hang or restart while requests run."""

import asyncio
import signal
import time
from random import Random

import httpx

from tests.cluster import previous, sharing
from tests.cluster.findings import Differs
from tests.cluster.installation import CHECKOUT, WEB, WORKERS, Cluster
from tests.cluster.layout import WORKED_ON
from tests.cluster.load import Stories, Stream, stories, streaming
from tests.cluster.tenants import Tenants
from tests.nodes.stories.comparison import Tables

NOTICED = 2.0
"""Seconds after which the proxy sends requests to a process that is ready again, as docs/production.md says."""
WITHIN = 30.0
"""Seconds in which the work of a hung worker is taken over."""
RUNNING = "select workflow_uuid, executor_id from dbos.workflow_status where status = 'PENDING' and executor_id like %s"
REVISION = "select version_num from schema_version"
NOTE = "Redis does not respond"


def death(name: str) -> sharing.Check:
    """Return the check of a process that is killed while requests run."""

    async def check(cluster: Cluster, tenants: Tenants) -> str:
        async with stories(cluster, tenants) as running:
            await asyncio.sleep(Random(name).uniform(1.0, 4.0))
            await cluster.end(name, signal.SIGKILL)
            cluster.launch(name)
            ready = asyncio.create_task(cluster.ready(name, seconds=120))
            seen = await running.end(cluster)
        return f"{seen}; {name} was ready again after {await ready:.1f} s"

    return check


async def hang(cluster: Cluster, tenants: Tenants) -> str:
    """The work of a worker that is stopped (SIGSTOP) is taken over by the other one."""
    tables = Tables(cluster.layout.database)
    async with stories(cluster, tenants, eids=(WORKED_ON,)) as running:
        name, runs = await _at_work(cluster, tables)
        began = time.monotonic()
        try:
            while left := [run for run in runs if run in await _runs(tables, cluster.pid(name))]:
                if time.monotonic() - began > WITHIN:
                    raise Differs(f"{name} still has {len(left)} of {len(runs)} runs after {WITHIN:.0f} s")
                await asyncio.sleep(0.2)
            taken = time.monotonic() - began
            seen = await running.end(cluster)
        finally:
            cluster.send(name, signal.SIGCONT)
        await cluster.ready(name, seconds=60)
    return f"{len(runs)} runs of {name} were taken over after {taken:.1f} s; {seen}; {name} is ready again"


async def _at_work(cluster: Cluster, tables: Tables) -> tuple[str, list[str]]:
    """Stop a worker that has work; return its name and its runs."""
    async with asyncio.timeout(60):
        while True:
            for name in WORKERS:
                if await _runs(tables, cluster.pid(name)):
                    cluster.send(name, signal.SIGSTOP)
                    if runs := await _runs(tables, cluster.pid(name)):
                        return name, runs
                    cluster.send(name, signal.SIGCONT)
            await asyncio.sleep(0.05)


async def _runs(tables: Tables, pid: int) -> list[str]:
    rows = await asyncio.to_thread(tables.rows, RUNNING, f"worker-%-{pid}-%")
    return [row["workflow_uuid"] for row in rows]


async def redis(cluster: Cluster, tenants: Tenants) -> str:
    """Without Redis requests continue, and both web processes say so; when it returns they count together again."""
    async with stories(cluster, tenants) as running, streaming(cluster, tenants) as stream:
        await cluster.end("redis", signal.SIGKILL)
        noted = await _noted(cluster, present=True)
        await asyncio.sleep(3)
        cluster.launch("redis")
        gone = await _noted(cluster, present=False)
        seen = await running.end(cluster)
    limits = await sharing.rate_limits(cluster, tenants)
    return f"noted after {noted:.1f} s, gone {gone:.1f} s after its return; {seen}; {stream}; {limits}"


async def _noted(cluster: Cluster, *, present: bool) -> float:
    """Wait until both web processes say, or no longer say, that Redis does not respond; return how long it took."""
    began = time.monotonic()
    async with httpx.AsyncClient(trust_env=False, timeout=5) as http:
        for name in WEB:
            while present is not any(NOTE in note for note in await _notes(http, cluster.layout.url(name))):
                if time.monotonic() - began > WITHIN:
                    raise Differs(f"{name}: whether Redis responds was not noted within {WITHIN:.0f} s")
                # A limit of an address: it makes the process ask Redis.
                await http.post(
                    f"{cluster.layout.url(name)}/v1/auth/login", json={"email": "a@b.example", "password": "x"}
                )
                await asyncio.sleep(0.2)
    return time.monotonic() - began


async def _notes(http: httpx.AsyncClient, url: str) -> list[str]:
    return list((await http.get(f"{url}/v1/ready")).json()["notes"])


async def primary(cluster: Cluster, tenants: Tenants) -> str:
    """The replica takes over from a dead primary, with everything that was accepted before."""
    async with streaming(cluster, tenants) as stream, stories(cluster, tenants) as running:
        await asyncio.sleep(2)
        await asyncio.to_thread(cluster.postgres.kill_primary)
        killed = time.monotonic()
        await asyncio.to_thread(cluster.postgres.promote)
        promoted, keys = time.monotonic() - killed, stream.keys
        while stream.keys < keys + 2:  # noqa: ASYNC110 - the stream continues
            await asyncio.sleep(0.05)
        answered = time.monotonic() - killed
        seen = await running.end(cluster)
    leads = await sharing.leaders(cluster, tenants)
    return f"promoted after {promoted:.1f} s, next answers {answered:.1f} s after the kill; {seen}; {stream}; {leads}"


async def rolling(cluster: Cluster, tenants: Tenants) -> str:
    """Each web process and worker is restarted, one after another, under load."""
    async with streaming(cluster, tenants) as stream, stories(cluster, tenants) as running:
        times = await _restarted(cluster)
        seen = await running.end(cluster)
    _check_faults(stream, running)
    return f"{times}; {seen}; {stream}"


async def upgrade(cluster: Cluster, tenants: Tenants) -> str:
    """The previous version is upgraded under load: the schema first, then one process after another."""
    version, tables = previous.commit(), Tables(cluster.layout.database)
    async with streaming(cluster, tenants) as stream, stories(cluster, tenants) as running:
        (before,) = await asyncio.to_thread(tables.rows, REVISION)
        cluster.version = CHECKOUT
        await cluster.migrate()
        (after,) = await asyncio.to_thread(tables.rows, REVISION)
        times = await _restarted(cluster)
        seen = await running.end(cluster)
    _check_faults(stream, running)
    if before == after:
        raise Differs(f"the version {version} has the newest schema too")
    return f"{version} with {before['version_num']} to {after['version_num']}; {times}; {seen}; {stream}"


async def _restarted(cluster: Cluster) -> str:
    times = []
    for name in (*WEB, *WORKERS):
        began = time.monotonic()
        await cluster.end(name)
        ended = time.monotonic() - began
        cluster.launch(name)
        times.append(f"{name} ended in {ended:.1f} s, ready after {await cluster.ready(name, seconds=300):.1f} s")
        await asyncio.sleep(NOTICED)
    return ", ".join(times)


def _check_faults(stream: Stream, running: Stories) -> None:
    """Raise where clients saw a fault of the server or of the proxy."""
    if faults := stream.faults | {kind: number for kind, number in running.seen.items() if kind >= "500"}:
        raise Differs(f"clients saw {faults}")
