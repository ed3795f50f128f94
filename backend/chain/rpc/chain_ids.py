"""Chain IDs: a chain's ID in the chain list, by endpoint ID, read once."""

from dataclasses import dataclass, field

import sqlalchemy as sa
from sqlmodel import col

from backend.chain.chain_models import ChainRow
from backend.chain.errors import ChainUnavailable
from backend.core import db
from backend.core.runtime import runtime


@dataclass
class ChainIds:
    """The chain IDs that this process has read, by endpoint ID."""

    by_eid: dict[int, int] = field(default_factory=dict)


async def chain_id(eid: int) -> int:
    """Return the chain ID of a chain; 0 if it has none, or the chain list lacks the chain."""
    known = runtime.part(ChainIds).by_eid
    if eid not in known:
        async with db.worker() as session:
            found = sa.select(col(ChainRow.native_chain_id)).where(col(ChainRow.xchain_eid) == eid)
            known[eid] = int((await session.execute(found)).scalar_one_or_none() or 0)
    return known[eid]


async def check(eid: int, answer: int) -> None:
    """Check a node's chain ID, so that nothing is signed for another chain than the chain list's.
    Raises ChainUnavailable."""
    expected = await chain_id(eid)
    if answer != expected:
        raise ChainUnavailable(
            f"The node of the chain {eid} belongs to another chain: its chain ID is {answer}, not {expected}."
        )
