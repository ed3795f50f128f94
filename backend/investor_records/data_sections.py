"""Sections of an investor's data. Every query names the investor's rows; row-level security does too."""

from collections.abc import Awaitable, Callable
from typing import Any

import sqlalchemy as sa
from pydantic import BaseModel

from backend.auth.principal import Context
from backend.investor_records.schemas import (
    DataAccount,
    DataAction,
    DataAttestation,
    DataDocument,
    DataMembership,
    DataParty,
    DataTransfer,
    DataWallet,
)
from backend.investors import activity, profile

Page = Callable[[Context, int, int], Awaitable[list[Any]]]
"""Returns at most so many records of a section, after so many."""
_ACCOUNT = sa.text("select id, email, display_name, created_at, last_login_at from users where id = :person")
_MEMBERSHIP = sa.text("""
  select id, role, created_at, email as entered_email, display_name as entered_name,
    wallet_address as entered_wallet_address
  from members where id = :membership
""")
_PARTIES = """
  select id, kind, name, email, country, wallet_address, status, kyc_level, accredited, reviewed_at, created_at,
    updated_at
  from parties where organization_id = :org and id in (select signum_investor_parties()) order by created_at, id
"""
_WALLETS = """
  select a.address, w.created_at as linked_at from signum_investor_addresses() a (address)
    left join user_wallets w on w.address = a.address and w.user_id = :person
  order by a.address
"""
_ATTESTATIONS = """
  select id, wallet_address, chain_eid, kyc_level, accredited, country, status, expires_at, tx_hash, created_at,
    updated_at
  from attestations where organization_id = :org and wallet_address = any(:own) order by created_at, id
"""
_DOCUMENTS = """
  select d.id, d.party_id, d.kind, d.name, f.media_type, f.size, f.sha256, d.is_from_investor, d.created_at
  from party_documents d join party_files f on f.id = d.file_id
  where d.organization_id = :org and d.party_id in (select signum_investor_parties()) order by d.created_at, d.id
"""
_TRANSFERS = """
  select t.asset_id, a.symbol, a.decimals, t.chain_eid, t.address, t.is_received, t.amount::text as amount, t.tx_hash,
    t.created_at
  from (
    select id, asset_id, chain_eid, to_address as address, true as is_received, amount, tx_hash, created_at
    from token_transfers where organization_id = :org and to_address = any(:own)
    union all
    select id, asset_id, chain_eid, from_address, false, amount, tx_hash, created_at
    from token_transfers where organization_id = :org and from_address = any(:own)
  ) t join assets a on a.id = t.asset_id
  order by t.created_at, t.id, t.is_received
"""
_ACTIONS = sa.text("select * from signum_investor_actions(:most, :skip)")


async def account(context: Context) -> DataAccount:
    """Return the person's account."""
    found = await context.session.execute(_ACCOUNT, {"person": context.user_id})
    return DataAccount.model_validate(found.one())


async def membership(context: Context) -> DataMembership:
    """Return the membership."""
    found = await context.session.execute(_MEMBERSHIP, {"membership": context.investor})
    return DataMembership.model_validate(found.one())


def _of(query: str, record: type[BaseModel]) -> Page:
    text = sa.text(f"{query} limit :most offset :skip")

    async def page(context: Context, most: int, skip: int) -> list[Any]:
        values: dict[str, Any] = {"org": context.organization_id, "most": most, "skip": skip}
        if ":own" in query:
            values["own"] = await profile.addresses(context)
        if ":person" in query:
            values["person"] = context.user_id
        return [record.model_validate(row) for row in await context.session.execute(text, values)]

    return page


async def _orders(context: Context, most: int, skip: int) -> list[Any]:
    return await activity.orders_page(context, "o.created_at, o.id", most, skip)


async def _trades(context: Context, most: int, skip: int) -> list[Any]:
    return await activity.trades_page(context, "t.created_at, t.block_number, t.log_index, o.id", most, skip)


async def _claims(context: Context, most: int, skip: int) -> list[Any]:
    return await activity.claims_page(context, "d.created_at, d.id, r.index", most, skip)


async def _actions(context: Context, most: int, skip: int) -> list[Any]:
    found = await context.session.execute(_ACTIONS, {"most": most, "skip": skip})
    return [DataAction.model_validate(row) for row in found]


# Declared at import.
PAGES: dict[str, Page] = {
    "parties": _of(_PARTIES, DataParty),
    "wallets": _of(_WALLETS, DataWallet),
    "attestations": _of(_ATTESTATIONS, DataAttestation),
    "documents": _of(_DOCUMENTS, DataDocument),
    "transfers": _of(_TRANSFERS, DataTransfer),
    "orders": _orders,
    "trades": _trades,
    "claims": _claims,
    "actions": _actions,
}
"""The lists of `InvestorData`, in its order."""
