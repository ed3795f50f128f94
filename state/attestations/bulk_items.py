"""What an action on several rows of a list sends for each of them: pure functions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from state.core.outcomes import Outcome

ATTEST, RENEW, VERIFY, REJECT = "attest", "renew", "verify", "reject"
APPLICABLE = {
    ATTEST: ("verified",),
    RENEW: ("active", "expiring", "expired"),
    VERIFY: ("created", "verifying"),
    REJECT: ("created", "verifying", "verified"),
}
"""The statuses of rows on which an action works. Attestations have statuses of their own."""
OMITTED = {
    ATTEST: "not verified",
    RENEW: "neither active nor expired",
    VERIFY: "already decided",
    REJECT: "already rejected",
}
NAMED = 3
"""Names that a dialog lists; others are counted."""


@dataclass(frozen=True)
class Subject:
    """A row that an action is about. `eid` and `chain` are those of an attestation."""

    party_id: str
    name: str
    status: str
    level: int
    accredited: bool
    eid: int = 0
    chain: str = ""


def subjects_of(kind: str, rows: Sequence[Any]) -> tuple[list[Subject], list[str]]:
    """Return the marked rows on which an action works, and the names of the others."""
    works = APPLICABLE.get(kind, ())
    return [_subject(row) for row in rows if row.status in works], [row.name for row in rows if row.status not in works]


def omission(kind: str, others: Sequence[str], marked: int) -> str:
    """Say which of the marked rows an action leaves out, and why; empty if it works on all."""
    if not others:
        return ""
    are = "is" if len(others) == 1 else "are"
    return f"{len(others)} of {marked} selected {are} {OMITTED.get(kind, '')} and {are} omitted: {listed(others)}."


REASONS = {"created": "has no review yet", "verifying": "is in review", "rejected": "was rejected"}
"""Why a party cannot be attested, by its status."""


def obstacles(kind: str, rows: Sequence[Any]) -> str:
    """Say of each party why it cannot be attested: `Viktor Hale was rejected. Noor van Dijk is in review.`; empty for
    other actions."""
    if kind != ATTEST:
        return ""
    reasons = {status: [row.name for row in rows if row.status == status] for status in REASONS}
    said = [_obstacle(names, REASONS[status]) for status, names in reasons.items() if names]
    return " ".join(["Only verified parties can be attested.", *said])


def _obstacle(names: Sequence[str], reason: str) -> str:
    verb, _, rest = reason.partition(" ")
    plural = {"has": "have", "is": "are", "was": "were"}[verb]
    return f"{listed(names)} {verb if len(names) == 1 else plural} {rest}."


def _subject(row: Any) -> Subject:
    eid = int(getattr(row, "eid", 0))
    chain = str(row.below) if eid else ""
    party_id = str(getattr(row, "party_id", "") or row.id)
    return Subject(party_id, row.name, row.status, int(row.level), bool(row.accredited), eid, chain)


def listed(names: Sequence[str], most: int = NAMED) -> str:
    """Return names as a sentence has them: `Alder Capital, Brightwater LP and 3 more`."""
    unique = list(dict.fromkeys(names))
    shown, more = unique[:most], len(unique) - most
    if more > 0:
        return f"{', '.join(shown)} and {more} more"
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def attestations(
    kind: str, subjects: Sequence[Subject], chains: Sequence[int], expires_at: str | None
) -> list[dict[str, Any]]:
    """Return the items of a batch: each party on each chain, or each attestation as it was, with a new expiry."""
    ends = {"expires_at": expires_at} if expires_at else {}
    if kind == RENEW:
        return [
            {"party_id": s.party_id, "chain_eid": s.eid, "kyc_level": s.level, "accredited": s.accredited} | ends
            for s in subjects
        ]
    return [{"party_id": s.party_id, "chain_eid": eid} | ends for s in subjects for eid in chains]


def decisions(subjects: Sequence[Subject], fields: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the items of a batch of verifications; each is for the status that the page showed."""
    return [{"party_id": s.party_id, "expected_status": s.status} | fields for s in subjects]


def waiting(items: Sequence[dict[str, Any]], names: dict[str, str], chains: dict[int, str]) -> list[Outcome]:
    """Return the outcomes before anything was sent."""
    return [
        Outcome(str(i), names[item["party_id"]], chains.get(item.get("chain_eid", 0), ""))
        for i, item in enumerate(items)
    ]
