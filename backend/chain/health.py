"""How a chain is: what the last look at it found, in the registry's row, for everybody to see."""

import time
from collections.abc import Mapping

import sqlalchemy as sa
import structlog
from sqlmodel import col

from backend import db
from backend.chain import endpoints, finality, nodes
from backend.chain.rpc import Rpc, heights
from backend.chains.models import ChainRow
from backend.chains.schemas import ChainStatus

log = structlog.get_logger()
AGAIN = 15.0
"""Seconds after which an unchanged state is written again, so that its age tells whether somebody looks."""
SURVEY = 30.0
"""Seconds between two surveys of a chain."""
BEHIND = 10
"""Blocks that a node may be behind the best of its chain."""

_noted: dict[int, tuple[tuple[object, ...], float]] = {}
_surveyed: dict[int, float] = {}


async def note(session: db.Write, eid: int, height: int, lag: int) -> None:
    """The tables have been brought up to `lag` blocks behind the newest; seldom written where nothing has changed."""
    error = _trouble(eid)
    values = {
        "height": height,
        **_sure(eid, height),
        "lag": lag,
        "status": ChainStatus.DEGRADED if error else ChainStatus.ACTIVE,
        "last_error": error,
    }
    known, before = _noted.get(eid, ((), 0.0))
    if known == tuple(values.values()) and time.monotonic() - before < AGAIN:
        return
    _noted[eid] = (tuple(values.values()), time.monotonic())
    await _write(session, eid, values)


def _sure(eid: int, height: int) -> dict[str, int | None]:
    """The newest safe and final block. On an embedded chain every block is final."""
    if endpoints.is_embedded(eid):
        return {"safe_height": height, "final_height": height}
    heads = finality.known(eid)
    if heads is None:
        return {"safe_height": None, "final_height": None}
    return {"safe_height": heads.safe, "final_height": heads.final}


async def failed(eid: int, failures: int, why: str) -> None:
    """A look failed, not for the first time perhaps: the chain is down after three."""
    _noted.pop(eid, None)
    status = ChainStatus.DOWN if failures > 2 else ChainStatus.DEGRADED
    try:
        async with db.worker() as session:
            await _write(session, eid, {"status": status, "last_error": why})
    except (sa.exc.SQLAlchemyError, OSError) as error:
        log.warning("chain.health", eid=eid, error=type(error).__name__)


async def stopped(session: db.Write, eid: int, why: str) -> None:
    """A chain is not read any further until an operator has acted."""
    _noted.pop(eid, None)
    await _write(session, eid, {"status": ChainStatus.DOWN, "last_error": why})


async def survey(eid: int) -> None:
    """Ask how far a public chain is safe and final, and compare the nodes of one that has several.

    A node that is behind the others is passed over for a while; one that answers again is taken up again.
    """
    if time.monotonic() - _surveyed.get(eid, -SURVEY) < SURVEY:
        return
    _surveyed[eid] = time.monotonic()
    if not endpoints.is_embedded(eid):
        await finality.heads(Rpc(eid))
    theirs = nodes.of(eid)
    if len(theirs) < 2:
        return
    told = await heights(eid)
    best = max((height for height in told if height is not None), default=0)
    for node, height in zip(theirs, told, strict=True):
        if height is not None and best - height > BEHIND:
            node.failed(nodes.NodeFault(f"is {best - height} blocks behind the others"))


def _trouble(eid: int) -> str | None:
    """What to know of a chain that answers: some of its nodes do not."""
    theirs, faulty = nodes.of(eid), nodes.faulty(eid)
    if not faulty or len(theirs) < 2:
        return None
    return f"{len(faulty)} of {len(theirs)} nodes cannot be used; the last one {faulty[-1].error}."


async def _write(session: db.Write, eid: int, values: Mapping[str, object]) -> None:
    row = sa.update(ChainRow).where(col(ChainRow.xchain_eid) == eid)
    await session.execute(row.values(**values, checked_at=db.now()))
