"""Verifying: every entry's hash is computed again, in the order of the chain, up to its recorded end."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession

from backend.audit import rules
from backend.audit.models import AuditHeadRow, AuditRow
from backend.audit.schemas import AuditBreak, AuditVerification

LOG = sa.inspect(AuditRow).local_table
HEADS = sa.inspect(AuditHeadRow).local_table
PART = 1000
"""Entries read and hashed at once."""


@dataclass
class _Walk:
    """How far a chain was found whole."""

    length: int = 0
    last: str = rules.GENESIS
    head: tuple[int, str] = (0, rules.GENESIS)
    broken: AuditBreak | None = field(default=None)

    def take(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Go on over the next entries; stays where one is wrong."""
        for row in rows:
            self.head = (row["head_seq"] or 0, row["head_hash"] or rules.GENESIS)
            if row["seq"] is None:
                return
            if reason := rules.fault(row, self.length + 1, self.last):
                self.broken = AuditBreak(seq=self.length + 1, reason=reason)
                return
            self.length, self.last = row["seq"], row["hash"]

    def end(self) -> AuditVerification:
        """What was found, after the last entry."""
        if self.broken is None and self.head != (self.length, self.last):
            reason = f"The chain ends at entry {self.length}, and {self.head[0]} were written."
            self.broken = AuditBreak(seq=self.length + 1, reason=reason)
        last = self.last if self.length else None
        return AuditVerification(whole=self.broken is None, length=self.length, last_hash=last, broken=self.broken)


async def verify(session: AsyncSession, organization_id: UUID) -> AuditVerification:
    """Walk an organization's chain. One statement reads entries and end, so that both are of one moment."""
    walk = _Walk()
    result = await session.stream(_query(organization_id), execution_options={"yield_per": PART})
    async for part in result.mappings().partitions():
        await asyncio.to_thread(walk.take, part)
        if walk.broken is not None:
            break
    await result.close()
    return walk.end()


def _query(organization_id: UUID) -> sa.Select[Any]:
    heads = sa.select(HEADS).where(HEADS.c.organization_id == organization_id).subquery()
    rows = sa.select(LOG).where(LOG.c.organization_id == organization_id).subquery()
    return (
        sa.select(*rows.c, heads.c.seq.label("head_seq"), heads.c.hash.label("head_hash"))
        .select_from(heads.outerjoin(rows, heads.c.organization_id == rows.c.organization_id, full=True))
        .order_by(rows.c.seq)
    )


async def organizations(session: AsyncSession) -> list[tuple[UUID, str]]:
    """Every organization that has a log, by name."""
    named = sa.text("""
        select c.organization_id, coalesce(o.name, 'removed') as name
        from (select organization_id from audit_heads union select distinct organization_id from audit_log) c
        left join organizations o on o.id = c.organization_id order by 2, 1
    """)
    return [(r.organization_id, r.name) for r in await session.execute(named)]
