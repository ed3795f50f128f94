"""The quote currencies that the investor's wallets hold, on the chains where the organization has markets."""

import asyncio
from typing import Any

import sqlalchemy as sa

from backend.auth.principal import Context
from backend.chain.bindings import quote_token
from backend.core import db
from backend.core.errors import SignumError
from backend.investors import profile
from backend.investors.schemas import InvestorCash

PATIENCE = 3.0
"""Seconds that a chain has to return balances."""
_CURRENCIES = sa.text("""
  select distinct on (m.chain_eid, m.quote_token_address) m.chain_eid, m.quote_token_address as at,
    coalesce(m.quote_symbol, '') as symbol, coalesce(m.quote_decimals, 0) as decimals,
    coalesce(c.display_name, m.chain_eid::text) as chain_name
  from markets m left join chains c on c.xchain_eid = m.chain_eid
  where m.organization_id = :org and m.status in ('active', 'halted') and m.quote_token_address is not null
  order by m.chain_eid, m.quote_token_address, m.created_at
""")


async def of(context: Context) -> list[InvestorCash]:
    """Return the amount of each currency in each wallet, without zeros; null for a chain that does not answer."""
    own = await profile.addresses(context)
    currencies = (await context.session.execute(_CURRENCIES, {"org": context.organization_id})).all()
    async with db.paused(context.session):
        found = await asyncio.gather(*(_amounts(one, own) for one in currencies)) if own else []
    return [
        InvestorCash(
            chain_eid=one.chain_eid,
            chain_name=one.chain_name,
            address=address,
            symbol=one.symbol,
            decimals=one.decimals,
            amount=None if amount is None else str(amount),
        )
        for one, amounts in zip(currencies, found, strict=False)
        for address, amount in zip(own, amounts, strict=True)
        if amount != 0
    ]


async def _amounts(currency: Any, own: list[str]) -> list[int] | list[None]:
    try:
        async with asyncio.timeout(PATIENCE):
            return await quote_token.balances_of(currency.chain_eid, currency.at, own)
    except (SignumError, TimeoutError):
        return [None] * len(own)
