"""Checks of what the processes share: sessions and keys, idempotency, rate limits, and one indexer for each chain."""

import asyncio
import os
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import uuid4

import httpx

from backend.core.locks import DIGEST_BITS, Purpose
from tests.cluster.findings import Differs
from tests.cluster.installation import WEB, Cluster
from tests.cluster.tenants import Tenant, Tenants
from tests.conftest import PASSWORD
from tests.nodes.stories.comparison import Tables

Check = Callable[[Cluster, Tenants], Awaitable[str]]
"""Checks the cluster and returns what was seen. Raises Differs."""
REPEATS = 5
"""Concurrent repetitions of one request to each web process: together fewer than a principal may send in a second."""
WRITTEN = 20
"""Parties that are written and searched for, while the replica follows and while it does not."""
GUESSES = 5
"""Wrong passwords of an account from one address in 15 minutes."""
LEADERS = """
  select l.classid::bigint << 32 | l.objid::bigint as lock, a.application_name as process
  from pg_locks l join pg_stat_activity a using (pid)
  where l.locktype = 'advisory' and l.granted and (l.classid::bigint >> %s) = %s
"""


async def sessions(cluster: Cluster, tenants: Tenants) -> str:
    """A session and a key that were made on one process are valid on both; an ended one on neither."""
    tenant, seen = await tenants.tenant(), []
    async with httpx.AsyncClient(trust_env=False, timeout=30) as http:
        for first, second in (WEB, WEB[::-1]):
            body = {"email": tenant.admin.email, "password": PASSWORD}
            signed_in = await http.post(f"{cluster.layout.url(first)}/v1/auth/login", json=body)
            token = {"authorization": f"Bearer {signed_in.json()['access_token']}"}
            made = await http.post(
                f"{cluster.layout.url(first)}/v1/orgs/{tenant.id}/api-keys",
                headers=token,
                json={"name": first, "scopes": ["orgs:read"]},
            )
            key = {"x-api-key": made.json()["key"]}
            there = f"{cluster.layout.url(second)}/v1/orgs/{tenant.id}"
            found = [(await http.get(there, headers=one)).status_code for one in (token, key)]
            await http.delete(
                f"{cluster.layout.url(first)}/v1/orgs/{tenant.id}/api-keys/{made.json()['id']}", headers=token
            )
            found.append((await http.get(there, headers=key)).status_code)
            if found != [200, 200, 401]:
                raise Differs(f"from {first} to {second}: {found} for the token, the key and the revoked key")
            seen.append(f"{first} to {second} {found}")
    return f"token, key, revoked key: {', '.join(seen)}"


async def idempotency(cluster: Cluster, tenants: Tenants) -> str:
    """The same request with one key to both processes at the same time has one effect."""
    tenant = await tenants.tenant()
    base = f"/v1/orgs/{tenant.id}"
    party = {"organization_id": str(tenant.id), "name": "Ann", "country": "DEU"}
    races = (
        ("/v1/identity/parties", party),
        (f"{base}/sub-orgs", {"name": "Unit"}),
        (f"{base}/wallets", {"label": "W"}),
    )
    return "; ".join([await _race(cluster, tenant, path, body) for path, body in races])


async def _race(cluster: Cluster, tenant: Tenant, path: str, body: Any) -> str:
    headers = tenant.key | {"idempotency-key": str(uuid4())}
    async with httpx.AsyncClient(trust_env=False, timeout=30) as http:
        urls = [cluster.layout.url(name) + path for name in WEB] * REPEATS
        answers = await asyncio.gather(*(http.post(url, headers=headers, json=body) for url in urls))
        await asyncio.sleep(1)  # the limit of a principal is counted by the second
        late = [await http.post(cluster.layout.url(name) + path, headers=headers, json=body) for name in WEB]
    ended = [answer for answer in (*answers, *late) if answer.status_code not in (409, 429)]
    ids = {answer.json().get("id") for answer in ended}
    first = [answer for answer in ended if "idempotency-replayed" not in answer.headers]
    statuses = Counter(answer.status_code for answer in answers)
    seen = (
        f"POST {path.rpartition('/')[2]}: {len(urls)} sent, {dict(statuses)}, executed {len(first)}, {len(ids)} record"
    )
    if len(first) != 1 or len(ids) != 1 or any(answer.status_code != 201 for answer in ended):
        raise Differs(seen)
    return seen


