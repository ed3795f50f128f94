"""Every chain made ready, each by itself: what keeps one from it is shown, waited for, and keeps no other chain."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

import sqlalchemy as sa
import structlog
from sqlmodel import col

from backend import db
from backend.chain import endpoints
from backend.chain.deployment import ensure_contracts
from backend.chain.errors import MissingEvent
from backend.chains.models import ChainRow
from backend.errors import SignumError
from backend.readiness import readiness

log = structlog.get_logger()
AGAIN = {True: 1.0, False: 15.0}
"""Seconds until a chain that is not ready is looked at again, embedded or public."""
NO_QUOTE = "Markets need a currency here: name one in SIGNUM_QUOTE_TOKENS."


async def attempt(eid: int) -> bool:
    """Try to make a chain ready; whether it is. What is missing is in the registry's row, and once in the log."""
    try:
        contracts = await ensure_contracts(eid)
    except SignumError as error:
        return await _waits(eid, error.detail)
    except (MissingEvent, sa.exc.SQLAlchemyError, OSError):
        log.exception("chain.not_prepared", eid=eid)
        return await _waits(eid, "It could not be prepared; the log of the server says why.")
    await _note(eid, NO_QUOTE if contracts.quote_token is None else None)
    _tell(eid, is_ready=True)
    return True


async def run(stop: asyncio.Event, eids: Sequence[int]) -> None:
    """Go on with the chains that are not ready, until each is or we are told to stop. What is served meanwhile does not
    wait for public ones, whose time is others' to say."""
    if not all(endpoints.is_embedded(eid) for eid in eids):
        readiness.done("contracts")
    async with asyncio.TaskGroup() as group:
        for eid in eids:
            group.create_task(_until_ready(eid, stop))
    if not stop.is_set():
        readiness.done("contracts")


async def _until_ready(eid: int, stop: asyncio.Event) -> None:
    while not stop.is_set() and not await attempt(eid):
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), AGAIN[endpoints.is_embedded(eid)])


async def _waits(eid: int, why: str) -> bool:
    if await _note(eid, why):
        log.warning("chain.not_prepared", eid=eid, missing=why)
    _tell(eid, is_ready=False)
    return False


async def _note(eid: int, missing: str | None) -> bool:
    """Write what is missing; whether that is news."""
    row = sa.update(ChainRow).where(col(ChainRow.xchain_eid) == eid)
    news = row.where(col(ChainRow.missing).is_distinct_from(missing)).returning(col(ChainRow.id))
    async with db.worker() as session:
        return (await session.execute(news.values(missing=missing))).first() is not None


def _tell(eid: int, *, is_ready: bool) -> None:
    """A note for `/v1/ready`, which anybody may read: the reason is for those who may see the chains."""
    note = f"The chain {eid} is not prepared yet; the chains page and the log say why."
    if not is_ready and note not in readiness.notes:
        readiness.notes.append(note)
    if is_ready and note in readiness.notes:
        readiness.notes.remove(note)
