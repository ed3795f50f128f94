"""State changes of an attestation, each recorded when it happens."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.attestations.models import AttestationRow
from backend.attestations.schemas import REPLACED, Attestation, AttestationStatus
from backend.chain.devnet import clock
from backend.core.changes import set_status, set_statuses
from backend.core.db import Write

PLACE = ("organization_id", "chain_eid", "wallet_address")
"""Columns by which an attestation replaces another."""


async def expire_due(session: Write) -> int:
    """Mark expired attestations and return their number. For the periodic sweep, over every organization that its
    session sees."""
    due = sa.select(AttestationRow).where(
        col(AttestationRow.status) == AttestationStatus.ACTIVE, col(AttestationRow.expires_at) <= clock.chain_now()
    )
    rows = (await session.scalars(due.with_for_update())).all()
    await change_all(session, [(row, {"status": AttestationStatus.EXPIRED}) for row in rows])
    return len(rows)


async def activate(session: Write, found: Mapping[UUID, Mapping[str, Any]]) -> None:
    """Set attestations, by ID, to active with the values that were read from their chain.

    Those that they replace end: the registry keeps only an attester's latest attestation of a wallet.
    """
    place = [col(getattr(AttestationRow, name)) for name in PLACE]
    new = sa.select(*place).where(col(AttestationRow.id).in_(found))
    query = sa.select(AttestationRow).where(
        sa.tuple_(*place).in_(new),
        sa.or_(col(AttestationRow.id).in_(found), col(AttestationRow.status) == AttestationStatus.ACTIVE),
    )
    rows = (await session.scalars(query.order_by(col(AttestationRow.id)).with_for_update())).all()
    attested_at = {(row.chain_eid, row.wallet_address): found[row.id]["attested_at"] for row in rows if row.id in found}
    ended = {"status": AttestationStatus.REVOKED, "revocation_reason": REPLACED}
    replaced = [
        (row, {**ended, "revoked_at": attested_at[row.chain_eid, row.wallet_address]})
        for row in rows
        if row.id not in found
    ]
    active = [(row, {**found[row.id], "status": AttestationStatus.ACTIVE}) for row in rows if row.id in found]
    await change_all(session, replaced)
    await change_all(session, active)


async def change(session: Write, row: AttestationRow, **values: object) -> None:
    """Change a locked attestation, and record its new state."""
    await set_status(session, "attestation", Attestation, row, **values)


async def change_all(session: Write, changes: Sequence[tuple[AttestationRow, Mapping[str, object]]]) -> None:
    """Change several locked attestations, and record their new states."""
    await set_statuses(session, "attestation", Attestation, changes)


def time_of(seconds: int) -> datetime:
    """Return the time of a block."""
    return datetime.fromtimestamp(seconds, UTC)
