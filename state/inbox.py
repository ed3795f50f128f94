"""What waits for a person, in the overview's words: approvals, failed requests, parties, attestations and the rest."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from state.requests import Request
from state.webhooks import WHY_DISABLED

KINDS = ("approval", "request", "party", "attestation", "invitation", "webhook")
UNREAD = {
    "approval": ("What waits for a decision could not be read", "approvals"),
    "request": ("Failed requests could not be read", "requests?status=failed"),
    "webhook": ("Whether a webhook was disabled could not be read", "webhooks"),
}
"""What is said where nothing else tells of a kind, and the page that has it."""


@dataclass
class Waiting:
    """What waits for a person; `href` is where it is resolved, `request_id` is set where it can be retried here.

    `is_unread`: it, or who it is about, could not be read; `detail` says why.
    """

    id: str
    kind: str
    title: str
    detail: str
    at: str
    word: str
    href: str
    request_id: str = ""
    is_unread: bool = False


@dataclass(frozen=True)
class Inbox:
    """Puts an organization's records into words. `place` is the path of its pages, `/o/{id}/`."""

    place: str

    def asked(self, row: dict[str, Any]) -> Waiting:
        """An action that waits for this person's decision."""
        who = " with ".join(name for name in (row["asked_by_name"], row["asked_with"]) if name) or "Somebody"
        detail, href = f"{who} asks; it takes a second person", f"{self.place}approvals?id={row['id']}"
        return Waiting(row["id"], "approval", row["title"], detail, row["created_at"], "Decide", href)

    def failed(self, request: Request) -> Waiting:
        """A failed request."""
        href = f"{self.place}requests?id={request.id}"
        retry = request.id if request.can_retry else ""
        why = request.problem or "It ended without a reason"
        return Waiting(request.id, "request", f"{request.title} failed", why, request.updated_at, "View", href, retry)

    def more_failed(self, count: int) -> list[Waiting]:
        """How many failed requests there are besides."""
        if count <= 0:
            return []
        title = f"{count:,} more failed {_plural('request', count)}"
        return [Waiting("more", "request", title, "", "", "View all", f"{self.place}requests?status=failed")]

    def parties(self, count: int, parties: list[dict[str, Any]]) -> list[Waiting]:
        """The parties that wait for a review, some by name."""
        if not count:
            return []
        title = f"{count:,} {_plural('party', count)} {'waits' if count == 1 else 'wait'} for identity review"
        names, at = _names([party["name"] for party in parties], count), parties[-1]["created_at"] if parties else ""
        return [Waiting("parties", "party", title, names, at, "Review", f"{self.place}parties")]

    def expiring(self, count: int, attestations: list[dict[str, Any]]) -> list[Waiting]:
        """The attestations that end soon, some by name."""
        if not count:
            return []
        title = f"{count:,} {_plural('attestation', count)} {'expires' if count == 1 else 'expire'} within 30 days"
        names = _names([(row.get("party") or {}).get("name", "") for row in attestations], count)
        detail = names or "Without a valid attestation their holders can no longer receive or trade."
        return [Waiting("expiring", "attestation", title, detail, "", "Renew", f"{self.place}attestations")]

    def invited(self, count: int, invitations: list[dict[str, Any]]) -> list[Waiting]:
        """The invitations nobody has answered, some by address."""
        if not count:
            return []
        title = f"{count:,} {_plural('invitation', count)} {'is' if count == 1 else 'are'} still pending"
        names = _names([row["email"] for row in invitations], count)
        at = invitations[-1]["created_at"] if invitations else ""
        return [Waiting("invited", "invitation", title, names, at, "View", f"{self.place}members?tab=invitations")]

    def stopped(self, row: dict[str, Any]) -> Waiting:
        """A webhook that was disabled by us."""
        why, href = WHY_DISABLED[row["disabled_reason"]], f"{self.place}webhooks/{row['id']}"
        title = f"The webhook endpoint {row['url']} was disabled"
        return Waiting(row["id"], "webhook", title, why, row["disabled_at"], "View", href)

    def with_unread(self, entries: list[Waiting], missing: Mapping[str, str]) -> list[Waiting]:
        """The same, and what could not be read, by kind with its reason: at its entry, or as one of its own."""
        told = [
            replace(entry, is_unread=True, detail=f"Details could not be read. {missing[entry.kind]}")
            if entry.kind in missing
            else entry
            for entry in entries
        ]
        silent = [kind for kind in missing if all(entry.kind != kind for entry in entries)]
        return [*(self._unread(kind, missing[kind]) for kind in silent), *told]

    def _unread(self, kind: str, why: str) -> Waiting:
        title, page = UNREAD[kind]
        return Waiting(f"unread-{kind}", kind, title, why, "", "", self.place + page, is_unread=True)


def _names(names: list[str], count: int) -> str:
    """The first names, and how many more there are."""
    known = [name for name in names if name]
    rest = f" and {count - len(known):,} more" if known and count > len(known) else ""
    return ", ".join(known) + rest


def _plural(word: str, count: int) -> str:
    if count == 1:
        return word
    return word[:-1] + "ies" if word.endswith("y") else word + "s"
