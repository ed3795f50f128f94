"""Notes of `/v1/ready` about open alarms. Anybody may read them, so they count and name no organization's data."""

import time
from collections import Counter
from collections.abc import Iterable

import sqlalchemy as sa
import structlog
from sqlmodel import col

from backend import db
from backend.auth import forwarding
from backend.chain.models import AlarmKind, ChainAlarmRow
from backend.chains.models import ChainRow
from backend.readiness import readiness

log = structlog.get_logger()
FRESH = 5.0
"""Seconds for which the alarms are not read again, however often the route is called."""
WORDS = {
    AlarmKind.DEEP_REORG: ("indexing has stopped after a deep reorganization", ""),
    AlarmKind.DIFFERENCE: ("1 difference between tables and chain", "{count} differences between tables and chain"),
    AlarmKind.UNREADABLE: ("1 contract is not read", "{count} contracts are not read"),
    AlarmKind.EXECUTED_TWICE: ("1 operation was executed twice", "{count} operations were executed twice"),
}

_read_at = -FRESH
_notes: list[str] = []


async def notes() -> list[str]:
    """Return what works less well than it should: what this process knows, and the open alarms of all chains."""
    return [*readiness.notes, *forwarding.notes(), *await _alarms()]


async def _alarms() -> list[str]:
    global _read_at, _notes
    if "migrations" in readiness.waiting or time.monotonic() - _read_at < FRESH:
        return _notes
    _read_at = time.monotonic()
    try:
        _notes = lines(await _open())
    except (sa.exc.SQLAlchemyError, OSError) as error:
        log.warning("ready.alarms_not_read", error=type(error).__name__)
    return _notes


async def _open() -> list[tuple[str, AlarmKind]]:
    """The open alarms: the name of the chain, and the kind."""
    found = (
        sa.select(col(ChainRow.display_name), col(ChainAlarmRow.kind))
        .join(ChainRow, col(ChainRow.xchain_eid) == col(ChainAlarmRow.chain_eid))
        .order_by(col(ChainRow.priority), col(ChainRow.display_name), col(ChainAlarmRow.kind))
    )
    async with db.worker() as session:
        return [(name, kind) for name, kind in await session.execute(found)]


def lines(alarms: Iterable[tuple[str, AlarmKind]]) -> list[str]:
    """Return a line for each chain and kind, in the order of the alarms."""
    return [f"{name}: {_words(kind, count)}; see the Chains page." for (name, kind), count in Counter(alarms).items()]


def _words(kind: AlarmKind, count: int) -> str:
    one, several = WORDS.get(kind, ("1 alarm", "{count} alarms"))
    return one if count == 1 or not several else several.format(count=count)
