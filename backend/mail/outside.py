"""What the operator reads of mails that are kept: whoever may open the database, and nobody by the API."""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlmodel import col

from backend.auth.bootstrap import outside
from backend.db import Write
from backend.mail.models import OutboxRow
from backend.mail.schemas import MailStatus
from backend.settings import Settings


async def read(settings: Settings, recipient: str | None, limit: int) -> Sequence[OutboxRow]:
    """`kept`, from a process of its own."""
    async with outside(settings) as session:
        return await kept(session, recipient, limit)


async def kept(session: Write, recipient: str | None, limit: int) -> Sequence[OutboxRow]:
    """Mails that were not sent because no mail server is set, the newest first, with their text."""
    query = sa.select(OutboxRow).where(col(OutboxRow.status) == MailStatus.KEPT)
    if recipient is not None:
        query = query.where(col(OutboxRow.recipient) == recipient.strip().lower())
    return (await session.scalars(query.order_by(col(OutboxRow.created_at).desc()).limit(limit))).all()
