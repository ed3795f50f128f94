"""The outbox: every mail, until it is sent and after."""

from datetime import datetime
from uuid import UUID

import sqlalchemy as sa

from backend.db import Row, now, organization_field, status_field, time_field
from backend.mail.schemas import MailStatus
from backend.settings import settings


class OutboxRow(Row, table=True):
    """A mail. Its text is emptied when it is sent, because the links in it are secrets."""

    __tablename__ = "outbox"
    __table_args__ = (sa.Index("ix_outbox_due", "next_attempt_at", postgresql_where=sa.text("status = 'queued'")),)

    organization_id: UUID = organization_field()
    recipient: str
    subject: str
    body: str
    is_private: bool = False
    """Its text is its recipient's alone: no page and no operation shows it, only the operator's own command."""
    status: MailStatus = status_field(MailStatus)
    attempts: int = 0
    next_attempt_at: datetime | None = time_field(nullable=True)
    sent_at: datetime | None = time_field(nullable=True)
    failure: str | None = None


def mail(organization_id: UUID, recipient: str, subject: str, body: str, *, is_private: bool = False) -> OutboxRow:
    """A mail of an organization, to be added to the transaction of its cause: sent if that commits, and only then."""
    is_sent = settings().smtp_url is not None
    return OutboxRow(
        organization_id=organization_id,
        recipient=recipient,
        subject=subject,
        body=body,
        is_private=is_private,
        status=MailStatus.QUEUED if is_sent else MailStatus.KEPT,
        next_attempt_at=now() if is_sent else None,
    )
