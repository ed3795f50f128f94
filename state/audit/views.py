"""Entries of the audit log as pages show them."""

from dataclasses import dataclass, field

from backend.audit.schemas import AuditEntry
from state.audit.differences import Change, action_words, changes, summary
from state.core.dates import stamp
from state.core.record_values import Known

CREDENTIALS = {"session": "in the browser", "token": "via access token", "none": "not signed in"}
NAMES = {"system": "Signum", "operator": "The operator"}
"""Names of actors that are not users, by credential."""


@dataclass
class AuditEntryView:
    """An entry. `who` is a name or Signum itself; `by` is how the actor authenticated."""

    seq: int = 0
    at: str = ""
    who: str = ""
    by: str = ""
    action: str = ""
    what: str = ""
    subject_type: str = ""
    subject_id: str = ""
    subject: str = ""
    line: str = ""
    differences: list[Change] = field(default_factory=list)
    is_new: bool = False
    withheld: bool = False
    request_id: str = ""
    address: str = ""
    previous_hash: str = ""
    hash: str = ""


def entry_view(entry: AuditEntry, known: Known) -> AuditEntryView:
    """Convert the API's entry; `known` are the records that its values refer to."""
    before, after = entry.before or {}, entry.after or {}
    found = changes(before, after, known.about(entry.subject.model_dump(), {**before, **after}))
    by = "via API key" if entry.credential.startswith("key:") else CREDENTIALS.get(entry.credential, "")
    return AuditEntryView(
        seq=entry.seq,
        at=stamp(entry.at),
        who=entry.actor_name or NAMES.get(entry.credential, "Unknown"),
        by=by,
        action=entry.action,
        what=action_words(entry.action, after.get("control")),
        subject_type=entry.subject.type,
        subject_id=entry.subject.id,
        subject=entry.subject_name or "",
        line="Hidden for your role" if entry.withheld else summary(found),
        differences=found,
        is_new=entry.before is None,
        withheld=entry.withheld,
        request_id=entry.request_id or "",
        address=entry.address or "",
        previous_hash=entry.previous_hash,
        hash=entry.hash,
    )
