"""The rows of orders, as their events set them.

An order that was accepted here has a row before its event, which its transaction identifies. Undoing the event of such
an order makes it pending again; an order that was placed outside Signum exists only by its event.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID, uuid5

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from backend.chain.abi.outcome import Log
from backend.chain.indexer import state_events
from backend.chain.indexer.block_spans import Span
from backend.chain.models import TransactionRow
from backend.core import db
from backend.core.recorded_time import recorded_now
from backend.markets.models import MarketRow, OrderRow
from backend.markets.schemas import OrderSide, OrderStatus
from backend.requests.models import RequestRow

ORDERS: Any = sa.inspect(OrderRow).local_table
_TRANSACTIONS: Any = sa.inspect(TransactionRow).local_table
_REQUESTS: Any = sa.inspect(RequestRow).local_table
_PLACE = ("tx_hash", "block_number")
_PLACED = ("side", "price", "amount", "maker_address", *_PLACE)
"""Fields of the event that places an order."""
Placed = dict[str, Any]
"""The row of an order that was placed outside Signum."""


def placed(log: Log, name: str, values: Mapping[str, Any], market: MarketRow) -> Placed | None:
    """Return the row of an `OrderPlaced` event; None for any other."""
    if name != "OrderPlaced":
        return None
    return OrderRow(
        id=uuid5(market.id, f"{log.tx_hash}:{values['orderId']}"),  # the same if it is read again
        organization_id=market.organization_id,
        market_id=market.id,
        chain_order_id=values["orderId"],
        side=OrderSide.BUY if values["isBuy"] else OrderSide.SELL,
        status=OrderStatus.OPEN,
        price=values["price"],
        amount=values["amount"],
        maker_address=values["maker"],
        tx_hash=log.tx_hash,
        block_number=log.block_number,
    ).model_dump()


async def place(session: db.Write, eid: int, orders: Sequence[Placed]) -> int:
    """Write placed orders, each into the row of its request if it has one; return how many were new or moved."""
    if not orders:
        return 0
    requested = await _requested(session, eid, orders)
    count, others, seen = 0, list[Placed](), set[UUID]()
    for order in orders:
        row = requested.get(order["tx_hash"])
        if row is None or row.subject_id in seen or not _may_be(row, order):
            others.append(order)
        elif row.id is None:
            others.append(order | {"id": row.subject_id, "request_id": row.of_request})
        else:
            count += await _take(session, row, order)
        seen |= {row.subject_id} if row is not None else set()
    return count + await _insert(session, others)


def _may_be(row: Any, order: Placed) -> bool:
    """Return whether a request's order can have this event: by accident, a request can have two transactions that are
    mined."""
    is_here = row.chain_order_id is None or row.tx_hash == order["tx_hash"]
    return row.id is None or (is_here and row.market_id == order["market_id"])


async def _requested(session: db.Write, eid: int, orders: Sequence[Placed]) -> dict[str, Any]:
    """Return the rows of orders that were accepted here, by the hash of the transaction that placed them; without an
    `id` if the row is missing."""
    hashes, sent, asked = {order["tx_hash"] for order in orders}, _TRANSACTIONS.c, _REQUESTS.c
    ours = (
        sa.select(ORDERS, sent.tx_hash.label("sent_as"), sent.earlier, asked.subject_id, asked.id.label("of_request"))
        .select_from(_TRANSACTIONS)
        .join(_REQUESTS, sa.and_(asked.id == sent.request_id, asked.kind == "order.place"))
        .outerjoin(ORDERS, ORDERS.c.id == asked.subject_id)
        .where(sent.chain_eid == eid, asked.organization_id.in_({order["organization_id"] for order in orders}))
    )
    found = {row.sent_as: row for row in await session.execute(ours.where(sent.tx_hash.in_(hashes)))}
    makers = {order["maker_address"] for order in orders if order["tx_hash"] not in found}
    replaced = ours.where(
        ORDERS.c.market_id.in_({order["market_id"] for order in orders}),
        ORDERS.c.maker_address.in_(makers),
        ORDERS.c.chain_order_id.is_(None),
        sa.func.jsonb_array_length(sent.earlier) > 0,
    )
    for row in await session.execute(replaced) if makers else ():
        found |= {version["tx_hash"]: row for version in row.earlier if version["tx_hash"] in hashes}
    return found


async def _take(session: db.Write, row: Any, order: Placed) -> int:
    """Set the row of a request's order to its event."""
    named = {"chain_order_id": order["chain_order_id"]} | {name: order[name] for name in _PLACED}
    if all(getattr(row, name) == value for name, value in named.items()):
        return 0
    here = (ORDERS.c.market_id == row.market_id, ORDERS.c.chain_order_id == order["chain_order_id"])
    await undo(session, *here, ORDERS.c.id != row.id)
    status = OrderStatus.OPEN if row.chain_order_id is None else row.status
    values = {**named, "status": status, "failure": None, "updated_at": recorded_now()}
    await session.execute(sa.update(ORDERS).where(ORDERS.c.id == row.id).values(**values))
    return 1


