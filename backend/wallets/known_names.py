"""Names of addresses that an organization knows: its own wallets, its parties, and its contracts.

A wallet that a party no longer uses, such as a lost one, keeps the name of the party that was last attested with it.
Parties, attestations, assets, markets and distributions are read by table name: they are above wallets, which must not
import them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession

from backend.core.units import shortened
from backend.wallets.schemas import AddressKind, WalletKind

UNKNOWN = "unknown wallet"
_NAMES = sa.text("""
  with contracts as (
    select d.distributor_address as address, 'distribution' as kind, d.name
    from distributions d where d.organization_id = :org and d.distributor_address = any(cast(:addresses as text[]))
    union all
    select m.market_address, 'market', concat_ws('/', s.symbol, m.quote_symbol)
    from markets m join assets s on s.id = m.asset_id
    where m.organization_id = :org and m.market_address = any(cast(:addresses as text[]))
    union all
    select t.token_address, 'token', s.symbol
    from asset_deployments t join assets s on s.id = t.asset_id
    where s.organization_id = :org and t.token_address = any(cast(:addresses as text[]))
  ),
  named as (
    select address, min(kind) as kind, string_agg(distinct name, ', ') as name from contracts group by address
  )
  select a.address, w.label, w.kind as wallet, coalesce(p.id, f.id) as party_id, coalesce(p.name, f.name) as party,
    n.kind as contract, n.name
  from unnest(cast(:addresses as text[])) as a (address)
  left join wallets w on w.organization_id = :org and w.address = a.address
  left join parties p on p.organization_id = :org and p.wallet_address = a.address
  left join lateral (
    select q.id, q.name from attestations t join parties q on q.id = t.party_id
    where p.id is null and t.organization_id = :org and t.wallet_address = a.address and t.attested_at is not null
    order by t.attested_at desc limit 1
  ) f on true
  left join named n on n.address = a.address
""")


@dataclass(frozen=True)
class KnownAddress:
    """What an address is to an organization: its kind, the name of the wallet, party or contract, and both in words.
    `party` and `label` are the names of the party and of the wallet, where there are these.

    In `words` the kind comes first, because labels and names are written by people who may also make requests.
    """

    kind: AddressKind = AddressKind.UNKNOWN
    name: str | None = None
    words: str = UNKNOWN
    party: str | None = None
    label: str | None = None
    party_id: UUID | None = field(default=None, compare=False)

    @property
    def title(self) -> str | None:
        """Return its name; of a contract with its kind: `Distribution Q3`, `Market HBR/tUSD`."""
        is_contract = self.kind in (AddressKind.DISTRIBUTION, AddressKind.MARKET, AddressKind.TOKEN)
        return f"{self.kind.capitalize()} {self.name}" if is_contract else self.name


async def known(session: AsyncSession, organization_id: UUID, addresses: Iterable[str]) -> dict[str, KnownAddress]:
    """Return what each address is to the organization."""
    rows = await session.execute(_NAMES, {"org": organization_id, "addresses": list(addresses)})
    return {row.address: _known(row) for row in rows}


async def names_of(session: AsyncSession, organization_id: UUID, addresses: Iterable[str]) -> dict[str, str]:
    """Return what each address is in words: `own wallet "Treasury"`, `party Marta Lindqvist`, `distribution "Q3"`,
    `market HBR/tUSD`, `token HBR`, or an unknown wallet."""
    return {address: one.words for address, one in (await known(session, organization_id, addresses)).items()}


async def titles_of(session: AsyncSession, organization_id: UUID, addresses: Iterable[str]) -> dict[str, str]:
    """Return what a title calls each address: the name of its party, wallet or contract, or the short address."""
    found = await known(session, organization_id, addresses)
    return {address: one.name or shortened(address) for address, one in found.items()}


def _known(row: Any) -> KnownAddress:
    words = ", ".join(part for part in (_wallet(row), row.party and f"party {row.party}", _contract(row)) if part)
    name = row.party or row.label or row.name
    return KnownAddress(_kind(row), name, words or UNKNOWN, row.party, row.label, row.party_id)


def _kind(row: Any) -> AddressKind:
    """Return what the name is of: a party is named before the wallet that it uses."""
    if row.party:
        return AddressKind.PARTY
    if row.wallet is not None:
        return AddressKind.OWN_WALLET if row.wallet == WalletKind.SERVER else AddressKind.LINKED_WALLET
    return AddressKind(row.contract or AddressKind.UNKNOWN)


def _wallet(row: Any) -> str | None:
    if row.wallet is None:
        return None
    is_own = row.wallet == WalletKind.SERVER
    return f'own wallet "{row.label}"' if is_own else f'linked wallet "{row.label}", whose key Signum does not hold'


def _contract(row: Any) -> str | None:
    if row.contract is None:
        return None
    return f'distribution "{row.name}"' if row.contract == AddressKind.DISTRIBUTION else f"{row.contract} {row.name}"
