"""State changes of an attestation, each recorded when it happens."""

import sqlalchemy as sa
from sqlmodel import col

from backend.attestations.models import AttestationRow
from backend.attestations.schemas import Attestation, AttestationStatus
from backend.chain.devnet import clock
from backend.core.changes import set_status
from backend.core.db import Write


async def expire_due(session: Write) -> int:
    """Mark expired attestations and return their number. For the periodic sweep, over every organization that its
    session sees."""
    due = sa.select(AttestationRow).where(
        col(AttestationRow.status) == AttestationStatus.ACTIVE, col(AttestationRow.expires_at) <= clock.chain_now()
    )
    rows = (await session.scalars(due.with_for_update())).all()
    for row in rows:
        await change(session, row, status=AttestationStatus.EXPIRED)
    return len(rows)


async def change(session: Write, row: AttestationRow, **values: object) -> None:
    """Change a locked attestation, and record its new state."""
    await set_status(session, "attestation", Attestation, row, **values)
