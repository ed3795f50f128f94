"""Facts of the installation, read from the database with the worker's role: the same in every process.

They are read at a scrape, at most every few seconds, with a limit on the time of each statement. While the database
does not answer, the last ones stay, and `signum_database_up` is 0.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
import structlog
from prometheus_client import CollectorRegistry, Gauge, generate_latest

from backend.chain.rpc import node_urls
from backend.chain.rpc.terms import terms_of
from backend.core import db
from backend.core.runtime import runtime

log = structlog.get_logger()
FRESH = 5.0
"""Seconds for which the facts are cached, however often they are scraped."""
LIMIT = sa.text("set local statement_timeout = '2s'")
STATE = (
    b"# HELP signum_database_up 1 if the facts could be read from the database, else 0.\n"
    b"# TYPE signum_database_up gauge\nsignum_database_up %d\n"
)
WAIT = 8.0
"""Seconds that a scrape waits for the facts at most."""


@dataclass(frozen=True)
class Fact:
    """A query whose rows are labels, followed by the values of gauges."""

    query: str
    labels: Sequence[str]
    gauges: Mapping[str, str]
    """Help by name, in the order of the columns."""


FACTS = (
    Fact(
        "select queue_name, count(*), extract(epoch from now()) - min(created_at) / 1000.0 from dbos.workflow_status"
        " where status = 'ENQUEUED' and queue_name is not null group by 1",
        ("queue",),
        {
            "signum_queue_depth": "Workflows that wait in a queue.",
            "signum_queue_oldest_age_seconds": "Age of the oldest workflow that waits in a queue.",
        },
    ),
    Fact(
        "select coalesce(queue_name, 'none'), count(*), extract(epoch from now()) - min(created_at) / 1000.0"
        " from dbos.workflow_status where status = 'PENDING' group by 1",
        ("queue",),
        {
            "signum_workflows_running": "Running workflows by queue.",
            "signum_workflow_oldest_age_seconds": "Seconds since the oldest running workflow was enqueued.",
        },
    ),
    Fact(
        "select status, count(*) from requests where status in ('awaiting_approval', 'accepted', 'running') group by 1",
        ("status",),
        {"signum_requests_open": "Requests that have not ended, by status."},
    ),
    Fact(
        "select xchain_eid::text, height, lag, extract(epoch from now() - checked_at) from chains"
        " where xchain_eid = any(:eids) and height is not null",
        ("chain",),
        {
            "signum_chain_height": "Newest block that the indexer has seen.",
            "signum_chain_lag_blocks": "Blocks by which the tables are behind a chain.",
            "signum_chain_check_age_seconds": "Seconds since the chain last answered the indexer.",
        },
    ),
    Fact(
        "select chain_eid::text, status, count(*), extract(epoch from now() - min(created_at)) from transactions"
        " where status in ('pending', 'submitting') group by 1, 2",
        ("chain", "status"),
        {
            "signum_transactions_open": "Signed transactions, and so nonces, that are not confirmed yet.",
            "signum_transaction_oldest_age_seconds": "Age of the oldest transaction that is not confirmed yet.",
        },
    ),
    Fact(
        "select chain_eid::text, kind, count(*) from chain_alarms group by 1, 2",
        ("chain", "kind"),
        {"signum_chain_alarms": "Open alarms about a chain."},
    ),
    Fact(
        "select count(*), coalesce(extract(epoch from now() - min(created_at)), 0) from webhook_deliveries"
        " where status = 'pending'",
        (),
        {
            "signum_webhook_deliveries_pending": "Webhook deliveries that have neither succeeded nor failed.",
            "signum_webhook_oldest_pending_age_seconds": "Age of the oldest of them.",
        },
    ),
    Fact(
        "select coalesce(sum(seq), 0), count(*) from audit_heads",
        (),
        {"signum_audit_entries": "Entries of all audit logs.", "signum_audit_logs": "Audit logs."},
    ),
)


@dataclass
class Facts:
    """The last facts as text, and when they were read by `time.monotonic`."""

    text: bytes = b""
    is_up: bool = False
    read_at: float = -FRESH
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


async def text() -> bytes:
    """Return the facts in Prometheus' text format."""
    facts = runtime.loop_part(Facts)
    async with facts.lock:
        if time.monotonic() - facts.read_at >= FRESH:
            facts.is_up = await _refresh(facts)
            facts.read_at = time.monotonic()
    return STATE % facts.is_up + facts.text


async def _refresh(facts: Facts) -> bool:
    """Read the facts; return whether the database answered."""
    try:
        async with asyncio.timeout(WAIT):
            facts.text = await read()
    except (sa.exc.SQLAlchemyError, OSError, TimeoutError, RuntimeError) as error:
        log.warning("metrics.facts_not_read", error=type(error).__name__)
        return False
    return True


async def read() -> bytes:
    """Read all facts now."""
    registry, eids = CollectorRegistry(), node_urls.reachable()
    async with db.worker() as session:
        await session.execute(LIMIT)
        for fact in FACTS:
            rows = (await session.execute(sa.text(fact.query), _values(fact, eids))).all()
            _set(registry, fact, rows)
    lag = Gauge(
        "signum_chain_lag_seconds", "The lag in blocks, times the time of a block.", ["chain"], registry=registry
    )
    for eid in eids:
        blocks = registry.get_sample_value("signum_chain_lag_blocks", {"chain": str(eid)})
        if blocks is not None:
            lag.labels(str(eid)).set(blocks * terms_of(eid).block_time)
    return bytes(generate_latest(registry))


def _values(fact: Fact, eids: Sequence[int]) -> dict[str, Any]:
    return {"eids": list(eids)} if ":eids" in fact.query else {}


def _set(registry: CollectorRegistry, fact: Fact, rows: Sequence[Sequence[Any]]) -> None:
    """Set gauges from rows: labels first, then a value of each gauge."""
    gauges = [Gauge(name, words, fact.labels, registry=registry) for name, words in fact.gauges.items()]
    for row in rows:
        labels, values = row[: len(fact.labels)], row[len(fact.labels) :]
        for gauge, value in zip(gauges, values, strict=True):
            if value is not None:
                (gauge.labels(*labels) if labels else gauge).set(float(value))
