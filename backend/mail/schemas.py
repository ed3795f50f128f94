"""Mail as it crosses the door."""

from enum import StrEnum
from uuid import UUID

from pydantic import BaseModel, Field

from backend.fields import Record, Timestamp


class MailStatus(StrEnum):
    """`kept` where no mail server is set; otherwise `queued`, and in the end `sent` or `failed`."""

    KEPT = "kept"
    QUEUED = "queued"
    SENT = "sent"
    FAILED = "failed"


class Mail(Record):
    """A mail. Its text is shown where the mail is kept instead of sent; that of a private one, such as an invitation or
    the link of a forgotten password, to nobody: it carries a secret of its recipient."""

    id: UUID
    organization_id: UUID
    recipient: str
    subject: str
    body: str | None
    is_private: bool = Field(
        description="Its text is its recipient's alone; the operator reads it with `signum outbox`."
    )
    status: MailStatus
    attempts: int = Field(description="How often the server was asked to take it.")
    next_attempt_at: Timestamp | None = Field(description="While it is queued.")
    sent_at: Timestamp | None
    failure: str | None = Field(description="What the server said the last time, where it did not take it.")
    created_at: Timestamp
    updated_at: Timestamp


class Outbox(BaseModel):
    """A page of mails."""

    mails: list[Mail]
    nextCursor: str | None
