"""The outbox: every email, before and after it is sent. Texts are sealed, because their links are secrets."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
import structlog
from sqlmodel import Field

from backend.core.columns import Row, organization_field, sort_indexes, status_field, time_field
from backend.core.db import now
from backend.core.encryption import SECRETS, CannotUnseal
from backend.core.roots import root_query
from backend.core.settings import settings
from backend.mail.schemas import MailKind, MailStatus

log = structlog.get_logger()
PLACE = "outbox"
"""The place for which texts are sealed."""
HAS_TOPIC = sa.text("topic is not null")


class SealedText(sa.TypeDecorator[str]):
    """A text column sealed against readers of the database.

    An empty text stays empty; a text that cannot be decrypted with the keys of this installation reads as empty.
    """

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Any) -> str | None:
        """Seal."""
        return SECRETS.seal_text(value, PLACE) if value else value

    def process_result_value(self, value: str | None, dialect: Any) -> str | None:
        """Unseal."""
        if not value:
            return value
        try:
            return SECRETS.unseal_text(value, PLACE)
        except CannotUnseal:
            log.warning("email.decryption_failed")
            return ""


class OutboxRow(Row, table=True):
    """An email. Its text is deleted when it is sent, and when its link was used or has expired."""

    __tablename__ = "outbox"
    __table_args__ = (
        *sort_indexes("outbox", "created_at"),
        sa.Index(
            "ix_outbox_turns",
            "kind",
            "share_id",
            "person_id",
            "next_attempt_at",
            postgresql_where=sa.text("status = 'queued'"),
        ),
        sa.Index("ix_outbox_links", "opens", postgresql_where=sa.text("body <> ''")),
        sa.Index("ix_outbox_topics", "recipient", "topic", "created_at", postgresql_where=HAS_TOPIC),
        sa.Index("ix_outbox_days", "share_id", "created_at", postgresql_where=HAS_TOPIC),
        # For the retention only: a tree would lure the planner into reading the emails of all organizations for a list.
        sa.Index("ix_outbox_age", "created_at", postgresql_using="brin"),
    )

    organization_id: UUID = organization_field()
    kind: MailKind = status_field(MailKind)
    share_id: UUID
    """The root organization, whose share of the senders it uses."""
    person_id: UUID
    """The person who caused it, or the person of an account mail; the same as `share_id` if no person caused it.

    Neither has a foreign key: they only order the sending and count.
    """
    topic: str | None = None
    """What a recipient gets a limited number of emails about in a day. None for emails with limits of their own."""
    is_last: bool = False
    """It tells its recipient that it is the last email on its topic for a day."""
    recipient: str
    subject: str
    body: str = Field(sa_type=SealedText)
    opens: str | None = None
    """Digest of the secret in its link. When the secret was used or has expired, the text is deleted."""
    is_private: bool = False
    """Only the recipient may read the text: no page and no operation shows it, only the operator's own command."""
    status: MailStatus = status_field(MailStatus)
    attempts: int = 0
    next_attempt_at: datetime | None = time_field(nullable=True)
    sent_at: datetime | None = time_field(nullable=True)
    failure: str | None = None


@dataclass(frozen=True)
class Cause:
    """What an email is about, and the person of the account, or the person who caused it, if any."""

    kind: MailKind
    person_id: UUID | None = None


def mail(
    organization_id: UUID,
    recipient: str,
    subject: str,
    body: str,
    cause: Cause,
    *,
    is_private: bool = False,
    opens: str | None = None,
) -> OutboxRow:
    """Return an email of an organization, to be added to the transaction of its cause: it is sent only if that commits.

    `backend.mail.outbox` adds those that are limited by recipient and topic. `opens` is the digest of the secret in its
    link.
    """
    root: Any = root_query(organization_id).scalar_subquery()
    is_sent = settings().smtp_url is not None
    return OutboxRow(
        organization_id=organization_id,
        kind=cause.kind,
        share_id=root,
        person_id=cause.person_id or root,
        recipient=recipient,
        subject=subject,
        body=body,
        is_private=is_private,
        opens=opens,
        status=MailStatus.QUEUED if is_sent else MailStatus.KEPT,
        next_attempt_at=now() if is_sent else None,
    )
