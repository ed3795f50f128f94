"""The owners of an asset: the sum of its transfers on each chain, and what its markets hold for sellers.

Markets and their orders are read by table name: they are above assets, which must not import them.
"""

import asyncio
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession

from backend.assets import records
from backend.assets.rules import Held
from backend.assets.schemas import Holder, HolderList
from backend.auth.principal import Context
from backend.chain.abi.rule_sets import TokenRules
from backend.chain.bindings import token
from backend.compliance import affected, standings
from backend.compliance.affected import Rules
from backend.compliance.rules import WHOLLY_FROZEN
from backend.compliance.standings import Wanted
from backend.core import db
from backend.core.errors import BadRequest, SignumError
from backend.core.fields import MAX_UINT256
from backend.lists.pages import Listing, Page
from backend.wallets import known_names
from backend.wallets.schemas import AddressKind

LIST = Listing()
"""Largest first, or at a block by address."""
CONTRACTS = (AddressKind.DISTRIBUTION, AddressKind.MARKET, AddressKind.TOKEN)
PATIENCE = 3.0
"""Seconds that a chain has to return frozen amounts and rules."""
MANY = 10_000
"""More holders than these are not all read for a page of them."""
_ZERO = "'0x0000000000000000000000000000000000000000'"
_OPEN = """
  venues as (select market_address from markets where asset_id = :asset and market_address is not null),
  escrows as (
    select m.chain_eid, o.maker_address as address, sum(o.amount - o.filled) as escrowed
    from orders o join markets m on m.id = o.market_id
    where m.asset_id = :asset and o.side = 'sell' and o.status in ('open', 'partial')
    group by m.chain_eid, o.maker_address
  )
"""
_OWNED = f"""
  with {_OPEN}, outside as (
    select chain_eid, address, balance from token_balances
    where asset_id = :asset and balance <> 0 and address <> {_ZERO}
      and address not in (select market_address from venues)
  ),
  owned as (
    select chain_eid, address, coalesce(b.balance, 0) + coalesce(e.escrowed, 0) as balance,
      coalesce(e.escrowed, 0) as escrowed
    from outside b full join escrows e using (chain_eid, address)
    where coalesce(b.balance, 0) + coalesce(e.escrowed, 0) > 0
  )
"""  # noqa: S608  (no text from outside is in it)
SHARES = """
  totals as (select sum(balance) as total from owned),
  parts as (
    select o.*, div(o.balance * 10000, t.total) as whole, mod(o.balance * 10000, t.total) as rest
    from owned o cross join totals t
  ),
  rounded_up as (
    select chain_eid, address from parts order by rest desc, balance desc, chain_eid, address
    limit (select 10000 - sum(whole) from parts)
  ),
  shares as (
    select parts.*, whole + case when (chain_eid, address) in (select * from rounded_up) then 1 else 0 end as share_bps
    from parts
  )
"""
"""Adds to the rows of `owned` their share in hundredths of a percent. They add up to 10,000: the largest remainders are
rounded up."""
_NAMED = """
  left join parties p on p.organization_id = :org and p.wallet_address = o.address
  left join wallets w on w.organization_id = :org and w.address = o.address
"""
_COLUMNS = """
  o.chain_eid, o.address, o.balance, o.escrowed, p.id as party_id, p.name as party_name,
  coalesce(w.is_default, false) as is_treasury
"""
_ALL = f"{_OWNED} select {_COLUMNS} from owned o {_NAMED}"  # noqa: S608  (no text from outside is in it)
_SUMS = """
  sums as (
    select coalesce(sum(balance), 0) as total, coalesce(sum(escrowed), 0) as in_orders,
      count(distinct address) filter (where address not in (
        select address from wallets where organization_id = :org and is_default
        union all
        select distributor_address from distributions
        where organization_id = :org and distributor_address is not null)) as investors
    from owned
  )
"""
_SHARED = f"""
  {_OWNED}, {SHARES}, {_SUMS} select {_COLUMNS}, o.share_bps, sums.total, sums.in_orders, sums.investors
  from shares o cross join sums {_NAMED}
"""  # noqa: S608  (no text from outside is in it)
_TOTALS = f"{_OWNED}, {_SUMS} select * from sums"  # noqa: S608
_HOLDERS = sa.text("select coalesce(sum(holders), 0) from asset_days where asset_id = :asset")
_AMONG_MANY = f"""
  with {_OPEN}, found as (
    (select b.chain_eid, b.address, b.balance, 0 as escrowed from token_balances b
     where b.asset_id = :asset and b.balance > 0 and b.address <> {_ZERO}
       and b.address not in (select market_address from venues)
       and (b.chain_eid, b.address) not in (select chain_eid, address from escrows) %(after_b)s
     order by b.balance desc, b.chain_eid desc, b.address desc limit :most)
    union all
    select e.chain_eid, e.address, coalesce(b.balance, 0) + e.escrowed, e.escrowed
    from escrows e left join token_balances b on b.asset_id = :asset and b.chain_eid = e.chain_eid
      and b.address = e.address
  ),
  special as (
    select address from wallets where organization_id = :org and is_default
    union
    select distributor_address from distributions where organization_id = :org and distributor_address is not null
  ),
  parts as (
    select -coalesce(sum(balance) filter (where address = {_ZERO}), 0)
      - coalesce(sum(balance) filter (where address in (select market_address from venues)), 0) as outside,
      count(distinct address) filter (where balance > 0 and address in (select address from special)) as without
    from token_balances where organization_id = :org and asset_id = :asset and address = any(array(
      select {_ZERO} union all select market_address from venues union all select address from special))
  ),
  waiting as (
    select coalesce(sum(escrowed), 0) as in_orders, count(distinct address) filter (
      where address in (select address from special) and not exists (
        select from token_balances b where b.organization_id = :org and b.asset_id = :asset
          and b.address = escrows.address and b.balance > 0)) as without from escrows
  ),
  sums as (
    select parts.outside + waiting.in_orders as total, waiting.in_orders,
      cast(:holders as bigint) - parts.without - waiting.without as investors
    from parts cross join waiting
  )
  select {_COLUMNS}, sums.*, case when sums.total > 0
    then div(20000 * o.balance + sums.total, 2 * sums.total) else 0 end as share_bps
  from (select * from found o where o.balance > 0 %(after_o)s
        order by o.balance desc, o.chain_eid desc, o.address desc limit :most) o
    cross join sums {_NAMED}
  order by o.balance desc, o.chain_eid desc, o.address desc
"""  # noqa: S608
"""A page of many holders without reading the others: each share is rounded for itself, and `:holders` is the number of
addresses that hold the asset, from its daily totals."""
_SOME = "select from token_balances where asset_id = :asset and balance > 0 limit :most"
_BY_CHAIN = f"""
  select h.chain_eid, count(*) as holders, max(h.balance) as largest from ({_ALL}) h
  where not h.is_treasury group by h.chain_eid
"""  # noqa: S608  (no text from outside is in it)
_FOUND = """
  where (cast(:search as text) is null
     or strpos(lower(concat_ws(chr(31), p.name, p.email, w.label)), lower(cast(:search as text))) > 0
     or length(cast(:search as text)) >= 4 and starts_with(lower(o.address), lower(cast(:search as text))))
"""
_PAGE = """
  and (cast(:balance as numeric) is null
     or (o.balance, o.chain_eid, o.address) < (cast(:balance as numeric), cast(:eid as bigint), cast(:address as text)))
  order by o.balance desc, o.chain_eid desc, o.address desc limit :most
"""


