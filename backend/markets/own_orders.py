"""The organization's own open orders that a new order would meet: it would skip them, or trade with its own owner."""

from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth.principal import Context
from backend.markets import rules
from backend.markets.models import OrderRow
from backend.markets.rules import Resting
from backend.markets.schemas import OrderCreate, OrderStatus, OwnOrder
from backend.wallets import known_names
from backend.wallets.known_names import KnownAddress
from backend.wallets.schemas import AddressKind


async def met_by(context: Context, market_id: UUID, body: OrderCreate, maker: str) -> list[OwnOrder]:
    """Return the open orders of the maker's owner that an order would meet, best price first."""
    rows = await _opposite(context, market_id, body)
    book = [_resting(row) for row in rows]
    met = rules.met_by(book, body.side, int(body.price), int(body.amount), maker)
    names = await known_names.known(context.session, context.organization_id, {maker, *(one.maker for one in met)})
    ids = {row.chain_order_id: row.id for row in rows}
    return [
        OwnOrder(
            order_id=ids[one.order_id],
            wallet_address=one.maker,
            wallet_name=names[one.maker].name or one.maker,
            price=str(one.price),
            amount=str(one.rest),
            fills=one.maker != maker,
        )
        for one in met
        if one.maker == maker or (_is_own(names[one.maker]) and _is_own(names[maker]))
    ]


async def _opposite(context: Context, market_id: UUID, body: OrderCreate) -> list[OrderRow]:
    query = sa.select(OrderRow).where(
        col(OrderRow.organization_id) == context.organization_id,
        col(OrderRow.market_id) == market_id,
        col(OrderRow.side) != body.side,
        col(OrderRow.status).in_((OrderStatus.OPEN, OrderStatus.PARTIAL)),
        col(OrderRow.chain_order_id).is_not(None),
    )
    return list(await context.session.scalars(query))


def _resting(row: OrderRow) -> Resting:
    rest = (row.amount or 0) - (row.filled or 0)
    return Resting(row.chain_order_id or 0, row.side, row.price or 0, rest, row.maker_address)


def _is_own(address: KnownAddress) -> bool:
    """Return whether an address is a wallet of the organization itself; a party's wallet holds the party's tokens."""
    return address.kind is AddressKind.OWN_WALLET
