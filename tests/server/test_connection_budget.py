"""A server that may open few connections to PostgreSQL."""

import asyncio
import signal
from collections import Counter
from contextlib import suppress

import psycopg
import pytest

from backend.client import ApiProblem, SignumClient
from backend.core.connections.embedded import outside_url
from tests.server.test_serve import Serve
from tests.support.scratch import scratch
from tests.support.tenants import Tenant, tenant_of

BUDGET = 40
CALLS = 12
"""Of each of four organizations: more than there are connections for requests."""
OPEN = "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"


@pytest.mark.long
async def test_exhausted_connections_are_a_503_and_never_more_than_allowed() -> None:
    serve = Serve(scratch("budget"), SIGNUM_DATABASE_CONNECTIONS=str(BUDGET), SIGNUM_RATE_LIMITS="off")
    await asyncio.to_thread(serve.ready)
    url = outside_url(serve.home)
    client = SignumClient(f"http://127.0.0.1:{serve.port}")
    tenants = [await tenant_of(url, client) for _ in range(4)]
    most, results = 0, Counter[int]()
    """Calls by status; a negative one does not say when to retry."""

    async def rename(tenant: Tenant) -> None:
        try:
            await client.call("PATCH", f"/orgs/{tenant.id}", json={"name": "Renamed"}, headers=tenant.key)
            results[200] += 1
        except ApiProblem as problem:
            results[problem.status if problem.retry_after else -problem.status] += 1

    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as watcher:
        async with await psycopg.AsyncConnection.connect(url) as holder:
            await holder.execute("select 1 from organizations for update")
            calls = [asyncio.create_task(rename(tenant)) for tenant in tenants for _ in range(CALLS)]
            while sum(results.values()) < len(calls) // 2:
                most = max(most, (await (await watcher.execute(OPEN)).fetchone() or (0,))[0] - 1)
                await asyncio.sleep(0.1)
            await holder.rollback()
        await asyncio.gather(*calls)
    assert set(results) <= {200, 429, 503}
    assert results[503]
    assert most <= BUDGET
    for tenant in tenants:
        await rename(tenant)
    assert results[200] >= len(tenants)
    with suppress(ProcessLookupError):
        assert serve.end(signal.SIGTERM) == 0
