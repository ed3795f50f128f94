"""The audit log as it leaves the door."""

from typing import Any
from uuid import UUID

from pydantic import BaseModel

from backend.fields import Record, Timestamp


class AuditSubject(BaseModel):
    """What a change is about."""

    type: str
    id: str


class AuditEntry(Record):
    """One change. `hash` is the SHA-256 of the entry's RFC 8785 form without `actor_name`, `subject_name`, `withheld`
    and `hash`.

    `actor` is the person who answers for it (of an API key, its creator), null for the system and the operator.
    `credential` is `session`, `token`, `key:<id>`, `none` (whoever had none yet, as with an invitation's token),
    `operator` (a command on the installation itself) or `system`. `before` and `after` have the fields that changed,
    and `subject_name` is what people call the subject now; `withheld` says that these are not shown, since the
    credential may not read such records.
    """

    organization_id: UUID
    seq: int
    at: Timestamp
    actor: UUID | None
    actor_name: str | None
    credential: str
    action: str
    subject: AuditSubject
    subject_name: str | None
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    withheld: bool
    request_id: str | None
    address: str | None
    previous_hash: str
    hash: str


class AuditList(BaseModel):
    """A page of the log, newest first."""

    audit: list[AuditEntry]
    nextCursor: str | None


class AuditBreak(BaseModel):
    """The first entry that is not as it was written, and what is wrong with it."""

    seq: int
    reason: str


class AuditVerification(BaseModel):
    """Whether every entry is the one that was written. `length` of them were found right, up to `last_hash`."""

    whole: bool
    length: int
    last_hash: str | None
    broken: AuditBreak | None
