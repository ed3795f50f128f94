"""Compare requests, chains, audit log and webhooks after the faults of a run. The tables are read by plain SQL, and the
chains without the product's code."""

import asyncio
import time
from collections import Counter
from dataclasses import dataclass

import httpx
import psycopg

from backend.chain.rpc import node_urls
from backend.webhooks.schemas import EventType
from tests.chaos.installation import Installation
from tests.chaos.issuers import Issuer, Receiver
from tests.nodes import truth
from tests.nodes.stories.comparison import Findings, Tables, compare_transactions
from tests.support.node_pool.anvil import Anvil

REST = 150.0
"""Seconds until all transactions and deliveries have ended."""


@dataclass
class Node:
    """A chain as the comparison reads it."""

    eid: int
    node: Anvil


def nodes(installation: Installation) -> dict[int, Node]:
    """Return the embedded chains."""
    ports = node_urls.remembered(installation.home)
    return {eid: Node(eid, Anvil(f"http://127.0.0.1:{port}")) for eid, port in ports.items()}


async def rest(installation: Installation) -> list[str]:
    """Wait until nothing is open; return what still is."""
    tables, ends = Tables(installation.database), time.monotonic() + REST
    while True:
        try:
            left = await asyncio.to_thread(unfinished, tables) + await _dead(installation)
        except psycopg.OperationalError as error:
            left = [str(error).partition("\n")[0]]
        if not left or time.monotonic() > ends:
            return left
        await asyncio.sleep(0.5)


def unfinished(tables: Tables) -> list[str]:
    """Return the requests, transactions and deliveries that are still open."""
    deliveries = tables.rows("select event_type, status from webhook_deliveries where status <> 'succeeded'")
    return tables.unsettled() + [f"the delivery of {d['event_type']} is {d['status']}" for d in deliveries]


async def _dead(installation: Installation) -> list[str]:
    """Return the chains that do not answer, still lack what they lost, or are not read to their end."""
    lines, tables = [], Tables(installation.database)
    for eid, chain in nodes(installation).items():
        if node_urls.restoring_file(installation.home, eid).exists():
            lines.append(f"the chain {eid} is being restored")
        try:
            async with asyncio.timeout(5):
                height = await chain.node.height()
            number, known = await asyncio.to_thread(tables.head, eid)
            if number < height:
                lines.append(f"the chain {eid} is read up to {number} of {height}")
            elif known != (await chain.node.call("eth_getBlockByNumber", hex(number), False) or {}).get("hash"):
                lines.append(f"the chain {eid} has another block {number} since it was restored")
        except (httpx.TransportError, TimeoutError) as error:
            lines.append(f"the chain {eid} does not answer ({type(error).__name__})")
        await chain.node.close()
    return lines


async def compare(installation: Installation, issuer: Issuer, receiver: Receiver) -> list[str]:
    """Return everything that differs, a line each."""
    return await differences(Tables(installation.database), nodes(installation), issuer, receiver)


async def differences(tables: Tables, chains: dict[int, Node], issuer: Issuer, receiver: Receiver) -> list[str]:
    """Return what differs between the tables, the chains, an issuer's requests and its receiver, a line each."""
    findings = Findings()
    for chain in chains.values():
        await compare_transactions(chain, tables, findings)  # type: ignore[arg-type]
    lines = [f"{name}: {line}" for name, found in findings.lines for line in found]
    lines += await _assets(tables, chains, issuer)
    lines += _requests(tables, issuer)
    lines += _audit(tables, issuer)
    lines += _webhooks(tables, issuer, receiver)
    alarms = tables.rows("select kind, detail from chain_alarms")
    for chain in chains.values():
        await chain.node.close()
    return lines + [f"alarm {alarm['kind']}: {alarm['detail']}" for alarm in alarms]


async def _assets(tables: Tables, chains: dict[int, Node], issuer: Issuer) -> list[str]:
    lines = []
    for issued in issuer.issued:
        query = "select token_address from asset_deployments where asset_id = %s and chain_eid = %s"
        (row,) = tables.rows(query, issued.asset_id, issued.eid)
        supply = await truth.supply(chains[issued.eid].node, row["token_address"])
        if supply != issued.supply:
            lines.append(f"the asset {issued.asset_id} has a supply of {supply} instead of {issued.supply}")
        markets = tables.rows("select status from markets where asset_id = %s", issued.asset_id)
        if [market["status"] for market in markets] != ["active"]:
            lines.append(f"the asset {issued.asset_id} has the markets {markets}")
    return lines


def _requests(tables: Tables, issuer: Issuer) -> list[str]:
    rows = tables.rows("select id, kind, status, attempt from requests where organization_id = %s", issuer.id)
    own = [row for row in rows if row["kind"] != "issuer.register"]
    lines = [f"{row['kind']} {row['id']} is {row['status']}" for row in own if row["status"] != "succeeded"]
    if {str(row["id"]) for row in own} != set(issuer.accepted):
        lines.append(f"{len(set(issuer.accepted))} requests were accepted, {len(own)} exist")
    return lines


def _audit(tables: Tables, issuer: Issuer) -> list[str]:
    (row,) = tables.rows(
        "select count(*) as entries, coalesce(max(seq), 0) as last from audit_log where organization_id = %s", issuer.id
    )
    ends = tables.rows(
        "select subject_id, count(*) from audit_log where organization_id = %s and action = 'request.succeeded'"
        " group by 1 having count(*) > 1",
        issuer.id,
    )
    lines = [f"the audit log has {row['entries']} entries up to {row['last']}"] if row["entries"] != row["last"] else []
    return lines + [f"the request {end['subject_id']} succeeded {end['count']} times" for end in ends]


def _webhooks(tables: Tables, issuer: Issuer, receiver: Receiver) -> list[str]:
    """Every entry of the audit log with an event type was sent once, and its delivery arrived."""
    entries = tables.rows(
        "select action from audit_log where organization_id = %s and action = any(%s) and seq >"
        " (select min(seq) from audit_log where organization_id = %s and action = 'webhook.created')",
        issuer.id,
        [str(kind) for kind in EventType],
        issuer.id,
    )
    rows = tables.rows(
        "select event_id, event_type, status from webhook_deliveries where organization_id = %s", issuer.id
    )
    recorded, sent = Counter(entry["action"] for entry in entries), Counter(row["event_type"] for row in rows)
    lines = [] if recorded == sent else [f"events {recorded - sent} were not sent, {sent - recorded} too often"]
    missing = [row for row in rows if str(row["event_id"]) not in receiver.seen]
    return lines + [f"{row['event_type']} did not arrive, and its delivery is {row['status']}" for row in missing]
