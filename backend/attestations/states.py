"""The states of an attestation, each told when it begins."""

import sqlalchemy as sa
from sqlmodel import col

from backend.attestations.models import AttestationRow
from backend.attestations.schemas import Attestation, AttestationStatus
from backend.chain import clock
from backend.changes import shown, tell_state
from backend.db import Write


async def expire_due(session: Write) -> int:
    """Note what has expired; returns how many. For the periodic sweep, over every organization its session sees."""
    due = sa.select(AttestationRow).where(
        col(AttestationRow.status) == AttestationStatus.ACTIVE, col(AttestationRow.expires_at) <= clock.chain_now()
    )
    rows = (await session.scalars(due.with_for_update())).all()
    for row in rows:
        await change(session, row, status=AttestationStatus.EXPIRED)
    return len(rows)


async def change(session: Write, row: AttestationRow, **values: object) -> None:
    """Set something of an attestation that is locked, and tell of its new state."""
    before = shown(Attestation, row)
    for name, value in values.items():
        setattr(row, name, value)
    await session.flush()
    await tell_state(session, "attestation", Attestation, row, before)
