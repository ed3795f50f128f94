"""Node checks over the API: one at a time per chain, its result shared by all callers for a minute."""

import asyncio
import time
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from backend.auth.principal import Context
from backend.chain.node_check import service
from backend.chain.node_check.report import Report
from backend.chain.rpc import node_urls
from backend.chains import service as chains
from backend.chains.schemas import CheckedNode, NodeCheck
from backend.core import db
from backend.core.db import now
from backend.core.errors import Conflict
from backend.core.runtime import runtime

KEPT = 60.0
"""Seconds for which a result is cached: node providers count calls."""
BUDGET = 20.0
"""Maximum seconds of a check."""


@dataclass
class _Check:
    began: float
    at: datetime
    task: "asyncio.Task[Report]"


@dataclass
class Checks:
    """An event loop's latest checks, by chain."""

    by_chain: dict[int, _Check] = field(default_factory=dict)


async def of_chain(context: Context, chain_id: UUID) -> NodeCheck:
    """Return the check of a chain's nodes, at most a minute old. Raises NotFound, BadRequest, and Conflict if this
    installation has no node for the chain."""
    row = await chains.entry(context, chain_id)
    if not node_urls.urls_of(row.xchain_eid):
        raise Conflict(f"This installation has no node for {row.display_name}. Add its URL to SIGNUM_RPC_URLS.")
    async with db.paused(context.session):
        check = _shared(row)
        report = await asyncio.shield(check.task)
    return _record(report, check.at)


def _shared(row: Any) -> _Check:
    known = runtime.loop_part(Checks).by_chain
    check = known.get(row.xchain_eid)
    if check is None or time.monotonic() - check.began > KEPT or _failed(check.task):
        site = service.site_of(row.xchain_eid, row.native_chain_id)
        urls = node_urls.urls_of(row.xchain_eid)
        task = asyncio.create_task(service.check(site, row.display_name, urls, BUDGET))
        check = known[row.xchain_eid] = _Check(time.monotonic(), now(), task)
    return check


def _failed(task: "asyncio.Task[Report]") -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


def _record(report: Report, at: datetime) -> NodeCheck:
    return NodeCheck(
        chain_eid=report.eid,
        checked_at=at,
        good_enough=all(verdict.is_good_enough for verdict in report.verdicts),
        nodes=[
            CheckedNode(
                name=f"Node {number}",
                answers=verdict.answers,
                good_enough=verdict.is_good_enough,
                summary=verdict.summary,
                lines=[asdict(line) for line in verdict.lines],
                advice=verdict.advice,
            )
            for number, verdict in enumerate(report.verdicts, 1)
        ],
        setting=report.own_setting,
    )