async def rate_limits(cluster: Cluster, tenants: Tenants) -> str:
    """Wrong passwords on one process count on the other."""
    tenant, address = await tenants.tenant(), f"203.0.113.{os.getpid() % 250}"
    async with httpx.AsyncClient(trust_env=False, timeout=30) as http:

        async def guess(name: str, password: str, from_: str) -> int:
            body, headers = {"email": tenant.admin.email, "password": password}, {"x-forwarded-for": from_}
            url = f"{cluster.layout.url(name)}/v1/auth/login"
            return (await http.post(url, json=body, headers=headers)).status_code

        here = [await guess("web-1", "wrong", address) for _ in range(GUESSES)]
        there = await guess("web-2", PASSWORD, address)
        elsewhere = await guess("web-2", PASSWORD, "198.51.100.7")
    seen = f"wrong passwords on web-1 {here}; then the right one on web-2 {there}, from another address {elsewhere}"
    if (here, there, elsewhere) != ([401] * GUESSES, 429, 200):
        raise Differs(seen)
    return seen


async def replica_reads(cluster: Cluster, tenants: Tenants) -> str:
    """What was written through one web process is found through the other one right after it, on the replica; also
    while the replica is behind, which only the primary can do."""
    tenant = await tenants.tenant()
    await _written_and_found(cluster, tenant, "Nordwind")
    readers = await asyncio.to_thread(cluster.postgres.readers)
    read_there = [name for name in WEB if any(one.startswith(f"signum-{cluster.pid(name)}-") for one in readers)]
    if read_there != list(WEB):
        raise Differs(f"the replica was read by {read_there}")
    await asyncio.to_thread(cluster.postgres.hold_replica, held=True)
    try:
        await _written_and_found(cluster, tenant, "Südwind")
    finally:
        await asyncio.to_thread(cluster.postgres.hold_replica, held=False)
    return f"{2 * WRITTEN} parties were each found right after they were written; read by {', '.join(read_there)}"


async def _written_and_found(cluster: Cluster, tenant: Tenant, name: str) -> None:
    async with httpx.AsyncClient(trust_env=False, timeout=30, headers=tenant.key) as http:
        for number in range(WRITTEN):
            first, second = WEB if number % 2 else WEB[::-1]
            body = {"organization_id": str(tenant.id), "name": f"{name} {number}", "country": "DEU"}
            made = await http.post(f"{cluster.layout.url(first)}/v1/identity/parties", json=body)
            path = f"/v1/orgs/{tenant.id}/search"
            found = await http.get(cluster.layout.url(second) + path, params={"q": body["name"]})
            if [one["id"] for one in found.json()["results"][:1]] != [made.json()["id"]]:
                raise Differs(f"{body['name']}, written through {first}, was not found through {second}")
            await asyncio.sleep(0.1)  # below the limits of a principal


async def leaders(cluster: Cluster, tenants: Tenants) -> str:
    """Each chain is indexed by exactly one process."""
    tables = Tables(cluster.layout.database)
    rows = await asyncio.to_thread(tables.rows, LEADERS, DIGEST_BITS - 32, int(Purpose.CHAIN_INDEXER))
    by_lock = Counter(row["lock"] for row in rows)
    names = {f"signum-{cluster.pid(name)}": name for name in WEB}
    led = sorted(names.get(row["process"].rpartition("-")[0], row["process"]) for row in rows)
    seen = f"{len(by_lock)} chains, led by {', '.join(led)}"
    if len(by_lock) != len(cluster.chains.by_eid) or set(by_lock.values()) != {1} or not set(led) <= set(WEB):
        raise Differs(seen)
    return seen
