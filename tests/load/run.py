"""One run: capacity, half of it for a long time, three times as much for a short one, and what was done in the end."""

import asyncio
import statistics
import sys
import time
from collections import Counter
from contextlib import AsyncExitStack, suppress

import httpx
import psutil

from backend.client import SignumClient
from tests.chaos.comparison import rest
from tests.chaos.installation import Installation
from tests.chaos.issuers import Issuer
from tests.load.arrivals import (
    Sample,
    at_rate,
    back_to_back,
    latencies,
    medians,
    percentile,
    recovered_after,
    statuses,
    usual,
)
from tests.load.traffic import TIMEOUT, Tenant, Traffic
from tests.nodes.stories.comparison import Tables
from tests.support.scratch import scratch
from tests.support.tenants import tenant_of

TENANTS = 8
APPLICATIONS = 64
"""Applications that call, each with its own connections. One pool of all connections takes most of a core to search."""
CLIENTS = 32
"""Clients that call back to back, to find the capacity."""
WARM_UP = 20.0
CAPACITY = 40.0
"""Seconds in which the capacity is counted."""
OVERLOAD, AFTER = 60.0, 40.0
"""Seconds of three times the capacity, and of half of it afterwards."""
RECOVERY = 10.0
"""Seconds within which every call must succeed again."""
SHOWN = 15
"""Seconds after the overload whose medians are shown."""
SLOW = f"no recovery within {RECOVERY:.0f} s"
LOOK = 5.0
"""Seconds between two looks at the memory."""
GROWTH = 1.10
"""How many times its memory in the second quarter of the long traffic the server may have in the last."""
REFUSED = ("429", "503")
DONE = """
  select (select count(*) from parties where organization_id = o.id) as parties,
    (select count(*) from transfers where organization_id = o.id and status = 'confirmed') as transfers
  from organizations o where o.id = %s
"""


class Load:
    """Traffic on a server with its own database and chains."""

    def __init__(self, minutes: float, seed: int) -> None:
        self._seconds, self._seed = minutes * 60, seed
        self.findings: list[str] = []

    async def run(self) -> bool:
        """Run everything; return whether everything is as it should be."""
        self._installation = Installation(scratch("load"), workers=0, own_disk=False)
        await self._installation.start()
        try:
            async with AsyncExitStack() as stack:
                clients = [await stack.enter_async_context(self._client()) for _ in range(APPLICATIONS)]
                tenants = [await self._tenant(number) for number in range(TENANTS)]
                await self._phases(Traffic(clients, tenants))
            await self._compare(tenants)
        finally:
            await self._installation.stop()
        return not self.findings

    def _client(self) -> httpx.AsyncClient:
        limits = httpx.Limits(max_connections=None)
        url = self._installation.url
        return httpx.AsyncClient(base_url=url, timeout=TIMEOUT, limits=limits, trust_env=False, verify=False)

    async def _tenant(self, number: int) -> Tenant:
        client = SignumClient(self._installation.url)
        tenant = await tenant_of(self._installation.database, client)
        return await Tenant.with_asset(Issuer.of(tenant, client, f"{self._seed}:{number}"))

    async def _phases(self, traffic: Traffic) -> None:
        await back_to_back(traffic.call, CLIENTS, WARM_UP, self._seed)
        most = await back_to_back(traffic.call, CLIENTS, CAPACITY, self._seed + 1)
        capacity = sum(one.succeeded for one in most) / CAPACITY
        say(f"capacity: {capacity:.1f} calls a second by {CLIENTS} clients: {seen(most)}")
        half = await self._half(traffic, capacity / 2)
        await self._overload(traffic, capacity, half)

    async def _half(self, traffic: Traffic, rate: float) -> list[Sample]:
        memory: list[float] = []
        watching = asyncio.create_task(self._watch(memory))
        samples = await at_rate(traffic.call, rate, self._seconds, self._seed + 2)
        watching.cancel()
        say(f"half of it for {self._seconds / 60:g} min: {seen(samples)}")
        for kind in sorted({one.kind for one in samples}):
            say(f"  {kind:<14}{latencies([one for one in samples if one.kind == kind])}")
        self._expect(all(one.succeeded for one in samples), "a call failed at half of the capacity")
        quarter = max(1, len(memory) // 4)
        early, late = statistics.median(memory[quarter : 2 * quarter]), statistics.median(memory[-quarter:])
        say(f"  memory of the server: {early:.0f} MB in the second quarter, {late:.0f} MB in the last")
        self._expect(late <= early * GROWTH, "the server's memory grew")
        return samples

    async def _watch(self, memory: list[float]) -> None:
        while True:
            with suppress(psutil.Error):
                memory += [one.memory_full_info().pss / 2**20 for one in self._installation.processes_of("web")]
            await asyncio.sleep(LOOK)

    async def _overload(self, traffic: Traffic, capacity: float, half: list[Sample]) -> None:
        longest = {kind: 2 * seconds for kind, seconds in usual(half).items()}
        began = time.monotonic()
        tide = asyncio.create_task(at_rate(traffic.call, capacity * 2.5, OVERLOAD, self._seed + 3))
        steady = await at_rate(traffic.call, capacity / 2, OVERLOAD + AFTER, self._seed + 4)
        samples, end = [*await tide, *steady], began + OVERLOAD
        during = [one for one in samples if one.at < end]
        refused = [one for one in during if one.status in REFUSED]
        say(f"three times the capacity for {OVERLOAD:.0f} s: {seen(during)}")
        say(f"  sent {1000 * percentile([one.late for one in during], 99):.0f} ms late by the clients (p99)")
        self._expect(all(one.succeeded or one.status in REFUSED for one in during), "neither a success nor 429 or 503")
        self._expect(all(one.has_retry_after for one in refused), "a refusal without Retry-After")
        recovered = recovered_after(samples, end, longest)
        when = "not again" if recovered is None else f"from {recovered:.1f} s later on"
        say(f"  every call succeeds, and 99 of 100 within twice the usual p99 of their kind: {when}")
        say(f"  medians of each second after the overload: {medians(samples, end, 1.0, SHOWN)} ms")
        late = Counter(one.kind for one in samples if one.at >= end and one.seconds > longest.get(one.kind, 0.0))
        say(f"  slower ones after the overload: {dict(late)} of {sum(one.at >= end for one in samples)} calls")
        self._expect(recovered is not None and recovered <= RECOVERY, SLOW)

    async def _compare(self, tenants: list[Tenant]) -> None:
        """Compare what was accepted with what was done."""
        self.findings += [f"not at rest: {line}" for line in await rest(self._installation)]
        tables = Tables(self._installation.database)
        for tenant in tenants:
            (row,) = await asyncio.to_thread(tables.rows, DONE, tenant.issuer.id)
            self._expect(row == {"parties": tenant.parties, "transfers": len(tenant.transfers)}, f"done: {row}")
        transfers = sum(len(tenant.transfers) for tenant in tenants)
        say(f"done: {sum(tenant.parties for tenant in tenants)} parties and {transfers} transfers, as accepted")

    def _expect(self, is_so: bool, finding: str) -> None:
        if not is_so:
            self.findings.append(finding)
            say(f"  finding: {finding}")


def seen(samples: list[Sample]) -> str:
    """Return what clients saw."""
    return f"{len(samples)} calls; {latencies(samples)}; {statuses(samples)}"


def say(text: str) -> None:
    """Print a line of progress."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
