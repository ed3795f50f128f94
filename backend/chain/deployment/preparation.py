"""Preparation of every chain, independently: an obstacle is shown and retried, and does not block other chains."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

import sqlalchemy as sa
import structlog
from sqlmodel import col

from backend.chain.chain_models import ChainRow
from backend.chain.deployment.contracts import ensure_contracts
from backend.chain.errors import MissingEvent
from backend.chain.rpc import node_urls
from backend.core import db
from backend.core.errors import SignumError
from backend.core.readiness import readiness

log = structlog.get_logger()
AGAIN = {True: 1.0, False: 15.0}
"""Seconds until a chain that is not ready is checked again, embedded or public."""
NO_QUOTE = "Markets on this chain need a currency. Set one in SIGNUM_QUOTE_TOKENS."


async def attempt(eid: int) -> bool:
    """Try to prepare a chain; return whether it is ready. What is missing is stored in the chain's row and logged
    once."""
    try:
        contracts = await ensure_contracts(eid)
    except SignumError as error:
        return await _waits(eid, error.detail)
    except (MissingEvent, sa.exc.SQLAlchemyError, *db.FAULTS, OSError):
        log.exception("chain.not_prepared", eid=eid)
        return await _waits(eid, "The chain could not be prepared. The server's log says why.")
    if await _note(eid, missing := NO_QUOTE if contracts.quote_token is None else None):
        log.info("chain.prepared", eid=eid, missing=missing)
    _publish(eid, is_ready=True)
    return True


async def run(stop: asyncio.Event, eids: Sequence[int]) -> None:
    """Prepare the chains that are not ready, until all are or the process stops. Readiness does not wait for public
    chains, whose delays are outside our control."""
    if not all(node_urls.is_embedded(eid) for eid in eids):
        readiness().done("contracts")
    async with asyncio.TaskGroup() as group:
        for eid in eids:
            group.create_task(_until_ready(eid, stop))
    if not stop.is_set():
        readiness().done("contracts")


async def _until_ready(eid: int, stop: asyncio.Event) -> None:
    while not stop.is_set() and not await attempt(eid):
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), AGAIN[node_urls.is_embedded(eid)])


async def _waits(eid: int, why: str) -> bool:
    if await _note(eid, why):
        log.warning("chain.not_prepared", eid=eid, missing=why)
    _publish(eid, is_ready=False)
    return False


async def _note(eid: int, missing: str | None) -> bool:
    """Write what is missing; return whether it changed."""
    row = sa.update(ChainRow).where(col(ChainRow.xchain_eid) == eid)
    news = row.where(col(ChainRow.missing).is_distinct_from(missing)).returning(col(ChainRow.id))
    async with db.worker() as session:
        return (await session.execute(news.values(missing=missing))).first() is not None


def _publish(eid: int, *, is_ready: bool) -> None:
    """Add a note to `/v1/ready`, which is public: only callers who may see the chains get the reason."""
    note = f"The chain {eid} is not prepared yet. See the Chains page and the log."
    if not is_ready and note not in readiness().notes:
        readiness().notes.append(note)
    if is_ready and note in readiness().notes:
        readiness().notes.remove(note)
