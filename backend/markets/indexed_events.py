"""Events of the markets: their orders, and halts by their owner."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col

from backend.chain.abi.outcome import Log
from backend.chain.bindings.market import STATUSES
from backend.chain.indexer import state_events
from backend.chain.indexer.block_spans import Span
from backend.chain.indexer.state_events import Subject
from backend.chain.models import StateEventRow
from backend.core import db
from backend.markets.models import MarketRow, OrderRow
from backend.markets.schemas import OrderSide, OrderStatus

_STATUS, _HALT = "OrderStatus", "Halted"
_ORDERS: Any = sa.inspect(OrderRow).local_table
_PLACE = ("tx_hash", "block_number")
_PLACED = ("side", "price", "amount", "maker_address", *_PLACE)
"""Fields of the event that places an order."""


class Orders:
    """The stream of `OrderPlaced`, `OrderStatus` and `Halted` events of every market."""

    name = "orders"

    async def contracts(self, session: db.Write, eid: int) -> dict[str, int | None]:
        """Return every market on the chain."""
        found = sa.select(col(MarketRow.market_address), col(MarketRow.block_number)).where(
            col(MarketRow.chain_eid) == eid, col(MarketRow.market_address).is_not(None)
        )
        return {str(at): created for at, created in await session.execute(found)}

    async def apply(self, session: db.Write, eid: int, logs: Sequence[Log]) -> int:
        """Insert new events, and update each affected order and market."""
        markets = await _markets(session, eid, {log.address for log in logs})
        decoded = [(log, answer) for log in logs if log.address in markets and (answer := log.decoded()) is not None]
        orders = [o for log, answer in decoded if (o := _placed(log, *answer, markets[log.address])) is not None]
        events = [
            row for log, answer in decoded if (row := _event(eid, log, *answer, markets[log.address])) is not None
        ]
        new = await _place(session, orders) + await state_events.insert_new(session, events)
        address = {market.id: address for address, market in markets.items()}
        touched = {(row.address, row.subject) for row in events}
        touched |= {(address[order["market_id"]], str(order["chain_order_id"])) for order in orders}
        await _set_states(session, eid, markets, touched)
        return new

    async def rewind(self, session: db.Write, eid: int, block: int) -> None:
        """Delete the orders and events above a block, and update each affected order and market."""
        ids = sa.select(col(MarketRow.id)).where(col(MarketRow.chain_eid) == eid)
        gone = sa.delete(OrderRow).where(col(OrderRow.market_id).in_(ids), col(OrderRow.block_number) > block)
        await session.execute(gone)
        changed = await state_events.forget(session, eid, (_STATUS, _HALT), block)
        markets = await _markets(session, eid, {address for address, _ in changed})
        await _set_states(session, eid, markets, changed)

    async def correct(self, session: db.Write, eid: int, address: str, span: Span, logs: Sequence[Log]) -> int:
        """Replace the orders of a market, and its owner's halt, with those of its logs."""
        markets = await _markets(session, eid, [address])
        market, before = markets[address], await _states(session, markets[address])
        decoded = [(log, answer) for log in logs if (answer := log.decoded()) is not None]
        orders = {o["chain_order_id"]: o for log, answer in decoded if (o := _placed(log, *answer, market)) is not None}
        events = [row for log, answer in decoded if (row := _event(eid, log, *answer, market)) is not None]
        wrong = await _correct_orders(session, market, span, orders)
        subjects = await state_events.delete_wrong(session, eid, address, (_STATUS, _HALT), span, events)
        new = await self.apply(session, eid, logs)
        known = {str(number) for number in orders} | {row.subject for row in events} | subjects | {""}
        await _set_states(session, eid, markets, {(address, subject) for subject in known})
        changed = [n for n, state in (await _states(session, market)).items() if before.get(n) != state]
        return max(wrong, new, len(subjects), len(changed))


async def _states(session: db.Write, market: MarketRow) -> dict[int | None, Any]:
    """Return the state that the rows give each order of a market, and the market itself."""
    columns = (_ORDERS.c.chain_order_id, _ORDERS.c.status, _ORDERS.c.filled)
    rows = await session.execute(sa.select(*columns).where(_ORDERS.c.market_id == market.id))
    return {row.chain_order_id: (row.status, row.filled) for row in rows} | {None: market.is_halted}