async def page(context: Context, asset_id: UUID, page: Page) -> HolderList:
    """Return a page of the cap table, largest first."""
    balance, eid, address = _decoded(page) if page.cursor else (None, None, None)
    known = {"asset": asset_id, "org": context.organization_id, "search": page.q or None}
    place = {"balance": balance, "eid": eid, "address": address, "most": page.limit + 1}
    held_by = await number(context.session, asset_id)
    if held_by > MANY and not page.q:
        rows = (
            await context.session.execute(_among_many(balance is not None), known | place | {"holders": held_by})
        ).all()
        count = await page.counted(context.session, _SOME, known)
    else:
        rows = (await context.session.execute(sa.text(_SHARED + _FOUND + _PAGE), known | place)).all()
        count = await page.counted(context.session, f"{_ALL} {_FOUND} limit :most", known)
    shown = rows[: page.limit]
    following = _encoded(page, shown[-1]) if len(rows) > page.limit else None
    sums = rows[0] if rows else (await context.session.execute(sa.text(_TOTALS), known)).one()
    holders = await named(context, [_holder(r) for r in shown])
    return HolderList(
        holders=await _from_chains(context, asset_id, holders),
        total_balance=str(int(sums.total)),
        total_escrowed=str(int(sums.in_orders)),
        investors=sums.investors,
        nextCursor=following,
        estimatedCount=count,
    )


async def number(session: AsyncSession, asset_id: UUID) -> int:
    """Return how many addresses hold an asset, contracts and treasuries included, from its daily totals."""
    return int(await session.scalar(_HOLDERS, {"asset": asset_id}) or 0)


def _among_many(is_continued: bool) -> sa.TextClause:
    """Return the query of a page of many holders, the first one or one that continues after a place."""
    after = {
        f"after_{o}": f"and ({o}.balance, {o}.chain_eid, {o}.address) < (:balance, :eid, :address)"
        if is_continued
        else ""
        for o in ("b", "o")
    }
    return sa.text(_AMONG_MANY % after)


async def named(context: Context, shown: list[Holder]) -> list[Holder]:
    """Return the holders with what the organization knows of their addresses."""
    names = await known_names.known(context.session, context.organization_id, {h.address for h in shown})
    return [h.model_copy(update={"kind": names[h.address].kind, "name": names[h.address].name}) for h in shown]


