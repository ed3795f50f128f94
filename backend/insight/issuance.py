"""What an organization issued: assets with their supply, price, value and holders."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from backend.auth.principal import Context
from backend.chains import quote_currencies
from backend.chains import service as chains
from backend.core import db
from backend.insight import dates, rules, totals
from backend.insight.rules import Calendar, Quote
from backend.insight.schemas import AssetInsight, Currency, Issuance, PriceBasis
from backend.insight.totals import MarketTotals, Places, TokenTotals

SHOWN = 100
_ASSETS = sa.text("""
  select id, name, symbol, decimals, status, nominal_value from assets
  where organization_id = :org and status not in ('draft', 'archived') order by created_at, id
""")
_MARKETS = sa.text("""
  select id, asset_id, quote_symbol, quote_decimals from markets
  where organization_id = :org and quote_symbol is not null and quote_decimals is not null
""")
_PLACES = sa.text("""
  select distinct chain_eid from asset_deployments
  where organization_id = :org and status = 'active' order by chain_eid limit 1
""")
Trade = tuple[datetime, int]
"""The time and the price of a trade."""


async def read(context: Context, calendar: Calendar) -> Issuance:
    """Return the issuance, from daily totals."""
    org = {"org": context.organization_id}
    assets = (await context.session.execute(_ASSETS, org)).all()
    markets = (await context.session.execute(_MARKETS, org)).all()
    tokens = await totals.of_tokens(context, calendar)
    trades = await totals.of_markets(context, calendar)
    holders = await totals.of_holders(context, calendar)
    events = await dates.events(context, calendar)
    quotes = [Quote(m.quote_symbol, m.quote_decimals, sum(trades[m.id].trades.values())) for m in markets]
    currency = rules.currency_of(quotes) or await _currency_of_chain(context, assets)
    of_currency = [m for m in markets if (m.quote_symbol, m.quote_decimals) == currency]
    found = _Found(calendar, currency, tokens, trades, [m.asset_id for m in markets])
    valued = [found.asset(asset, [trades[m.id] for m in of_currency if m.asset_id == asset.id]) for asset in assets]
    every = list(tokens.values())
    return Issuance(
        currency=None if currency is None else Currency(symbol=currency[0], decimals=currency[1]),
        value=rules.amounts(rules.total([values for _, values in valued], len(calendar.days)), calendar),
        holders=rules.counts(holders, calendar),
        trades=rules.flow(_sum([one.trades for one in trades.values()]), calendar),
        volume=rules.amount_flow(_sum([trades[m.id].value for m in of_currency]), calendar),
        mints=rules.flow(_sum([one.mints for one in every]), calendar),
        burns=rules.flow(_sum([one.burns for one in every]), calendar),
        assets=sorted((asset for asset, _ in valued), key=_order)[:SHOWN],
        events=events,
    )


async def _currency_of_chain(context: Context, assets: Sequence[Any]) -> tuple[str, int] | None:
    """Return the quote currency of the first chain with an asset, for nominal values; None if none is needed."""
    if not any(asset.nominal_value for asset in assets):
        return None
    eid = await context.session.scalar(_PLACES, {"org": context.organization_id})
    addresses = await chains.contracts(context.session)
    async with db.paused(context.session):
        return eid and await quote_currencies.terms(eid, addresses.get(eid, {}).get("quote_token"))


def _order(asset: AssetInsight) -> tuple[int, str]:
    return -int(asset.value.now or 0), asset.symbol


def _sum(parts: Sequence[Places]) -> Places:
    found = defaultdict[int, int](int)
    for part in parts:
        for place, amount in part.items():
            found[place] += amount
    return found


class _Found:
    """What was read, from which each asset is valued."""

    def __init__(
        self,
        calendar: Calendar,
        currency: tuple[str, int] | None,
        tokens: Mapping[UUID, TokenTotals],
        trades: Mapping[UUID, MarketTotals],
        with_market: Sequence[UUID],
    ) -> None:
        self.calendar, self.currency, self.tokens, self.trades = calendar, currency, tokens, trades
        self.with_market = frozenset(with_market)

    def asset(self, asset: Any, markets: Sequence[MarketTotals]) -> tuple[AssetInsight, list[int | None]]:
        """Return an asset, and its value at each place."""
        own = self.tokens[asset.id] if asset.id in self.tokens else TokenTotals()
        supplies, last = rules.levels(own.supply, self.calendar), self._last_trades(markets)
        newest = last[-1]
        nominal = self._nominal(asset)
        basis = rules.basis_of(newest is not None, nominal is not None, asset.id in self.with_market and not markets)
        if basis is PriceBasis.OTHER_CURRENCY:
            nominal = None
        prices = [nominal if trade is None else trade[1] for trade in last]
        values = rules.values(supplies, prices, asset.decimals)
        shown = AssetInsight(
            id=asset.id,
            name=asset.name,
            symbol=asset.symbol,
            decimals=asset.decimals,
            status=asset.status,
            supply=str(supplies[-1]),
            price=None if prices[-1] is None else str(prices[-1]),
            basis=basis,
            priced_at=None if newest is None else newest[0],
            value=rules.amounts(values, self.calendar),
            holders=rules.counts(own.holders, self.calendar),
            trades=rules.flow(_sum([one.trades for one in markets]), self.calendar).now,
        )
        return shown, values

    def _nominal(self, asset: Any) -> int | None:
        return None if self.currency is None else rules.nominal_price(asset.nominal_value, self.currency[1])

    def _last_trades(self, markets: Sequence[MarketTotals]) -> list[Trade | None]:
        """Return the last trade at the end of each place, in any of some markets."""
        found: dict[int, Trade] = {}
        for market in markets:
            for place, trade in market.closes.items():
                found[place] = max(found.get(place, trade), trade)
        return rules.carried(found, self.calendar)
