"""Notes of `/v1/ready` about open alarms and unusable nodes. They are public, so they contain only counts and no
organization's data."""

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import sqlalchemy as sa
import structlog
from sqlmodel import col

from backend.chain.chain_models import ChainRow
from backend.chain.models import AlarmKind, ChainAlarmRow
from backend.chain.rpc import connections, node_urls, nodes
from backend.core import db
from backend.core.readiness import readiness
from backend.core.runtime import runtime
from backend.limits import proxy_warning

log = structlog.get_logger()
FRESH = 5.0
"""Seconds for which the alarms are cached, regardless of how often the route is called."""
FAILURES = 3
"""Failed calls in a row after which a node counts as unusable."""
WORDS = {
    AlarmKind.DEEP_REORG: ("indexing has stopped after a deep reorganization", ""),
    AlarmKind.DIFFERENCE: ("1 difference between tables and chain", "{count} differences between tables and chain"),
    AlarmKind.UNREADABLE: ("1 contract is not read", "{count} contracts are not read"),
    AlarmKind.EXECUTED_TWICE: ("1 operation was executed twice", "{count} operations were executed twice"),
}


@dataclass
class AlarmNotes:
    """The alarms and the names of chains that this process last read, and when by `time.monotonic`."""

    lines: list[str] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    read_at: float = -FRESH


async def notes() -> list[str]:
    """Return notes on degraded operation: from this process and its calls of nodes, and from the open alarms of all
    chains."""
    known = await _known()
    return [*readiness().notes, *proxy_warning.notes(), *known.lines, *_node_lines(known.names)]


def _node_lines(names: Mapping[int, str]) -> list[str]:
    """Return a line for each chain whose nodes all fail, or for whose nodes too many calls wait."""
    found = []
    for eid in node_urls.reachable():
        name = names.get(eid, f"Chain {eid}")
        if all(node.failures >= FAILURES for node in nodes.of(eid)):
            found.append(f"{name}: no node can be used; see the Chains page.")
        if count := connections.refused(eid):
            calls = "1 call of its nodes was" if count == 1 else f"{count} calls of its nodes were"
            found.append(f"{name}: {calls} refused in the last minute, because too many wait.")
    return found


async def _known() -> AlarmNotes:
    known = runtime.part(AlarmNotes)
    if "migrations" in readiness().waiting or time.monotonic() - known.read_at < FRESH:
        return known
    known.read_at = time.monotonic()
    try:
        known.lines = lines(await _open())
        known.names = known.names or await _names()
    except (sa.exc.SQLAlchemyError, OSError) as error:
        log.warning("ready.alarms_not_read", error=type(error).__name__)
    return known


async def _open() -> list[tuple[str, AlarmKind]]:
    """Return the open alarms: chain name and kind."""
    found = (
        sa.select(col(ChainRow.display_name), col(ChainAlarmRow.kind))
        .join(ChainRow, col(ChainRow.xchain_eid) == col(ChainAlarmRow.chain_eid))
        .order_by(col(ChainRow.priority), col(ChainRow.display_name), col(ChainAlarmRow.kind))
    )
    async with db.worker() as session:
        return [(name, kind) for name, kind in await session.execute(found)]


async def _names() -> dict[int, str]:
    query = sa.select(col(ChainRow.xchain_eid), col(ChainRow.display_name))
    async with db.worker() as session:
        return {row.xchain_eid: row.display_name for row in await session.execute(query)}


def lines(alarms: Iterable[tuple[str, AlarmKind]]) -> list[str]:
    """Return a line for each chain and kind, in the order of the alarms."""
    return [f"{name}: {_words(kind, count)}; see the Chains page." for (name, kind), count in Counter(alarms).items()]


def _words(kind: AlarmKind, count: int) -> str:
    one, several = WORDS.get(kind, ("1 alarm", "{count} alarms"))
    return one if count == 1 or not several else several.format(count=count)
