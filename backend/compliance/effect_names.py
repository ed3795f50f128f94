"""What an address is to an organization, for a list of effects: its kind, its name and its party."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from backend.auth.principal import Context
from backend.compliance.impact_schemas import AccountKind

_NAMES = sa.text("""
    select a.address, p.id as party_id, p.name as party, w.label, w.kind, d.name as distribution
    from unnest(cast(:addresses as text[])) as a (address)
    left join lateral (
      select p.id, p.name from parties p where p.organization_id = :org and p.wallet_address = a.address
      order by p.created_at limit 1
    ) p on true
    left join wallets w on w.organization_id = :org and w.address = a.address
    left join lateral (
      select d.name from distributions d where d.organization_id = :org and d.distributor_address = a.address limit 1
    ) d on true
""")


@dataclass(frozen=True)
class Named:
    """What an address is to the organization."""

    name: str | None = None
    kind: AccountKind = AccountKind.UNKNOWN
    party_id: UUID | None = None


async def names(context: Context, *addresses: str) -> dict[str, Named]:
    """Return what each address is to the organization."""
    values = {"org": context.organization_id, "addresses": sorted(set(addresses))}
    return {row.address: _named(row) for row in await context.session.execute(_NAMES, values)}


def _named(row: Any) -> Named:
    if row.party is not None:
        return Named(row.party, AccountKind.PARTY, row.party_id)
    if row.distribution is not None:
        return Named(row.distribution, AccountKind.DISTRIBUTOR)
    if row.label is not None:
        return Named(row.label, AccountKind.OWN_WALLET if row.kind == "server" else AccountKind.LINKED_WALLET)
    return Named()
