"""Entries of the audit log as pages show them."""

from collections import Counter
from dataclasses import dataclass, field

from backend.audit.schemas import AuditEntry
from state.audit.differences import Change, action_words, changes, is_technical, summary
from state.core.dates import stamp
from state.core.record_values import Known

CREDENTIALS = {"session": "in the browser", "token": "via access token", "none": "not signed in"}
NAMES = {"system": "Signum", "operator": "The operator"}
"""Names of actors that are not users, by credential."""
NEEDS_APPROVAL = "Needs a second person's approval: "
"""Before what was recorded with a request for approval, which has not happened yet."""


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
    technical: list[Change] = field(default_factory=list)
    """Differences in ids, hashes and the like."""
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
        differences=[change for change in found if not is_technical(change["name"])],
        technical=[change for change in found if is_technical(change["name"])],
        is_new=entry.before is None,
        withheld=entry.withheld,
        request_id=entry.request_id or "",
        address=entry.address or "",
        previous_hash=entry.previous_hash,
        hash=entry.hash,
    )


def _line(entry: AuditEntry, found: list[Change]) -> str:
    """Return the differences in one line; of a removed record, its name beside the line is enough. A status that the
    action says is omitted, and so is the first one of a new record."""
    if entry.withheld:
        return "Hidden for your role"
    if entry.after is None:
        return ""
    is_said = entry.before is None or entry.action.partition(".")[2] == entry.after.get("status")
    told = [change for change in found if not (is_said and change["name"] == "status")]
    if entry.subject.type == "transfer":  # its name has the receiver only
        told = [change | {"name": "sender"} if change["name"] == "from" else change for change in told]
    return summary(told, entry.subject_name or "")


@dataclass
class AuditAction:
    """The entries of one action: what was asked first, then what followed, in the order of the log.

    `followed` names the latter in one line, after `lead`; `at` is the time of the first entry.
    """

    first: AuditEntryView = field(default_factory=AuditEntryView)
    then: list[AuditEntryView] = field(default_factory=list)
    lead: str = "Then: "
    followed: str = ""
    at: str = ""
    seqs: list[int] = field(default_factory=list)


def actions(entries: list[AuditEntryView]) -> list[AuditAction]:
    """Return the entries by action, in the order of the list, where the first entry of each action counts: what was
    asked before an answer is listed before it, even if it ended after it.

    Entries with the same request id by the same actor are one action, even if others lie between them; an entry
    without one stands alone. What ran after a second person's approval is an action of its own, at its own time.
    """
    found: dict[tuple[str, ...], list[AuditEntryView]] = {}
    for entry in entries:
        found.setdefault(_key(entry), []).append(entry)
    parts = [part for of_one in found.values() for part in _parts(sorted(of_one, key=lambda entry: entry.seq))]
    grouped = [_action(part) for part in parts]
    is_newest_first = bool(entries) and entries[0].seq > entries[-1].seq
    return sorted(grouped, key=lambda action: action.first.seq, reverse=is_newest_first)


def rest_of(entries: list[AuditEntryView], following: list[AuditEntryView]) -> list[AuditEntryView]:
    """Return those of the following page's entries that belong to an action of this page's `entries`."""
    keys = {_key(entry) for entry in entries}
    return [entry for entry in following if _key(entry) in keys]


def _key(entry: AuditEntryView) -> tuple[str, ...]:
    return (entry.request_id, entry.who, entry.by) if entry.request_id else (str(entry.seq),)


def _parts(entries: list[AuditEntryView]) -> list[list[AuditEntryView]]:
    """Divide the entries of a request that waited for an approval: what was written with it has consecutive numbers,
    and what ran after the decision follows later."""
    asked = next((i for i, entry in enumerate(entries) if entry.action == "approval.created"), None)
    if asked is None:
        return [entries]
    end = asked + 1
    while end < len(entries) and entries[end].seq == entries[end - 1].seq + 1:
        end += 1
    return [part for part in (entries[:end], entries[end:]) if part]


def _action(entries: list[AuditEntryView]) -> AuditAction:
    first, *then = entries
    times = Counter(entry.what for entry in then)
    words = ", ".join(what if count == 1 else f"{what} ({count})" for what, count in times.items())
    lead = NEEDS_APPROVAL if first.action == "approval.created" else "Then: "
    return AuditAction(first, then, lead, words, first.at, [entry.seq for entry in entries])
