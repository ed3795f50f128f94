"""Names of addresses that an organization knows: its own wallets, and its parties.

Parties are read by table name: they are above wallets, which must not import them.
"""

from collections.abc import Iterable
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession

UNKNOWN = "unknown wallet"
_NAMES = sa.text("""
  select a.address, w.label, w.kind, p.name
  from unnest(cast(:addresses as text[])) as a (address)
  left join wallets w on w.organization_id = :org and w.address = a.address
  left join lateral (
    select string_agg(p.name, ', ' order by p.name) as name from parties p
    where p.organization_id = :org and p.wallet_address = a.address
  ) p on true
""")


async def names_of(session: AsyncSession, organization_id: UUID, addresses: Iterable[str]) -> dict[str, str]:
    """Return what each address is to the organization: `own wallet "Treasury"`, `party Marta Lindqvist`, or an unknown
    wallet.

    The kind comes first, because labels and names are written by people who may also make requests.
    """
    rows = await session.execute(_NAMES, {"org": organization_id, "addresses": list(addresses)})
    return {row.address: _words(row.kind, row.label, row.name) for row in rows}


def _words(kind: str | None, label: str | None, party: str | None) -> str:
    wallet = None
    if kind is not None:
        is_own = kind == "server"
        wallet = f'own wallet "{label}"' if is_own else f'linked wallet "{label}", whose key Signum does not hold'
    return ", ".join(part for part in (wallet, f"party {party}" if party else None) if part) or UNKNOWN
