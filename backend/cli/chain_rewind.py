"""`signum chain rewind`: returns the tables of a chain to a block, and reads later blocks again.

For an operator, after a reorg that is too deep for automatic recovery. The server may keep running.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

import backend.registrations.listeners  # noqa: F401  (changes are announced to them)
from backend import models
from backend.chain import alarms
from backend.chain.coordination import cursor
from backend.chain.coordination.cursor import Block, Moved, Place
from backend.chain.errors import RpcError
from backend.chain.indexer import reorgs
from backend.chain.indexer.log_reader import Behind
from backend.chain.models import AlarmKind
from backend.chain.rpc import json_rpc, node_urls
from backend.chain.rpc.json_rpc import Rpc
from backend.core import db
from backend.core.connections import database
from backend.core.connections.embedded import outside_url
from backend.core.errors import CannotStart, SignumError
from backend.core.settings import Settings
from backend.models import (
    ChainRow,
    ClaimRow,
    DistributionRow,
    MarketRow,
    OrderRow,
    StateEventRow,
    TokenTransferRow,
    TradeRow,
    TransactionRow,
)
from backend.registrations import event_streams

assert models, "every table is registered, as in the server"
assert event_streams, "every stream is registered"
TRIES = 20
"""Times that a rewind restarts because the server wrote in between."""


@dataclass(frozen=True)
class Plan:
    """The effect of a rewind. `undone` counts the rows above the block, by kind."""

    eid: int
    chain: str
    place: Block
    block: Block
    known: int
    """The newest block, up to the target, that is known to be unchanged."""
    undone: dict[str, int]
    transactions: int

    def lines(self) -> list[str]:
        """Return the plan in sentences."""
        rows = ", ".join(_counted(count, name) for name, count in self.undone.items() if count) or "no events"
        unsure = (
            f"The chain is only known to be unchanged up to block {self.known}; a reorganization between that block "
            f"and block {self.block.number} is not undone by this rewind."
        )
        return [
            f"{self.chain} ({self.eid}): the tables hold its events up to block {self.place.number}.",
            f"A rewind to block {self.block.number} removes what came after it: {rows}.",
            f"It reads the blocks after {self.block.number} again, and derives orders, halts, pauses, venues and "
            "distributions from what it finds.",
            f"It compares {_counted(self.transactions, 'transaction')} of this installation with the chain, and sends "
            "again what lost its block.",
            "Nothing before that block changes.",
            *([unsure] if self.known < self.block.number else []),
        ]


def _counted(count: int, name: str) -> str:
    return f"{count} {name}" if count == 1 else f"{count} {name}s"


async def plan(settings: Settings, eid: int, to_block: int) -> Plan:
    """Return what a rewind would do. Raises CannotStart where it is not possible, or not deep enough."""
    async with _outside(settings, eid) as chain:
        return await plan_within(chain, to_block)


async def rewind(settings: Settings, planned: Plan) -> None:
    """Rewind, and clear the alarm."""
    async with _outside(settings, planned.eid) as chain:
        await rewind_within(chain, planned)


@asynccontextmanager
async def _outside(settings: Settings, eid: int) -> AsyncIterator[Rpc]:
    """Open a chain's nodes and the database, without a server; failures become one line."""
    if not node_urls.urls_of(eid):
        raise CannotStart(f"The chain {eid} has no node. Set SIGNUM_RPC_URLS as for the server.")
    database.start(settings.outside_database or outside_url(settings.home))
    try:
        yield Rpc(eid)
    except sa.exc.OperationalError as error:
        raise CannotStart("The database does not respond. Start `signum serve` first, or set DATABASE_URL.") from error
    except (SignumError, RpcError) as error:
        raise CannotStart(error.detail) from error
    except Behind as error:
        raise CannotStart(f"The node of the chain {eid} does not have all of these blocks yet. Retry later.") from error
    finally:
        await json_rpc.close()
        await database.stop()


async def plan_within(chain: Rpc, to_block: int) -> Plan:
    """Return the same for an open database."""
    place = await _place(chain.eid)
    if not 0 <= to_block < place.block.number:
        raise CannotStart(f"The tables hold blocks up to {place.block.number}. Name a block from 0 to the one before.")
    common, is_same = await reorgs.compared(chain, to_block)
    if not is_same:
        raise CannotStart(
            f"The chain was reorganized below block {to_block}, too. The newest block that is certainly unchanged is "
            f"{common}: signum chain rewind --eid {chain.eid} --to-block {common}"
        )
    block = await reorgs.block_at(chain, to_block)
    async with db.worker() as session:
        name = await session.scalar(sa.select(col(ChainRow.display_name)).where(col(ChainRow.xchain_eid) == chain.eid))
        undone = await _undone(session, chain.eid, to_block)
        above = (col(TransactionRow.chain_eid) == chain.eid, col(TransactionRow.block_number) > to_block)
        transactions = await session.scalar(sa.select(sa.func.count()).select_from(TransactionRow).where(*above)) or 0
    return Plan(chain.eid, name or "Chain", place.block, block, common, undone, transactions)


async def rewind_within(chain: Rpc, planned: Plan) -> None:
    """Do the same for an open database."""
    for _ in range(TRIES):
        place = await _place(chain.eid)
        if place.block.number <= planned.block.number:
            break  # the indexer has already gone back
        try:
            await reorgs.rewind(chain, place, planned.block)
        except Moved:
            continue
        break
    else:
        raise CannotStart("The server keeps writing to this chain's tables. Retry.")
    async with db.worker() as session:
        await alarms.clear(session, chain.eid, AlarmKind.DEEP_REORG)
        await cursor.notify(session, chain.eid)


async def _place(eid: int) -> Place:
    async with db.worker() as session:
        place = await cursor.find(session, eid)
    if place is None:
        raise CannotStart(f"The chain {eid} has not been indexed. There is nothing to rewind.")
    return place


async def _undone(session: db.Write, eid: int, block: int) -> dict[str, int]:
    counts = {
        "transfer": _count(TokenTransferRow, block).where(col(TokenTransferRow.chain_eid) == eid),
        "order": _count(OrderRow, block).join(MarketRow).where(col(MarketRow.chain_eid) == eid),
        "trade": _count(TradeRow, block).join(MarketRow).where(col(MarketRow.chain_eid) == eid),
        "claim": _count(ClaimRow, block).join(DistributionRow).where(col(DistributionRow.chain_eid) == eid),
        "state change": _count(StateEventRow, block).where(col(StateEventRow.chain_eid) == eid),
    }
    return {name: await session.scalar(query) or 0 for name, query in counts.items()}


def _count(
    table: type[TokenTransferRow | OrderRow | TradeRow | ClaimRow | StateEventRow], block: int
) -> sa.Select[Any]:
    return sa.select(sa.func.count()).select_from(table).where(col(table.block_number) > block)
