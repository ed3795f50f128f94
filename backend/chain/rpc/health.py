"""A chain's health: the result of the last check, in its row of the chain list, visible to all."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import sqlalchemy as sa
import structlog
from sqlmodel import col

from backend.chain.chain_models import ChainRow
from backend.chain.rpc import finality, node_urls, nodes
from backend.chain.rpc.json_rpc import Rpc, heights
from backend.core import db
from backend.core.fields import ChainStatus
from backend.core.runtime import runtime

log = structlog.get_logger()
AGAIN = 15.0
"""Seconds after which an unchanged state is written again, so that its age shows that checks continue."""
SURVEY = 30.0
"""Seconds between two surveys of a chain."""
BEHIND = 10
"""Blocks that a node may be behind the best of its chain."""


@dataclass
class HealthNotes:
    """What this process last noted, by chain: the values and when; and when it last surveyed the chain."""

    noted: dict[int, tuple[tuple[object, ...], float]] = field(default_factory=dict)
    surveyed: dict[int, float] = field(default_factory=dict)


async def note(session: db.Write, eid: int, height: int, lag: int) -> None:
    """Record that the tables are `lag` blocks behind the newest; rarely written if nothing has changed."""
    error = _trouble(eid)
    values = {
        "height": height,
        **_sure(eid, height),
        "lag": lag,
        "status": ChainStatus.DEGRADED if error else ChainStatus.ACTIVE,
        "last_error": error,
    }
    noted = runtime.part(HealthNotes).noted
    known, before = noted.get(eid, ((), 0.0))
    if known == tuple(values.values()) and time.monotonic() - before < AGAIN:
        return
    noted[eid] = (tuple(values.values()), time.monotonic())
    await _write(session, eid, values)


def _sure(eid: int, height: int) -> dict[str, int | None]:
    """Return the newest safe and final block. On an embedded chain every block is final."""
    if node_urls.is_embedded(eid):
        return {"safe_height": height, "final_height": height}
    heads = finality.known(eid)
    if heads is None:
        return {"safe_height": None, "final_height": None}
    return {"safe_height": heads.safe, "final_height": heads.final}


async def failed(eid: int, failures: int, why: str) -> None:
    """Record a failed check; after three in a row the chain is down."""
    runtime.part(HealthNotes).noted.pop(eid, None)
    status = ChainStatus.DOWN if failures > 2 else ChainStatus.DEGRADED
    try:
        async with db.worker() as session:
            await _write(session, eid, {"status": status, "last_error": why})
    except (sa.exc.SQLAlchemyError, OSError) as error:
        log.warning("chain.survey_failed", eid=eid, error=type(error).__name__)


async def stopped(session: db.Write, eid: int, why: str) -> None:
    """Record that a chain is not read until an operator acts."""
    runtime.part(HealthNotes).noted.pop(eid, None)
    await _write(session, eid, {"status": ChainStatus.DOWN, "last_error": why})


async def survey(eid: int) -> None:
    """Query the safe and final blocks of a public chain, and compare its nodes if there are several.

    A node that is behind the others is skipped for a while; one that answers again is used again.
    """
    surveyed = runtime.part(HealthNotes).surveyed
    if time.monotonic() - surveyed.get(eid, -SURVEY) < SURVEY:
        return
    surveyed[eid] = time.monotonic()
    if not node_urls.is_embedded(eid):
        await finality.heads(Rpc(eid))
    chain_nodes = nodes.of(eid)
    if len(chain_nodes) < 2:
        return
    answer = await heights(eid)
    best = max((height for height in answer if height is not None), default=0)
    for node, height in zip(chain_nodes, answer, strict=True):
        if height is not None and best - height > BEHIND:
            node.failed(nodes.NodeFault(f"is {best - height} blocks behind the others"))


def _trouble(eid: int) -> str | None:
    """Return the error of a chain that answers although some of its nodes do not."""
    chain_nodes, faulty = nodes.of(eid), nodes.faulty(eid)
    if not faulty or len(chain_nodes) < 2:
        return None
    return f"{len(faulty)} of {len(chain_nodes)} nodes cannot be used; the last error is: {faulty[-1].error}."


async def _write(session: db.Write, eid: int, values: Mapping[str, object]) -> None:
    row = sa.update(ChainRow).where(col(ChainRow.xchain_eid) == eid).execution_options(synchronize_session=False)
    await session.execute(row.values(**values, checked_at=db.now()))
