"""Events of the markets: their orders and trades, and halts by their owner."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from backend.chain.abi.outcome import Log
from backend.chain.bindings.market import STATUSES
from backend.chain.indexer import state_events
from backend.chain.indexer.block_spans import Span
from backend.chain.indexer.state_events import Subject
from backend.chain.models import StateEventRow
from backend.core import db
from backend.daily_totals import tokens
from backend.daily_totals import trades as daily_totals
from backend.markets import announcements, indexed_orders, indexed_trades
from backend.markets.announcements import Event
from backend.markets.indexed_orders import Placed
from backend.markets.models import MarketRow, TradeRow
from backend.markets.schemas import OrderStatus

_STATUS, _HALT = "OrderStatus", "Halted"


class Orders:
    """The stream of `OrderPlaced`, `Trade`, `OrderStatus` and `Halted` events of every market."""

    name = "orders"

    def contracts(self, eid: int) -> sa.Select[Any, Any]:
        """Return the query of every market on the chain."""
        return sa.select(col(MarketRow.market_address), col(MarketRow.block_number)).where(
            col(MarketRow.chain_eid) == eid, col(MarketRow.market_address).is_not(None)
        )

    async def apply(self, session: db.Write, eid: int, logs: Sequence[Log]) -> int:
        """Insert new events, update each affected order and market, and announce what is new."""
        markets = await _markets(session, eid, {log.address for log in logs})
        found = _decoded(logs, markets)
        orders, trades, states = _orders(found), _trades(found), _states(eid, found)
        new = await indexed_orders.place(session, eid, orders)
        new += await indexed_trades.add(session, trades) + await state_events.insert_new(session, states)
        address = {market.id: address for address, market in markets.items()}
        touched = {(row.address, row.subject) for row in states}
        touched |= {(address[order["market_id"]], str(order["chain_order_id"])) for order in orders}
        await _set_states(session, eid, markets, touched)
        if new:
            await announcements.announce(session, eid, found)
        return new

    async def rewind(self, session: db.Write, eid: int, block: int) -> None:
        """Undo the orders, trades and events above a block, and update each affected order and market."""
        ids = sa.select(col(MarketRow.id)).where(col(MarketRow.chain_eid) == eid)
        await indexed_trades.rewind(session, ids, block)  # while the orders that were filled are known
        await indexed_orders.rewind(session, ids, block)
        changed = await state_events.forget(session, eid, (_STATUS, _HALT), block)
        markets = await _markets(session, eid, {address for address, _ in changed})
        await _set_states(session, eid, markets, changed)

    async def correct(self, session: db.Write, eid: int, address: str, span: Span, logs: Sequence[Log]) -> int:
        """Replace the orders and trades of a market, and its owner's halt, with those of its logs."""
        markets = await _markets(session, eid, [address])
        market, before = markets[address], await _known_states(session, markets[address])
        found = _decoded(logs, markets)
        orders, events = {o["chain_order_id"]: o for o in _orders(found)}, _states(eid, found)
        makers = await daily_totals.makers(session, market.id)
        wrong = await indexed_orders.correct(session, market, span, orders)
        wrong += await indexed_trades.correct(session, market, span, _trades(found))
        subjects = await state_events.delete_wrong(session, eid, address, (_STATUS, _HALT), span, events)
        new = await self.apply(session, eid, logs)
        makers |= await daily_totals.makers(session, market.id)
        await tokens.refresh_holders(session, market.asset_id, makers)
        known = {str(number) for number in orders} | {row.subject for row in events} | subjects | {""}
        await _set_states(session, eid, markets, {(address, subject) for subject in known})
        changed = [n for n, state in (await _known_states(session, market)).items() if before.get(n) != state]
        return max(wrong, new, len(subjects), len(changed))


async def _known_states(session: db.Write, market: MarketRow) -> dict[int | None, Any]:
    """Return the state that the rows give each order of a market, and the market itself."""
    return await indexed_orders.states(session, market) | {None: market.is_halted}


async def _markets(session: db.Write, eid: int, addresses: Collection[str]) -> dict[str, MarketRow]:
    found = sa.select(MarketRow).where(col(MarketRow.chain_eid) == eid, col(MarketRow.market_address).in_(addresses))
    return {str(row.market_address): row for row in await session.scalars(found)}


def _decoded(logs: Sequence[Log], markets: Mapping[str, MarketRow]) -> list[Event]:
    """Return the events of the markets; logs of other contracts are omitted."""
    known = [(log, log.decoded()) for log in logs if log.address in markets]
    return [Event(log, *answer, markets[log.address]) for log, answer in known if answer is not None]


def _orders(events: Sequence[Event]) -> list[Placed]:
    found = (indexed_orders.placed(e.log, e.name, e.values, e.market) for e in events)
    return [order for order in found if order is not None]


def _trades(events: Sequence[Event]) -> list[TradeRow]:
    found = (indexed_trades.traded(e.log, e.name, e.values, e.market) for e in events)
    return [trade for trade in found if trade is not None]


def _states(eid: int, events: Sequence[Event]) -> list[StateEventRow]:
    return [row for event in events if (row := _state_event(eid, event)) is not None]


def _state_event(eid: int, event: Event) -> StateEventRow | None:
    organization_id, log, values = event.market.organization_id, event.log, event.values
    if event.name == _HALT:
        return state_events.event_row(organization_id, eid, log, _HALT, {"halted": values["halted"]})
    if event.name == _STATUS:
        state = {"status": values["status"], "filled": values["filled"]}
        return state_events.event_row(organization_id, eid, log, _STATUS, state, str(values["orderId"]))
    return None


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
    await indexed_orders.write_states(session, values)


def _state(market: MarketRow, number: int, event: StateEventRow | None) -> dict[str, Any]:
    arguments = {"status": STATUSES.index(OrderStatus.OPEN), "filled": 0} if event is None else event.arguments
    status = OrderStatus(STATUSES[arguments["status"]])
    return {"market": market.id, "number": number, "status_now": status, "filled_now": arguments["filled"]}
