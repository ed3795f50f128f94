"""The relayer of a chain: what several workflows send, look for and record at the same time is one batch.

Each event loop has one relayer for each chain. It keeps nothing: the transactions are stored before they are sent, and
a workflow that runs again sends and looks again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.chain.models import TransactionRow, TransactionStatus
from backend.chain.rpc.json_rpc import Rpc
from backend.chain.rpc.receipts import Receipt
from backend.chain.transactions.corrections import IS_ONE_OF_SEVERAL, check_twice
from backend.core import db
from backend.core.runtime import runtime
from backend.core.together import Together


@dataclass
class Relayers:
    """The relayers of an event loop, by chain."""

    by_eid: dict[int, "Relayer"] = field(default_factory=dict)


@dataclass(frozen=True)
class End:
    """A transaction, and the columns that its receipt settles."""

    row: TransactionRow
    values: dict[str, Any]


class Relayer:
    """What goes to a chain in batches. One call's refusal is raised to its caller alone."""

    def __init__(self, rpc: Rpc) -> None:
        self._rpc = rpc
        self._sent = Together(self._send)
        self._looked = Together(self._look)
        self._ended = Together(_record)

    async def send(self, raw: str) -> None:
        """Send a signed transaction. Raises Reverted, RpcError, ChainUnavailable."""
        await self._sent.ask(raw)

    async def receipt(self, row: TransactionRow) -> Receipt | None:
        """Return the receipt of a transaction, under any of its hashes; None if it is not mined. Raises RpcError,
        ChainUnavailable."""
        return await self._looked.ask(row)

    async def end(self, row: TransactionRow, values: dict[str, Any]) -> None:
        """Record the end of a transaction. Opens an alarm if it is not the only mined one of its intent."""
        await self._ended.ask(End(row, values))

    async def _send(self, raws: Sequence[str]) -> list[Any]:
        return await self._rpc.attempt([("eth_sendRawTransaction", [raw]) for raw in raws])

    async def _look(self, rows: Sequence[TransactionRow]) -> list[Receipt | Exception | None]:
        asked = [(place, tx_hash) for place, row in enumerate(rows) for tx_hash in row.hashes]
        answers = await self._rpc.attempt([("eth_getTransactionReceipt", [tx_hash]) for _, tx_hash in asked])
        found: list[Receipt | Exception | None] = [None] * len(rows)
        for (place, _), answer in zip(asked, answers, strict=True):
            if not isinstance(found[place], dict):
                found[place] = answer or found[place]
        return found


async def _record(ends: Sequence[End]) -> Sequence[None]:
    """Write the ends of transactions in one database transaction."""
    async with db.worker() as session:
        for one in await _update(session, ends):
            await check_twice(session, one.row)
    return [None] * len(ends)


async def _update(session: db.Write, ends: Sequence[End]) -> list[End]:
    """Update the rows; return those confirmed ones that are not the only transaction of their intent."""
    by_id = {end.row.id: end for end in ends}
    if len(by_id) == 1:
        (end,) = by_id.values()
        update = sa.update(TransactionRow).where(col(TransactionRow.id) == end.row.id).values(**end.values)
        update = update.execution_options(synchronize_session=False)
        several = {end.row.id} if await session.scalar(update.returning(IS_ONE_OF_SEVERAL)) else set[UUID]()
    else:
        query = sa.select(col(TransactionRow.id), IS_ONE_OF_SEVERAL).where(col(TransactionRow.id).in_(by_id))
        several = {
            row.id
            for row in await session.execute(query.order_by(col(TransactionRow.id)).with_for_update())
            if row.is_one_of_several
        }
        await session.execute(sa.update(TransactionRow), [{"id": end.row.id, **end.values} for end in by_id.values()])
    confirmed = TransactionStatus.CONFIRMED
    return [by_id[row_id] for row_id in several if by_id[row_id].values["status"] is confirmed]


def of(rpc: Rpc) -> Relayer:
    """Return the running event loop's relayer of a chain."""
    known = runtime.loop_part(Relayers).by_eid
    if rpc.eid not in known:
        known[rpc.eid] = Relayer(rpc)
    return known[rpc.eid]
