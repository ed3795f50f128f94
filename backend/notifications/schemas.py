"""API schemas of notifications."""

from enum import StrEnum
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from backend.auth.scopes import Scope
from backend.core.fields import Record, Timestamp


class NotificationKind(StrEnum):
    """What a notification is about, the most urgent kind first."""

    APPROVAL = "approval"
    COMMENT = "comment"
    REQUEST = "request"
    PARTY = "party"
    ATTESTATION = "attestation"
    INVITATION = "invitation"
    WEBHOOK = "webhook"


class Notification(Record):
    """Something that waits for the caller. It ends when it is done, not when it is read.

    `count`: of how many records it speaks. `subject_id`: the only one, an approval for a comment; null if it speaks of
    several. `at`: when the newest began to wait. `is_seen`: whether that was before the person last saw the
    notifications of this organization. `scope`: what resolves it. `can_retry`: whether the failed request can be
    retried. `resolution`: the call that removes the cause of the failed request, as in the request's `problem`.
    """

    kind: NotificationKind
    title: str
    detail: str | None = None
    count: int = 1
    subject_id: UUID | None = None
    at: Timestamp
    is_seen: bool = False
    scope: Scope
    can_retry: bool = False
    resolution: dict[str, Any] | None = None


class Notifications(BaseModel):
    """What waits for the caller in an organization, by kind, each kind newest first.

    `total`: how many records that are, `unseen`: how many notifications are new. `as_of`: when they were read; send it
    as `seen` of PATCH /v1/auth/preferences after the person has seen them.
    """

    notifications: list[Notification]
    total: int
    unseen: int
    as_of: Timestamp
