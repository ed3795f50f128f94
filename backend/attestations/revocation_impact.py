"""What a revocation affects: the wallet's tokens, open orders, unclaimed amounts, and requests that wait.

The rules judge them as in the dry run of new rules (`backend.assets.effects`), with the standing that the wallet would
have left. Markets, orders and distributions are read by table name: they are above attestations.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import sqlalchemy as sa

from backend.attestations import rules
from backend.attestations.models import AttestationRow
from backend.attestations.schemas import AffectedHolding, WaitingRequest
from backend.auth.principal import Context
from backend.chain.abi.rule_sets import TokenRules
from backend.chain.bindings import registry, token
from backend.chain.deployment.contracts import contracts_of
from backend.chain.devnet import clock
from backend.compliance import effect_names
from backend.compliance.affected import Rules, judged, order_failures, reasons
from backend.compliance.effect_entries import Entries
from backend.compliance.impact_case import market_rules
from backend.compliance.impact_schemas import MOST, ClaimEffect, OrderEffect
from backend.compliance.rules import Account, Standing
from backend.core import db
from backend.core.recorded_time import recorded_now
from backend.requests import titles
from backend.wallets import balances

_TOKENS = "join asset_deployments t on t.asset_id = {}.asset_id and t.chain_eid = {}.chain_eid"
_ORDERS = sa.text(f"""
    select o.id, o.market_id, m.chain_eid, o.side, o.maker_address, o.amount - o.filled as rest, o.price,
        t.token_address, m.regulation_type, m.min_kyc_level, m.requires_accreditation, m.blocked_countries,
        m.lockup_end_time, m.max_holders, m.max_tokens_per_holder
    from orders o join markets m on m.id = o.market_id {_TOKENS.format("m", "m")}
    where m.organization_id = :org and m.chain_eid = :eid and m.status in ('active', 'halted')
      and o.maker_address = :wallet and o.status in ('open', 'partial') and o.chain_order_id is not null
    order by o.created_at, o.id
""")  # noqa: S608 - constants
_CLAIMS = sa.text(f"""
    select d.id, d.name, d.chain_eid, r.address, r.amount, t.token_address
    from distributions d join distribution_recipients r on r.distribution_id = d.id {_TOKENS.format("d", "d")}
    where d.organization_id = :org and d.chain_eid = :eid and r.address = :wallet and d.status = 'active'
      and d.currency_address is null and not exists (
        select 1 from distribution_claims c where c.distribution_id = d.id and c.index = r.index)
""")  # noqa: S608 - constants
_WAITING = sa.text("""
    select r.id as request_id, a.id as approval_id, r.kind, r.title
    from approvals a join requests r on r.id = a.request_id
    where a.organization_id = :org and a.status = 'pending' and a.expires_at > :now and exists (
      select 1 from (
        select cast(:wallet as text) union select cast(:party as text) union
        select cast(w.id as text) from wallets w where w.organization_id = :org and w.address = :wallet
      ) as known (name) where strpos(lower(cast(a.call as text)), lower(known.name)) > 0)
    order by a.created_at, a.id
""")


@dataclass(frozen=True)
class Affected:
    """What a revocation affects."""

    holdings: list[AffectedHolding]
    orders: list[OrderEffect]
    claims: list[ClaimEffect]
    requests: list[WaitingRequest]

    def fields(self) -> dict[str, Any]:
        """Return the fields of the impact."""
        return {
            "holdings": self.holdings,
            "orders_total": len(self.orders),
            "orders": self.orders[:MOST],
            "claims_total": len(self.claims),
            "claims": self.claims[:MOST],
            "requests": self.requests[:MOST],
        }


@dataclass(frozen=True)
class _Token:
    """A token's rules, and the wallet as it is judged by them before and after the revocation."""

    rules: TokenRules
    before: Account
    after: Account

    @property
    def abilities(self) -> tuple[bool, bool]:
        """Return whether the wallet could send and receive the token; its owner's own account needs no attestation."""
        if self.after.is_treasury:
            return True, True
        return rules.abilities(self.rules, self.after.standing, self.after.own_standing)


