"""Records that the arguments of a call refer to: their names, and the units of its amounts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession

from backend.core.units import grouped, priced

_WALLET = "select concat_ws(', ', label, address) from wallets t"
_RECORDS = {
    "assetId": "select name || ' (' || symbol || ')' from assets t",
    "asset_id": "select name || ' (' || symbol || ')' from assets t",
    "attestationId": """
      select concat_ws(', ', p.name, t.wallet_address, 'level ' || t.kyc_level,
        case when t.accredited then 'accredited' end, t.country,
        'expires ' || to_char(t.expires_at at time zone 'UTC', 'FMDD Mon YYYY'))
      from attestations t left join parties p on p.id = t.party_id""",
    "from_wallet_id": _WALLET,
    "marketId": """
      select concat_ws(' on ', a.symbol || '/' || coalesce(t.quote_symbol, 'not deployed'), c.display_name)
      from markets t join assets a on a.id = t.asset_id left join chains c on c.xchain_eid = t.chain_eid""",
    "memberId": """
      select concat_ws(', ', coalesce(u.display_name, t.display_name), coalesce(u.email, t.email), t.wallet_address,
        replace(t.role, '_', ' '))
      from members t left join users u on u.id = t.user_id""",
    "orderId": "select concat_ws(' ', t.side, 'order', t.chain_order_id) || ' of ' || t.maker_address from orders t",
    "party_id": "select concat_ws(', ', name, country, coalesce(wallet_address, 'no wallet')) from parties t",
    "wallet_id": _WALLET,
}
"""What an approver reads instead of an ID, by the name of the field. Every table has `id` and `organization_id`."""
_PERSON = """
  select concat_ws(', ', u.display_name, u.email, u.id) from users u
  where u.id = :id and exists (
    select from members m where m.user_id = u.id and m.organization_id = :org and m.status = 'active')
"""
_UNITS = sa.text("""
  select coalesce(d.currency_symbol, a.symbol), coalesce(d.currency_decimals, a.decimals), m.quote_symbol,
    m.quote_decimals
  from assets a left join markets m on m.id = :market and m.asset_id = a.id
  left join distributions d on d.id = :distribution and d.asset_id = a.id
  where a.id = :asset and a.organization_id = :org
""").bindparams(*(sa.bindparam(name, type_=sa.Uuid()) for name in ("market", "distribution", "asset", "org")))
_DISTRIBUTION = sa.text("""
  select t.name, t.total_amount, t.total_recipients, coalesce(t.currency_symbol, a.symbol) as symbol,
    coalesce(t.currency_decimals, a.decimals) as decimals
  from distributions t join assets a on a.id = t.asset_id where t.id = :id and t.organization_id = :org
""")
_CHAINS = sa.text("select xchain_eid, display_name from chains")


@dataclass(frozen=True)
class Units:
    """The asset of a call, or what its distribution pays, and the quote currency of its market; base units where either
    is unknown."""

    symbol: str | None = None
    decimals: int | None = None
    quote_symbol: str | None = None
    quote_decimals: int | None = None

    def amount(self, units: str) -> str:
        """Return an amount of the asset: `1,250.5 NREF`."""
        return f"{units} base units" if self.decimals is None else f"{grouped(units, self.decimals)} {self.symbol}"

    def price(self, units: str) -> str:
        """Return a price: `0.95 USD for one NREF`."""
        if self.quote_decimals is None:
            return f"{units} base units of the quote currency for one token"
        return f"{priced(units, self.quote_decimals)} {self.quote_symbol} for one {self.symbol}"


async def records(session: AsyncSession, organization_id: UUID, values: Mapping[str, Any]) -> dict[str, str]:
    """Return what the IDs of a call mean, by ID; an ID of another organization or of no record is omitted."""
    found = {}
    for name, value in values.items():
        at = _uuid(value)
        query = _PERSON if name == "user_id" else _of_organization(name)
        if at is not None and name == "distId":
            text = await _distribution(session, organization_id, at)
        elif at is None or query is None:
            continue
        else:
            text = await session.scalar(sa.text(query), {"id": at, "org": organization_id})
        if text:
            found[str(value)] = str(text)
    return found


async def _distribution(session: AsyncSession, organization_id: UUID, at: UUID) -> str | None:
    """Return a distribution with its sum: `Q1, 1,250.5 NREF for 12 recipients`."""
    row = (await session.execute(_DISTRIBUTION, {"id": at, "org": organization_id})).one_or_none()
    if row is None:
        return None
    total = Units(row.symbol, row.decimals).amount(str(int(row.total_amount or 0)))
    count = row.total_recipients or 0
    to = f" for {count:,} {'recipient' if count == 1 else 'recipients'}" if count else ""
    return f"{row.name}, {total}{to}"


async def units(session: AsyncSession, organization_id: UUID, values: Mapping[str, Any]) -> Units:
    """Return the units of the amounts: those of a new asset, or of the asset and market that the call names."""
    if "initial_supply" in values:
        return Units(str(values["symbol"]), int(values["decimals"]))
    asset, market, distribution = (
        _uuid(values.get(name)) for name in ("assetId" if "assetId" in values else "asset_id", "marketId", "distId")
    )
    named = {"asset": asset, "market": market, "distribution": distribution, "org": organization_id}
    row = (await session.execute(_UNITS, named)).one_or_none()
    return Units(*row) if row else Units()


async def chains(session: AsyncSession) -> dict[int, str]:
    """Return the names of chains by endpoint ID."""
    return {row.xchain_eid: row.display_name for row in await session.execute(_CHAINS)}


def _of_organization(name: str) -> str | None:
    query = _RECORDS.get(name)
    return f"{query} where t.id = :id and t.organization_id = :org" if query else None


def _uuid(value: Any) -> UUID | None:
    try:
        return UUID(str(value))
    except ValueError:
        return None