async def _insert(session: db.Write, orders: Sequence[Placed]) -> int:
    """Insert orders that were placed outside Signum. An existing one, from another block or transaction, is
    replaced."""
    if not orders:
        return 0
    numbers = [(order["market_id"], order["chain_order_id"], order["tx_hash"]) for order in orders]
    taken = sa.tuple_(ORDERS.c.market_id, ORDERS.c.chain_order_id).in_([number[:2] for number in numbers])
    known = sa.tuple_(ORDERS.c.market_id, ORDERS.c.chain_order_id, ORDERS.c.tx_hash).in_(numbers)
    await undo(session, ORDERS.c.request_id.is_not(None), taken, sa.not_(known))
    fresh = insert(ORDERS)
    elsewhere = sa.tuple_(*(ORDERS.c[n] for n in _PLACE)) != sa.tuple_(*(fresh.excluded[n] for n in _PLACE))
    own = sa.case((ORDERS.c.request_id.is_(None), fresh.excluded.id), else_=ORDERS.c.id)
    replaced = fresh.on_conflict_do_update(
        index_elements=["market_id", "chain_order_id"],
        set_={"id": own, "request_id": sa.func.coalesce(ORDERS.c.request_id, fresh.excluded.request_id)}
        | {name: fresh.excluded[name] for name in (*_PLACED, "updated_at")},
        where=elsewhere,
    )
    return await state_events.execute_many(session, replaced, orders)


async def undo(session: db.Write, *which: Any) -> None:
    """Undo the placement of orders: those of requests are pending again, others are deleted."""
    await session.execute(sa.delete(ORDERS).where(*which, ORDERS.c.request_id.is_(None)))
    gone = {"chain_order_id": None, "filled": 0, **dict.fromkeys(_PLACE)}
    pending = sa.update(ORDERS).where(*which, ORDERS.c.chain_order_id.is_not(None))
    await session.execute(pending.values(status=OrderStatus.PENDING, updated_at=recorded_now(), **gone))


async def rewind(session: db.Write, markets: sa.Select[Any], block: int) -> None:
    """Undo the orders of some markets above a block."""
    await undo(session, ORDERS.c.market_id.in_(markets), ORDERS.c.block_number > block)


async def states(session: db.Write, market: MarketRow) -> dict[int | None, Any]:
    """Return the state that the rows give each order of a market, by its number."""
    columns = (ORDERS.c.chain_order_id, ORDERS.c.status, ORDERS.c.filled)
    query = sa.select(*columns).where(ORDERS.c.market_id == market.id, ORDERS.c.chain_order_id.is_not(None))
    return {row.chain_order_id: (row.status, row.filled) for row in await session.execute(query)}


async def correct(session: db.Write, market: MarketRow, span: Span, right: Mapping[int, Placed]) -> int:
    """Undo the orders that were never placed, and correct the others; return how many were wrong."""
    theirs = (
        ORDERS.c.market_id == market.id,
        sa.or_(span.holds(ORDERS.c.block_number), ORDERS.c.chain_order_id.in_(right)),
    )
    rows = (await session.execute(sa.select(ORDERS).where(*theirs))).all()
    wrong = [row for row in rows if any(getattr(row, n) != v for n, v in _of(right.get(row.chain_order_id)).items())]
    for row in wrong:
        here, order = ORDERS.c.id == row.id, right.get(row.chain_order_id)
        if order is None or (row.request_id is not None and row.tx_hash != order["tx_hash"]):
            await undo(session, here)
        else:
            await session.execute(sa.update(ORDERS).where(here).values(**_of(order)))
    return len(wrong)


def _of(order: Placed | None) -> dict[str, Any]:
    """Return how an order's row must describe its placement; an order that was never placed matches nothing."""
    return {"chain_order_id": None} if order is None else {name: order[name] for name in _PLACED}


async def write_states(session: db.Write, values: Sequence[dict[str, Any]]) -> None:
    """Set the state of orders: `market`, `number`, `status_now` and `filled_now` of each."""
    if not values:
        return
    status = sa.bindparam("status_now", type_=ORDERS.c.status.type)
    filled = sa.bindparam("filled_now", type_=ORDERS.c.filled.type)
    theirs = (ORDERS.c.market_id == sa.bindparam("market"), ORDERS.c.chain_order_id == sa.bindparam("number"))
    changed = sa.or_(ORDERS.c.status != status, ORDERS.c.filled != filled)
    update = sa.update(ORDERS).where(*theirs, changed).values(status=status, filled=filled, updated_at=recorded_now())
    await (await session.connection()).execute(update, list(values))