async def _from_chains(context: Context, asset_id: UUID, shown: list[Holder]) -> list[Holder]:
    """Return the holders with their frozen and available amounts, and whether the rules still let them hold."""
    rows = records.active(await records.deployments(context.session, asset_id))
    tokens = {r.chain_eid: r.token_address for r in rows if r.token_address}
    eids = sorted({h.chain_eid for h in shown} & tokens.keys())
    async with db.paused(context.session):
        amounts, rules = await asyncio.gather(
            asyncio.gather(
                *(_frozen(eid, tokens[eid], [h.address for h in shown if h.chain_eid == eid]) for eid in eids)
            ),
            asyncio.gather(*(_rules(eid, tokens[eid]) for eid in eids)),
        )
    known = {(eid, address): amount for eid, some in zip(eids, amounts, strict=True) for address, amount in some}
    verdicts = await _verdicts(context, {eid: one for eid, one in zip(eids, rules, strict=True) if one}, shown)
    at = [(h.chain_eid, h.address) for h in shown]
    return [
        h.model_copy(update=parts(h, known.get(key)) | verdicts.get(key, {})) for h, key in zip(shown, at, strict=True)
    ]


async def _verdicts(
    context: Context, rules: dict[int, TokenRules], shown: list[Holder]
) -> dict[tuple[int, str], dict[str, Any]]:
    """Return whether each investor may hold the token under its rules, and why not, by chain and address."""
    judged = [h for h in shown if h.chain_eid in rules and not h.is_treasury and h.kind not in CONTRACTS]
    wanted = {eid: Wanted([h.address for h in judged if h.chain_eid == eid], [one]) for eid, one in rules.items()}
    found = await standings.read(context, {eid: one for eid, one in wanted.items() if one.addresses})
    verdicts: dict[tuple[int, str], dict[str, Any]] = {}
    for holder in judged:
        own, amount = rules[holder.chain_eid], int(holder.balance)
        account = found.account(holder.chain_eid, holder.address, own, balance=amount, holding=amount)
        reasons = affected.reasons(affected.judged(Rules(own), Rules(own), account, account).after)
        verdicts[holder.chain_eid, holder.address] = {"eligible": not reasons, "reasons": reasons}
    return verdicts


async def _rules(eid: int, at: str) -> TokenRules | None:
    """Return the token's rules; None if the chain does not answer."""
    try:
        async with asyncio.timeout(PATIENCE):
            return await token.rules(eid, at)
    except (SignumError, TimeoutError):
        return None


def parts(holder: Holder, frozen: int | None) -> dict[str, Any]:
    """Return the frozen and available amounts: what markets hold is neither. `frozen` is the number that the contract
    stores, which may exceed what the account has."""
    if frozen is None:
        return {"frozen": None, "wholly_frozen": None, "available": None}
    held = int(holder.balance) - int(holder.escrowed)
    part = min(frozen, held)
    return {"frozen": str(part), "wholly_frozen": frozen >= WHOLLY_FROZEN, "available": str(held - part)}


async def _frozen(eid: int, at: str, addresses: list[str]) -> list[tuple[str, int]]:
    """Return the frozen amounts of some accounts; nothing if the chain does not answer."""
    try:
        async with asyncio.timeout(PATIENCE):
            amounts = await token.frozen_of_many(eid, at, addresses)
    except (SignumError, TimeoutError):
        return []
    return list(zip(addresses, amounts, strict=True))


async def everyone(session: AsyncSession, organization_id: UUID, asset_id: UUID) -> list[Holder]:
    """Return the whole cap table."""
    values = {"asset": asset_id, "org": organization_id}
    return [_holder(r) for r in await session.execute(sa.text(_ALL + "order by o.balance desc, o.address"), values)]


async def by_chain(session: AsyncSession, organization_id: UUID, asset_id: UUID) -> Held:
    """Return the number of holders on each chain, and the largest holding; without the treasury."""
    values = {"asset": asset_id, "org": organization_id}
    rows = (await session.execute(sa.text(_BY_CHAIN), values)).all()
    return Held({r.chain_eid: r.holders for r in rows}, {r.chain_eid: int(r.largest) for r in rows})


def _holder(row: Any) -> Holder:
    return Holder(**{**row._mapping, "balance": str(int(row.balance)), "escrowed": str(int(row.escrowed))})


def _encoded(page: Page, row: Any) -> str:
    return page.following(str(int(row.balance)), str(row.chain_eid), row.address)


def _decoded(page: Page) -> tuple[int, int, str]:
    balance, eid, address = page.position(3)
    try:
        if int(balance) > MAX_UINT256 or not 0 <= int(eid) < 2**32 or not address.isprintable():
            raise ValueError("out of range")
        return int(balance), int(eid), address
    except ValueError as error:
        raise BadRequest("The cursor is not valid for this list. Start again without one.") from error