async def _correct_orders(session: db.Write, market: MarketRow, span: Span, right: dict[int, dict[str, Any]]) -> int:
    """Delete the orders that were never placed, and correct the others; return how many were wrong."""
    theirs = (
        _ORDERS.c.market_id == market.id,
        sa.or_(span.holds(_ORDERS.c.block_number), _ORDERS.c.chain_order_id.in_(right)),
    )
    rows = (await session.execute(sa.select(_ORDERS).where(*theirs))).all()
    wrong = [
        row for row in rows if any(getattr(row, n) != v for n, v in _of_order(right.get(row.chain_order_id)).items())
    ]
    for row in wrong:
        here = _ORDERS.c.id == row.id
        if row.chain_order_id not in right:
            await session.execute(sa.delete(_ORDERS).where(here))
        else:
            await session.execute(sa.update(_ORDERS).where(here).values(**_of_order(right[row.chain_order_id])))
    return len(wrong)


def _of_order(placed: dict[str, Any] | None) -> dict[str, Any]:
    """Return how an order's row must describe its placement; an order that was never placed matches nothing."""
    return {"chain_order_id": None} if placed is None else {name: placed[name] for name in _PLACED}


async def _markets(session: db.Write, eid: int, addresses: Collection[str]) -> dict[str, MarketRow]:
    found = sa.select(MarketRow).where(col(MarketRow.chain_eid) == eid, col(MarketRow.market_address).in_(addresses))
    return {str(row.market_address): row for row in await session.scalars(found)}


def _event(eid: int, log: Log, name: str, values: Mapping[str, Any], market: MarketRow) -> StateEventRow | None:
    if name == _HALT:
        return state_events.event_row(market.organization_id, eid, log, name, {"halted": values["halted"]})
    if name == _STATUS:
        state = {"status": values["status"], "filled": values["filled"]}
        return state_events.event_row(market.organization_id, eid, log, name, state, str(values["orderId"]))
    return None


def _placed(log: Log, name: str, values: Mapping[str, Any], market: MarketRow) -> dict[str, Any] | None:
    if name != "OrderPlaced":
        return None
    return OrderRow(
        organization_id=market.organization_id,
        market_id=market.id,
        chain_order_id=values["orderId"],
        side=OrderSide.BUY if values["isBuy"] else OrderSide.SELL,
        price=values["price"],
        amount=values["amount"],
        maker_address=values["maker"],
        tx_hash=log.tx_hash,
        block_number=log.block_number,
    ).model_dump()


async def _place(session: db.Write, orders: Sequence[dict[str, Any]]) -> int:
    """Insert orders. An existing one, from another block or transaction, is replaced."""
    if not orders:
        return 0
    fresh = insert(_ORDERS)
    elsewhere = sa.tuple_(*(_ORDERS.c[n] for n in _PLACE)) != sa.tuple_(*(fresh.excluded[n] for n in _PLACE))
    replaced = fresh.on_conflict_do_update(
        index_elements=["market_id", "chain_order_id"],
        set_={name: fresh.excluded[name] for name in _PLACED},
        where=elsewhere,
    )
    return await state_events.execute_many(session, replaced, orders)


async def _set_states(
    session: db.Write, eid: int, markets: Mapping[str, MarketRow], subjects: Collection[Subject]
) -> None:
    """Set orders and markets to the state of their newest events."""
    known = [subject for subject in subjects if subject[0] in markets]
    if not known:
        return
    events = await state_events.newest(session, eid, (_STATUS, _HALT), known)
    values = []
    for address, number in known:
        event = events.get((address, number))
        if not number:
            markets[address].is_halted = event is not None and event.arguments["halted"]
        else:
            values.append(_state(markets[address], int(number), event))
    await session.flush()
    await _write_states(session, values)


def _state(market: MarketRow, number: int, event: StateEventRow | None) -> dict[str, Any]:
    arguments = {"status": STATUSES.index(OrderStatus.OPEN), "filled": 0} if event is None else event.arguments
    status = OrderStatus(STATUSES[arguments["status"]])
    return {"market": market.id, "number": number, "status_now": status, "filled_now": arguments["filled"]}


async def _write_states(session: db.Write, values: Sequence[dict[str, Any]]) -> None:
    if not values:
        return
    status = sa.bindparam("status_now", type_=_ORDERS.c.status.type)
    filled = sa.bindparam("filled_now", type_=_ORDERS.c.filled.type)
    theirs = (_ORDERS.c.market_id == sa.bindparam("market"), _ORDERS.c.chain_order_id == sa.bindparam("number"))
    changed = sa.or_(_ORDERS.c.status != status, _ORDERS.c.filled != filled)
    update = sa.update(_ORDERS).where(*theirs, changed).values(status=status, filled=filled, updated_at=db.now())
    await (await session.connection()).execute(update, list(values))
