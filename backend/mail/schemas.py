"""Response bodies of email."""

from enum import StrEnum
from uuid import UUID

from pydantic import Field

from backend.core.fields import Record, Timestamp
from backend.lists.schemas import RecordPage


class MailStatus(StrEnum):
    """`kept` where no mail server is set; otherwise `queued`, and finally `sent` or `failed`."""

    KEPT = "kept"
    QUEUED = "queued"
    SENT = "sent"
    FAILED = "failed"


class MailKind(StrEnum):
    """What an email is about, the most urgent first."""

    ACCOUNT = "account"
    """For the person of an account, such as a password reset or a new device."""
    ALARM = "alarm"
    """For admins, about access to their organization, such as a new API key."""
    NOTICE = "notice"
    """Caused by an organization, such as an invitation."""


class Mail(Record):
    """An email.

    Its text is shown where the email is kept instead of sent. Private texts contain a secret of the recipient: that of
    an invitation is shown only to signed-in admins of the operator's organization, that of a password reset to no one.
    Once the link no longer works, the text is empty.
    """

    id: UUID
    organization_id: UUID
    recipient: str
    subject: str
    body: str | None
    is_private: bool = Field(
        description="Only the recipient may read the text, and the operator, with `signum outbox`."
    )
    status: MailStatus
    attempts: int = Field(description="Number of delivery attempts.")
    next_attempt_at: Timestamp | None = Field(description="Set while the email is queued.")
    sent_at: Timestamp | None
    failure: str | None = Field(description="The mail server's last error.")
    created_at: Timestamp
    updated_at: Timestamp


class Outbox(RecordPage):
    """A page of emails."""

    mails: list[Mail]
    nextCursor: str | None
