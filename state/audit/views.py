"""Entries of the audit log as pages show them."""

from collections import Counter
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
        line=_line(entry, found),
        differences=found,
        is_new=entry.before is None,
        withheld=entry.withheld,
        request_id=entry.request_id or "",
        address=entry.address or "",
        previous_hash=entry.previous_hash,
        hash=entry.hash,
    )


def _line(entry: AuditEntry, found: list[Change]) -> str:
    """Return the differences in one line; of a removed record, its name beside the line is enough."""
    if entry.withheld:
        return "Hidden for your role"
    return "" if entry.after is None else summary(found, entry.subject_name or "")


@dataclass
class AuditAction:
    """The entries of one action: what was asked first, then what followed, in the order of the log.

    `followed` names the latter in one line; `at` is the time of the first entry.
    """

    first: AuditEntryView = field(default_factory=AuditEntryView)
    then: list[AuditEntryView] = field(default_factory=list)
    followed: str = ""
    at: str = ""
    seqs: list[int] = field(default_factory=list)


def actions(entries: list[AuditEntryView]) -> list[AuditAction]:
    """Return the entries by action, in the order of the list, where the first entry of each action counts: what was
    asked before an answer is listed before it, even if it ended after it.

    Entries with the same request id by the same actor are one action, even if others lie between them; an entry
    without one stands alone.
    """
    found: dict[tuple[str, ...], list[AuditEntryView]] = {}
    for entry in entries:
        key = (entry.request_id, entry.who, entry.by) if entry.request_id else (str(entry.seq),)
        found.setdefault(key, []).append(entry)
    grouped = [_action(sorted(of_one, key=lambda entry: entry.seq)) for of_one in found.values()]
    is_newest_first = bool(entries) and entries[0].seq > entries[-1].seq
    return sorted(grouped, key=lambda action: action.first.seq, reverse=is_newest_first)


def _action(entries: list[AuditEntryView]) -> AuditAction:
    first, *then = entries
    times = Counter(entry.what for entry in then)
    words = ", ".join(what if count == 1 else f"{what} ({count})" for what, count in times.items())
    return AuditAction(first, then, words, first.at, [entry.seq for entry in entries])
