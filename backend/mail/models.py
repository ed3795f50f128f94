"""The outbox: every mail, until it is sent and after. Texts are sealed, for the links in them are secrets."""

from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
import structlog
from sqlmodel import Field

from backend.db import Row, now, organization_field, status_field, time_field
from backend.mail.schemas import MailStatus
from backend.sealing import SECRETS, CannotUnseal
from backend.settings import settings

log = structlog.get_logger()
PLACE = "outbox"
"""What texts are sealed for."""


class SealedText(sa.TypeDecorator[str]):
    """A text that only the process can read, and a copy of the database cannot. An empty one is empty; one that does
    not open with this installation's keystore password reads as empty."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Any) -> str | None:
        """Seal."""
        return SECRETS.seal_text(value, PLACE) if value else value

    def process_result_value(self, value: str | None, dialect: Any) -> str | None:
        """Open."""
        if not value:
            return value
        try:
            return SECRETS.unseal_text(value, PLACE)
        except CannotUnseal:
            log.warning("mail.unreadable")
            return ""


class OutboxRow(Row, table=True):
    """A mail. Its text is deleted when it is sent, and when the link in it was used or has expired."""

    __tablename__ = "outbox"
    __table_args__ = (
        sa.Index("ix_outbox_due", "next_attempt_at", postgresql_where=sa.text("status = 'queued'")),
        sa.Index("ix_outbox_links", "opens", postgresql_where=sa.text("body <> ''")),
    )

    organization_id: UUID = organization_field()
    recipient: str
    subject: str
    body: str = Field(sa_type=SealedText)
    opens: str | None = None
    """The digest of the secret in its link, by which the text is deleted when that was used or has expired."""
    is_private: bool = False
    """Its text is its recipient's alone: no page and no operation shows it, only the operator's own command."""
    status: MailStatus = status_field(MailStatus)
    attempts: int = 0
    next_attempt_at: datetime | None = time_field(nullable=True)
    sent_at: datetime | None = time_field(nullable=True)
    failure: str | None = None


def mail(
    organization_id: UUID,
    recipient: str,
    subject: str,
    body: str,
    *,
    is_private: bool = False,
    opens: str | None = None,
) -> OutboxRow:
    """A mail of an organization, to be added to the transaction of its cause: sent if that commits, and only then.
    `opens` is the digest of the secret in its link."""
    is_sent = settings().smtp_url is not None
    return OutboxRow(
        organization_id=organization_id,
        recipient=recipient,
        subject=subject,
        body=body,
        is_private=is_private,
        opens=opens,
        status=MailStatus.QUEUED if is_sent else MailStatus.KEPT,
        next_attempt_at=now() if is_sent else None,
    )
