"""Which chain is which: the chain id that the registry has for an endpoint id, asked for once."""

import sqlalchemy as sa
from sqlmodel import col

from backend import db
from backend.chain.errors import ChainUnavailable
from backend.chains.models import ChainRow

_chain_ids: dict[int, int] = {}


async def chain_id(eid: int) -> int:
    """The chain id of a chain; 0 where it has none, or the registry does not know the chain."""
    if eid not in _chain_ids:
        async with db.worker() as session:
            found = sa.select(col(ChainRow.native_chain_id)).where(col(ChainRow.xchain_eid) == eid)
            _chain_ids[eid] = int((await session.execute(found)).scalar_one_or_none() or 0)
    return _chain_ids[eid]


async def check(eid: int, told: int) -> None:
    """Nothing is signed for another chain than the registry's. Raises ChainUnavailable."""
    expected = await chain_id(eid)
    if told != expected:
        raise ChainUnavailable(
            f"The node of the chain {eid} is of another chain: its chain id is {told}, not {expected}."
        )
