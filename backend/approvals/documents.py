"""Documents of the parties that a requested action concerns."""

from collections.abc import Sequence
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession

from backend.approvals.arguments import ADDRESSES
from backend.approvals.schemas import ApprovalDocument, Argument

_DOCUMENTS = sa.text("""
  select d.id, d.party_id, p.name as party_name, d.kind, d.name, d.created_at
  from party_documents d join parties p on p.id = d.party_id and p.organization_id = :org
  where d.organization_id = :org and (
    p.id::text = any(cast(:parties as text[])) or p.wallet_address = any(cast(:addresses as text[]))
    or p.id in (
      select a.party_id from attestations a
      where a.organization_id = :org and a.id::text = any(cast(:attestations as text[])))
  )
  order by d.created_at desc, d.id desc limit 50
""").bindparams(sa.bindparam("org", type_=sa.Uuid()))
"""Parties and attestations are read by table name: their packages are siblings."""


async def of(session: AsyncSession, organization_id: UUID, arguments: Sequence[Argument]) -> list[ApprovalDocument]:
    """Return documents of the parties that the arguments name, by ID, wallet or attestation; at most 50, newest
    first."""
    named: dict[str, list[str]] = {"parties": [], "addresses": [], "attestations": []}
    for one in arguments:
        own = one.name.rpartition(".")[2]
        if own == "party_id":
            named["parties"].append(str(one.value))
        elif own == "attestationId":
            named["attestations"].append(str(one.value))
        elif own in ADDRESSES and isinstance(one.value, str):
            named["addresses"].append(one.value)
    rows = await session.execute(_DOCUMENTS, {"org": organization_id, **named})
    return [ApprovalDocument.model_validate(dict(row._mapping)) for row in rows]
