"""Wallet balances, read from the chains now."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession

from backend.chain.bindings import quote_token as quote
from backend.chain.bindings import token
from backend.chain.rpc import json_rpc, node_urls
from backend.chains import quote_currencies
from backend.chains import service as chains
from backend.core import db
from backend.core.errors import SignumError
from backend.core.fields import Network
from backend.wallets.schemas import Balance

TIMEOUT = 4.0
"""Seconds that a chain has to answer."""

_TOKENS = sa.text("""
    select d.chain_eid, d.token_address, d.asset_id, a.symbol, a.decimals
    from asset_deployments d join assets a on a.id = d.asset_id
    where d.organization_id = :organization and d.token_address is not null
    order by a.symbol
""")
"""Tokens of the organization. In SQL, because the assets package is above this one."""


class Holdings(NamedTuple):
    """Balances by chain, and the chains that did not answer."""

    balances: list[Balance]
    unreachable: list[int]


async def read(session: AsyncSession, organization_id: UUID, network: Network, address: str) -> Holdings:
    """Return native currency, quote currency and the organization's tokens on every reachable chain of the network."""
    quote_tokens = {eid: found.get("quote_token") for eid, found in (await chains.contracts(session)).items()}
    tokens = defaultdict(list)
    for row in await session.execute(_TOKENS, {"organization": organization_id}):
        tokens[row.chain_eid].append(row)
    places = [c for c in await chains.of_network(session, network) if node_urls.urls_of(c.xchain_eid)]
    async with db.paused(session):
        answers = await asyncio.gather(
            *(_on(c, address, quote_tokens.get(c.xchain_eid), tokens[c.xchain_eid]) for c in places)
        )
    unreachable = [c.xchain_eid for c, found in zip(places, answers, strict=True) if found is None]
    return Holdings([b for found in answers for b in found or []], unreachable)


async def tokens_on(session: AsyncSession, organization_id: UUID, eid: int, address: str) -> list[tuple[Any, int]]:
    """Return the organization's tokens on a chain with an account's non-zero balance, market escrow included. Rows have
    asset_id, symbol, decimals, token_address."""
    rows = [r for r in await session.execute(_TOKENS, {"organization": organization_id}) if r.chain_eid == eid]
    async with db.paused(session):
        held = await asyncio.gather(*(token.holding_of(eid, r.token_address, address) for r in rows))
    return [(row, amount) for row, amount in zip(rows, held, strict=True) if amount]


async def _on(chain: Any, address: str, quote_token: str | None, tokens: Sequence[Any]) -> list[Balance] | None:
    try:
        async with asyncio.timeout(TIMEOUT):
            held = [_token(chain, address, t) for t in tokens]
            found = await asyncio.gather(_native(chain, address), _quote(chain, address, quote_token), *held)
    except (SignumError, TimeoutError):
        return None
    return [b for b in found if b is not None]


async def _native(chain: Any, address: str) -> Balance:
    amount = await json_rpc.native_balance(chain.xchain_eid, address)
    return _balance(chain, chain.native_currency_symbol, 18, amount, is_native=True)


async def _quote(chain: Any, address: str, quote_token: str | None) -> Balance | None:
    terms = await quote_currencies.terms(chain.xchain_eid, quote_token)
    if terms is None or quote_token is None:
        return None
    amount = await quote.balance_of(chain.xchain_eid, quote_token, address)
    return _balance(chain, terms.symbol, terms.decimals, amount)


async def _token(chain: Any, address: str, row: Any) -> Balance:
    amount = await token.balance_of(chain.xchain_eid, row.token_address, address)
    return _balance(chain, row.symbol, row.decimals, amount, asset_id=row.asset_id)


def _balance(chain: Any, symbol: str, decimals: int, amount: int, **more: Any) -> Balance:
    return Balance(
        chain_eid=chain.xchain_eid,
        chain_name=chain.display_name,
        symbol=symbol,
        decimals=decimals,
        amount=str(amount),
        **more,
    )
