"""Response bodies of the audit log."""

from typing import Any
from uuid import UUID

from pydantic import BaseModel

from backend.core.fields import Record, Timestamp
from backend.lists.schemas import RecordPage


class AuditSubject(BaseModel):
    """The subject of a change."""

    type: str
    id: str


class AuditEntry(Record):
    """One change. `hash` is the SHA-256 of the entry's RFC 8785 form without `actor_name`, `subject_name`, `withheld`,
    `erased_by` and `hash`.

    `actor` is the responsible person (of an API key, its creator), null for the system and the operator. `credential`
    is `session`, `token`, `key:<id>`, `none` (no credential yet, as with an invitation's token), `operator` (a command
    on the installation itself) or `system`. `before` and `after` have the fields that changed, and `subject_name` is
    the subject's current name; `withheld` means that these are hidden, because the credential may not read such
    records. `erased_by` is the number of the later entry that erased personal data from this one, as a law requires:
    `hash` is then that of the original content, and `after.entries` of the later entry has the hash of this one.
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
    erased_by: int | None = None


class AuditList(RecordPage):
    """A page of the log, newest first."""

    audit: list[AuditEntry]
    nextCursor: str | None


class AuditBreak(BaseModel):
    """The first entry that differs from what was written, and the reason."""

    seq: int
    reason: str


class AuditVerification(BaseModel):
    """Whether every entry is as it was written, or as an erasure in the log left it. The first `length` entries, up to
    `last_hash`, are valid. `erased` is the number of entries from which personal data was erased, `erasures` has the
    numbers of the entries that erased it."""

    whole: bool
    length: int
    last_hash: str | None
    broken: AuditBreak | None
    erased: int
    erasures: list[int]
