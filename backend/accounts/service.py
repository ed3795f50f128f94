"""Accounts with their balances, and what the rules of a token and of a market say about them."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from backend.accounts import listing
from backend.accounts.listing import Wanted
from backend.accounts.schemas import Account, AccountList
from backend.assets import records, transfer_check
from backend.assets.models import AssetRow
from backend.assets.transfer_check import Place
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.chain.bindings import quote_token, token
from backend.compliance import affected, standings
from backend.compliance.affected import Rules
from backend.core import db
from backend.core.errors import BadRequest, SignumError
from backend.markets import service as markets
from backend.markets.models import MarketRow
from backend.markets.terms import market_rules
from backend.wallets import known_names
from backend.wallets.known_names import KnownAddress
from backend.wallets.schemas import AddressKind

PATIENCE = 4.0
"""Seconds that a chain has to answer."""
CONTRACTS = (AddressKind.MARKET, AddressKind.TOKEN)
"""Addresses that never hold a token for themselves."""


@dataclass(frozen=True)
class Facts:
    """What the chains say: the failed rules, and the balance of the quote currency, by address."""

    reasons: Mapping[str, list[str]]
    quote: Mapping[str, int]


async def search(context: Context, wanted: Wanted) -> AccountList:
    """Return the accounts that match, with what is known of them."""
    asset = await _asset(context, wanted)
    wanted, market = await _placed(context, wanted)
    rows = await listing.found(context, wanted)
    shown = rows[: wanted.most]
    addresses = [row.address for row in shown]
    names = await known_names.known(context.session, context.organization_id, addresses)
    facts = await _facts(context, wanted, market, shown, names)
    accounts = [_account(row, names[row.address], wanted, facts) for row in shown]
    terms = {"symbol": asset.symbol, "decimals": asset.decimals} if asset else {}
    return AccountList(accounts=accounts, has_more=len(rows) > wanted.most, **terms)


async def _asset(context: Context, wanted: Wanted) -> AssetRow | None:
    """Return the asset if one is given. 400 for a chain or market without it, 404 for an unknown one."""
    if wanted.asset_id is None:
        if wanted.eid is not None or wanted.market_id is not None:
            raise BadRequest("A chain or a market needs its asset. Add asset_id.")
        return None
    context.require(Scope.ASSETS_READ)
    return await records.asset(context.session, context.organization_id, wanted.asset_id)


async def _placed(context: Context, wanted: Wanted) -> tuple[Wanted, MarketRow | None]:
    """Return the asset's chain, and the market if one is given. 400 without a chain, 404 for an unknown market."""
    if wanted.asset_id is None:
        return wanted, None
    if wanted.market_id is None:
        if wanted.eid is None:
            raise BadRequest("An asset has holders on each of its chains. Add chain_eid.")
        return wanted, None
    market = await markets.market(context, wanted.asset_id, wanted.market_id)
    if wanted.eid not in (None, market.chain_eid):
        raise BadRequest("The market is on another chain. Leave out chain_eid.")
    return replace(wanted, eid=market.chain_eid), market


async def _facts(
    context: Context, wanted: Wanted, market: MarketRow | None, rows: Sequence[Any], names: Mapping[str, KnownAddress]
) -> Facts | None:
    """Return what the chain says; None without an asset, or if the chain does not answer."""
    if wanted.asset_id is None or wanted.eid is None or not rows:
        return None
    place = await transfer_check.place_of(context, wanted.asset_id, wanted.eid)
    addresses = [row.address for row in rows]
    try:
        async with db.paused(context.session), asyncio.timeout(PATIENCE):
            on_token, quote = await asyncio.gather(
                token.rules(place.eid, place.token), _quote_balances(market, addresses)
            )
    except (SignumError, TimeoutError):
        return None
    rules = Rules(on_token, None if market is None else market_rules(market))
    return Facts(await _reasons(context, place, rules, rows, names), quote)


async def _quote_balances(market: MarketRow | None, addresses: Sequence[str]) -> dict[str, int]:
    if market is None or market.quote_token_address is None:
        return {}
    amounts = await quote_token.balances_of(market.chain_eid, market.quote_token_address, addresses)
    return dict(zip(addresses, amounts, strict=True))


async def _reasons(
    context: Context, place: Place, rules: Rules, rows: Sequence[Any], names: Mapping[str, KnownAddress]
) -> dict[str, list[str]]:
    """Return the rules that each account does not satisfy."""
    found = await standings.read(context, {place.eid: standings.Wanted([row.address for row in rows], [rules.token])})
    reasons = {}
    for row in rows:
        account = found.account(
            place.eid, row.address, rules.token, balance=int(row.balance), holding=int(row.balance),
            is_treasury=row.is_treasury, can_hold=names[row.address].kind not in CONTRACTS,
        )  # fmt: skip
        reasons[row.address] = affected.reasons(affected.judged(rules, rules, account, account).after)
    return reasons


def _account(row: Any, known: KnownAddress, wanted: Wanted, facts: Facts | None) -> Account:
    reasons = facts.reasons[row.address] if facts else None
    quote = facts.quote.get(row.address) if facts else None
    kind, name = _named(row, known)
    return Account(
        address=row.address,
        kind=kind,
        name=name,
        wallet_id=row.wallet_id,
        party_id=row.party_id,
        balance=str(int(row.balance)) if wanted.asset_id else None,
        quote_balance=None if quote is None else str(quote),
        eligible=None if reasons is None else not reasons,
        reasons=reasons or [],
        last_used_at=row.last_used_at,
    )


def _named(row: Any, known: KnownAddress) -> tuple[AddressKind, str | None]:
    """Return kind and name; a party's only where the caller may read parties."""
    if known.kind is not AddressKind.PARTY or row.party_id is not None:
        return known.kind, known.name
    return (AddressKind.OWN_WALLET, row.label) if row.wallet_id else (AddressKind.UNKNOWN, None)
