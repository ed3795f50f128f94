"""Requests that meet faults: stories of an issuer, and a stream of small requests, both through the proxy."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import uuid4

import httpx
import psycopg

from tests.chaos.comparison import Node, differences, unfinished
from tests.chaos.issuers import Issuer, Receiver
from tests.cluster.findings import Differs
from tests.cluster.installation import Cluster
from tests.cluster.layout import WORKED_ON
from tests.cluster.tenants import Counted, Tenant, Tenants
from tests.nodes.stories.comparison import Tables
from tests.support.firm import SEPOLIA
from tests.support.node_pool.anvil import Anvil
from tests.support.server import free_port

EACH = 2
"""Stories on each chain in a check."""
REST = 150.0
"""Seconds until all transactions and deliveries have ended."""
EVERY = 0.15
"""Seconds between two requests of the stream."""
PASSING = ("502", "503", "504")


@dataclass
class Stories:
    """The stories of a check, while they run."""

    issuer: Issuer
    receiver: Receiver
    seen: Counter[str]
    tasks: list[asyncio.Task[None]]

    async def end(self, cluster: Cluster) -> str:
        """Wait for all, compare everything, and return what was seen."""
        ends = await asyncio.gather(*self.tasks, return_exceptions=True)
        lines = [str(end) or type(end).__name__ for end in ends if isinstance(end, BaseException)]
        lines += await _rest(cluster)
        lines += await compared(cluster, self.issuer, self.receiver)
        if lines:
            raise Differs("; ".join(lines))
        seen = ", ".join(f"{number} {kind}" for kind, number in sorted(self.seen.items()))
        return f"{len(self.issuer.accepted)} accepted requests succeeded exactly once; responses {seen}"


@asynccontextmanager
async def stories(
    cluster: Cluster, tenants: Tenants, *, eids: tuple[int, ...] = (SEPOLIA, WORKED_ON)
) -> AsyncIterator[Stories]:
    """Start stories on some chains, each of three requests, after their issuer was registered."""
    receiver, through = Receiver(free_port()), Counted(cluster.layout)
    tenants.hooks.append(await receiver.serve())  # until the end: requests of a check that failed continue
    hook = f"http://127.0.0.1:{receiver.port}/"
    issuer = await tenants.issuer(str(uuid4()), *eids, hook=hook, through=through)
    through.seen.clear()
    tasks = [asyncio.create_task(issuer.story(eid)) for eid in eids for _ in range(EACH)]
    try:
        yield Stories(issuer, receiver, through.seen, tasks)
    finally:
        for task in tasks:
            task.cancel()


async def _rest(cluster: Cluster) -> list[str]:
    tables, ends = Tables(cluster.layout.database), time.monotonic() + REST
    while True:
        try:
            left = await asyncio.to_thread(unfinished, tables)
        except psycopg.OperationalError as error:
            left = [str(error).partition("\n")[0]]
        if not left or time.monotonic() > ends:
            return [f"not at rest: {line}" for line in left]
        await asyncio.sleep(0.5)


async def compared(cluster: Cluster, issuer: Issuer, receiver: Receiver) -> list[str]:
    """Compare an issuer's requests with tables, chains and webhooks."""
    nodes = {eid: Node(eid, Anvil(chain.url)) for eid, chain in cluster.chains.by_eid.items()}
    try:
        return await differences(Tables(cluster.layout.database), nodes, issuer, receiver)
    finally:
        for node in nodes.values():
            await node.node.close()


@dataclass
class Stream:
    """Small requests, one after another, each repeated under its key until it has an answer."""

    tenant: Tenant
    http: httpx.AsyncClient
    seen: Counter[str] = field(default_factory=Counter)
    keys: int = 0
    repeated: int = 0
    slowest: float = 0.0
    wrong: list[str] = field(default_factory=list)

    async def flow(self, ended: asyncio.Event) -> None:
        """Create parties and read them, until ended."""
        while not ended.is_set():
            self.keys += 1
            began = time.monotonic()
            body = {"organization_id": str(self.tenant.id), "name": f"Party {self.keys}", "country": "DEU"}
            await self._until_answered("POST", "/v1/identity/parties", body, 201)
            await self._until_answered("GET", f"/v1/orgs/{self.tenant.id}/requests", None, 200)
            self.slowest = max(self.slowest, time.monotonic() - began)
            await asyncio.sleep(EVERY)

    async def _until_answered(self, method: str, path: str, body: object, wanted: int) -> None:
        headers = self.tenant.key | {"idempotency-key": str(uuid4())}
        for _ in range(300):
            try:
                answer = await self.http.request(method, path, headers=headers, json=body)
            except httpx.TransportError as error:
                kind = type(error).__name__
            else:
                kind = str(answer.status_code)
            self.seen[f"{method} {kind}"] += 1
            if kind == str(wanted):
                return
            if kind not in PASSING and kind != "409":
                self.wrong.append(f"{method} {path}: {kind}")
            self.repeated += 1
            await asyncio.sleep(0.2)
        self.wrong.append(f"{method} {path} had no answer")

    @property
    def faults(self) -> dict[str, int]:
        """Return the responses of a server's fault, and the faults of connections."""
        return {kind: number for kind, number in self.seen.items() if kind.split()[1] >= "500"}

    def __str__(self) -> str:
        """Return what clients saw."""
        seen = ", ".join(f"{number} {kind}" for kind, number in sorted(self.seen.items()))
        return f"stream: {seen}, slowest {self.slowest:.1f} s"


@asynccontextmanager
async def streaming(cluster: Cluster, tenants: Tenants) -> AsyncIterator[Stream]:
    """Send a stream inside, and check at the end that each request had one effect."""
    tenant = await tenants.tenant()
    transport = Counted(cluster.layout)
    async with httpx.AsyncClient(transport=transport, base_url=cluster.layout.origin, timeout=60) as http:
        stream, ended = Stream(tenant, http), asyncio.Event()
        flowing = asyncio.create_task(stream.flow(ended))
        try:
            yield stream
        finally:
            ended.set()
            await flowing
    tables = Tables(cluster.layout.database)
    query = "select count(*) as made from parties where organization_id = %s"
    (row,) = await asyncio.to_thread(tables.rows, query, tenant.id)
    if stream.wrong or row["made"] != stream.keys:
        raise Differs(f"{row['made']} parties of {stream.keys} requests; {'; '.join(stream.wrong[:5])}; {stream}")