async def affected(context: Context, row: AttestationRow, chain: Any) -> Affected:
    """Return what the revocation of an attestation affects. The chain is queried."""
    where = {"org": row.organization_id, "eid": row.chain_eid, "wallet": row.wallet_address}
    held = await balances.tokens_on(context.session, row.organization_id, row.chain_eid, row.wallet_address)
    orders = (await context.session.execute(_ORDERS, where)).all()
    claims = (await context.session.execute(_CLAIMS, where)).all()
    amounts = {one.token_address: 0 for one in (*orders, *claims)} | {one.token_address: n for one, n in held}
    names = await effect_names.names(context, row.wallet_address)
    requests = await _waiting(context, row)
    async with db.paused(context.session):
        tokens = await _tokens(row, amounts)
    shown = Entries(names, {row.chain_eid: chain.display_name}, {})
    return Affected(
        holdings=[_holding(tokens[one.token_address], one, amount) for one, amount in held],
        orders=[shown.order(one, *why) for one in orders if (why := _blocks(tokens[one.token_address], one))[0]],
        claims=[shown.claim(one, no) for one in claims if (no := _withholds(tokens[one.token_address], one))],
        requests=requests,
    )


async def _tokens(row: AttestationRow, amounts: Mapping[str, int]) -> dict[str, _Token]:
    at = (await contracts_of(row.chain_eid)).registry
    attester = (await registry.attestation(row.chain_eid, at, str(row.uid))).attester
    found = await asyncio.gather(*(_token(row, at, attester, one, amount) for one, amount in amounts.items()))
    return dict(zip(amounts, found, strict=True))


async def _token(row: AttestationRow, at: str, attester: str, address: str, amount: int) -> _Token:
    eid, wallet, org = row.chain_eid, row.wallet_address, row.organization_id
    of_token, treasury = await asyncio.gather(token.rules(eid, address), token.treasury(eid, address))
    every, own, (every_left, own_left) = await asyncio.gather(
        registry.standing(eid, at, wallet, org, trusted=of_token.trusted_issuers),
        registry.standing(eid, at, wallet, org, org_only=True),
        registry.standing_without(eid, at, wallet, org, attester, of_token.trusted_issuers),
    )

    def account(all_of_it: registry.Standing, own_part: registry.Standing) -> Account:
        parts = (Standing(**asdict(all_of_it)), Standing(**asdict(own_part)))
        return Account(wallet, *parts, balance=amount, holding=amount, is_treasury=wallet == treasury)

    return _Token(of_token, account(every, own), account(every_left, own_left))


def _holding(of: _Token, held: Any, amount: int) -> AffectedHolding:
    can_send, can_receive = of.abilities
    return AffectedHolding(
        asset_id=held.asset_id,
        symbol=held.symbol,
        decimals=held.decimals,
        amount=str(amount),
        can_send=can_send,
        can_receive=can_receive,
    )


def _blocks(of: _Token, order: Any) -> tuple[list[str], bool]:
    """Return why an order could not be filled afterwards, and whether it can be now."""
    market, is_buy, now = market_rules(order), order.side == "buy", clock.moment()
    had, has = (order_failures(of.rules, market, one, is_buy, now) for one in (of.before, of.after))
    return reasons(has), not had


def _withholds(of: _Token, claim: Any) -> list[str]:
    """Return why an amount could not be claimed afterwards; empty where nothing changes."""
    more = int(claim.amount)
    both = [replace(one, balance=one.balance + more, holding=one.holding + more) for one in (of.before, of.after)]
    return reasons(judged(Rules(of.rules), Rules(of.rules), *both).lost)


async def _waiting(context: Context, row: AttestationRow) -> list[WaitingRequest]:
    values = {"org": row.organization_id, "wallet": row.wallet_address, "party": row.party_id, "now": recorded_now()}
    return [
        WaitingRequest(**{**one._mapping, "title": titles.title_of(context.scopes, one.kind, one.title)})
        for one in await context.session.execute(_WAITING, values)
    ]
