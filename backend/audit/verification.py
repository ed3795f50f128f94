"""Verification of the log: every entry's hash is recomputed, in the order of the chain, up to its recorded end."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession

from backend.audit import rules
from backend.audit.models import AuditHeadRow, AuditRow
from backend.audit.schemas import AuditBreak, AuditVerification
from backend.core import threads
from backend.core.threads import Work

LOG = sa.inspect(AuditRow).local_table
HEADS = sa.inspect(AuditHeadRow).local_table
PART = 1000
"""Entries read and hashed at a time."""
Between = Callable[[], AbstractAsyncContextManager[Any]]
"""Context manager around the hashing of each part."""


@dataclass
class _Walk:
    """Progress of a verification."""

    length: int = 0
    last: str = rules.GENESIS
    head: tuple[int, str] = (0, rules.GENESIS)
    broken: AuditBreak | None = field(default=None)
    erased: int = 0
    erasures: list[int] = field(default_factory=list)
    waiting: dict[int, dict[int, tuple[str, str]]] = field(default_factory=lambda: defaultdict(dict))
    """Erased entries until their erasure is reached, by its number: the hash of the rest, and `previous_hash`."""

    def take(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Check the next entries; stops at the first invalid one."""
        for row in rows:
            if reason := rules.fault(row, self.length + 1, self.last):
                self.broken = AuditBreak(seq=self.length + 1, reason=reason)
                return
            self.length, self.last = row["seq"], row["hash"]
            if row["erased_by"] is not None:
                self.waiting[row["erased_by"]][row["seq"]] = rules.hash_of(row), row["previous_hash"]
            elif row["action"] in rules.ERASURES and not self._matches(row):
                return

    def _matches(self, erasure: Mapping[str, Any]) -> bool:
        """Compare the entries that name an erasure with those that it lists."""
        named, listed = self.waiting.pop(erasure["seq"], {}), rules.listed(erasure)
        for seq, (left, _) in sorted(named.items()):
            if listed.get(seq) != left:
                self._break(seq, named, f"Its content is not what entry {erasure['seq']} left when it erased data.")
                return False
        self.erased += len(named)
        self.erasures += [erasure["seq"]] if named else []
        return True

    def _break(self, seq: int, named: Mapping[int, tuple[str, str]], reason: str) -> None:
        """End before an erased entry that was passed."""
        self.length, self.last = seq - 1, named[seq][1]
        self.broken = AuditBreak(seq=seq, reason=reason)

    def end(self) -> AuditVerification:
        """Return the result after the last entry."""
        if self.broken is None and self.waiting:
            seq, erasure = min((seq, by) for by, named in self.waiting.items() for seq in named)
            self._break(seq, self.waiting[erasure], f"It is marked as erased, but entry {erasure} is not an erasure.")
        if self.broken is None and self.head != (self.length, self.last):
            reason = f"The chain ends at entry {self.length}, but {self.head[0]} entries were written."
            self.broken = AuditBreak(seq=self.length + 1, reason=reason)
        last = self.last if self.length else None
        return AuditVerification(
            whole=self.broken is None,
            length=self.length,
            last_hash=last,
            broken=self.broken,
            erased=self.erased,
            erasures=self.erasures,
        )


async def verify(session: AsyncSession, organization_id: UUID, between: Between = nullcontext) -> AuditVerification:
    """Verify an organization's chain up to its currently recorded end.

    Entries are read in parts and hashed inside `between`, so that a long log holds no connection while it is hashed.
    """
    end = (await session.execute(_END, {"organization": organization_id})).one()
    walk = _Walk(head=(end.seq or 0, end.hash or rules.GENESIS))
    first = -(2**63)
    while walk.broken is None:
        window = {"organization": organization_id, "first": first, "last": end.last}
        part = [dict(row) for row in (await session.execute(_PART, window)).mappings()]
        if not part:
            break
        async with between():
            await threads.run(Work.AUDIT, walk.take, part)
        first = part[-1]["seq"] + 1
    return walk.end()


_MINE = LOG.c.organization_id == sa.bindparam("organization")
_END = sa.select(
    HEADS.c.seq,
    HEADS.c.hash,
    sa.select(sa.func.max(LOG.c.seq)).where(_MINE).scalar_subquery().label("last"),
).select_from(
    sa.select(sa.literal(1)).subquery().outerjoin(HEADS, HEADS.c.organization_id == sa.bindparam("organization"))
)
"""The recorded end, and the last entry in the same snapshot: an entry beyond the end is a fault."""
_PART = (
    sa.select(LOG)
    .where(_MINE, LOG.c.seq >= sa.bindparam("first"), LOG.c.seq <= sa.bindparam("last"))
    .order_by(LOG.c.seq)
    .limit(PART)
)


async def organizations(session: AsyncSession) -> list[tuple[UUID, str]]:
    """Return every organization that has a log, by name."""
    named = sa.text("""
        select c.organization_id, coalesce(o.name, 'removed') as name
        from (select organization_id from audit_heads union select distinct organization_id from audit_log) c
        left join organizations o on o.id = c.organization_id order by 2, 1
    """)
    return [(r.organization_id, r.name) for r in await session.execute(named)]
