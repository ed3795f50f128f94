"""Kept emails for the operator. Needs database access; the API does not offer it."""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlmodel import col

from backend.cli.database import outside
from backend.core.db import Write
from backend.core.settings import Settings
from backend.mail.models import OutboxRow
from backend.mail.schemas import MailStatus


async def read(settings: Settings, recipient: str | None, limit: int) -> Sequence[OutboxRow]:
    """Return `kept`, from a separate process."""
    async with outside(settings) as session:
        return await kept(session, recipient, limit)


async def kept(session: Write, recipient: str | None, limit: int) -> Sequence[OutboxRow]:
    """Return emails that were not sent because no mail server is set, the newest first, with their text."""
    query = sa.select(OutboxRow).where(col(OutboxRow.status) == MailStatus.KEPT)
    if recipient is not None:
        query = query.where(col(OutboxRow.recipient) == recipient.strip().lower())
    return (await session.scalars(query.order_by(col(OutboxRow.created_at).desc()).limit(limit))).all()
