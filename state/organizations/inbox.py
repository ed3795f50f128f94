"""Tasks for the user, as the overview lists them: approvals, failed requests, parties, attestations and others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from backend.approvals.schemas import Approval
from backend.attestations.schemas import Attestation
from backend.auth.scopes import Scope
from backend.invitations.schemas import Invitation
from backend.parties.schemas import Party
from backend.webhooks.schemas import Webhook
from state.core.dates import stamp
from state.requests.views import RequestView
from state.webhooks.list import WHY_DISABLED

KINDS = ("approval", "request", "party", "attestation", "invitation", "webhook")
UNREAD = {
    "approval": ("Approvals could not be read", "approvals"),
    "request": ("Failed requests could not be read", "requests?status=failed"),
    "webhook": ("Webhooks could not be read", "webhooks"),
}
"""The entry and page of a kind whose records could not be read."""


@dataclass
class TaskView:
    """A task; `href` is the page that resolves it, `request_id` is set if it can be retried here.

    `scope` is what the page's action needs, if not every reader may do it. `is_unread`: the task or its details could
    not be read; `detail` says why.
    """

    id: str
    kind: str
    title: str
    detail: str
    at: str
    word: str
    href: str
    request_id: str = ""
    scope: str = Scope.ORGS_READ
    is_unread: bool = False


@dataclass(frozen=True)
class Inbox:
    """Converts an organization's records to tasks. `place` is the path of its pages, `/o/{id}/`."""

    place: str

    def approval(self, approval: Approval) -> TaskView:
        """Return the task of an action that waits for this user's decision."""
        who = " with ".join(filter(None, (approval.asked_by_name, approval.asked_with))) or "Someone"
        detail, href = f"{who} requested this. It needs a second person", f"{self.place}approvals?id={approval.id}"
        at = stamp(approval.created_at)
        return TaskView(str(approval.id), "approval", approval.title, detail, at, "Decide", href)

    def failed_request(self, request: RequestView) -> TaskView:
        """Return the task of a failed request."""
        href = f"{self.place}requests?id={request.id}"
        retry = request.id if request.can_retry else ""
        why = request.problem or "No reason was recorded"
        title, at = f"{request.title} failed", request.updated_at
        return TaskView(request.id, "request", title, why, at, "View", href, retry, request.scope)

    def more_failed_requests(self, count: int) -> list[TaskView]:
        """Return a task with the number of further failed requests."""
        if count <= 0:
            return []
        title = f"{count:,} more failed {_plural('request', count)}"
        return [TaskView("more", "request", title, "", "", "View all", f"{self.place}requests?status=failed")]

    def parties(self, count: int, parties: Sequence[Party]) -> list[TaskView]:
        """Return the task of parties that wait for review, with some names."""
        if not count:
            return []
        title = f"{count:,} {_plural('party', count)} {'waits' if count == 1 else 'wait'} for identity review"
        names, at = _names([party.name for party in parties], count), stamp(parties[-1].created_at) if parties else ""
        href = f"{self.place}parties"
        return [TaskView("parties", "party", title, names, at, "Review", href, scope=Scope.ATTESTATIONS_WRITE)]

    def attestations(self, count: int, attestations: Sequence[Attestation]) -> list[TaskView]:
        """Return the task of attestations that expire soon, with some names."""
        if not count:
            return []
        title = f"{count:,} {_plural('attestation', count)} {'expires' if count == 1 else 'expire'} within 30 days"
        names = _names([one.party.name for one in attestations if one.party], count)
        detail = names or "Without a valid attestation their holders can no longer receive or trade."
        href = f"{self.place}attestations"
        return [TaskView("expiring", "attestation", title, detail, "", "Renew", href, scope=Scope.ATTESTATIONS_WRITE)]

    def invitations(self, count: int, invitations: Sequence[Invitation]) -> list[TaskView]:
        """Return the task of pending invitations, with some addresses."""
        if not count:
            return []
        title = f"{count:,} {_plural('invitation', count)} {'is' if count == 1 else 'are'} still pending"
        names = _names([invitation.email for invitation in invitations], count)
        at = stamp(invitations[-1].created_at) if invitations else ""
        return [TaskView("invited", "invitation", title, names, at, "View", f"{self.place}members?tab=invitations")]

    def webhook(self, webhook: Webhook) -> TaskView:
        """Return the task of a webhook that Signum disabled."""
        why, href = WHY_DISABLED.get(webhook.disabled_reason or "", ""), f"{self.place}webhooks/{webhook.id}"
        title = f"The webhook endpoint {webhook.url} was disabled"
        return TaskView(str(webhook.id), "webhook", title, why, stamp(webhook.disabled_at), "View", href)

    def with_unread(self, entries: list[TaskView], missing: Mapping[str, str]) -> list[TaskView]:
        """Return the tasks with what could not be read, by kind with its reason: at its task, or as an extra one."""
        tasks = [
            replace(entry, is_unread=True, detail=f"Details could not be read. {missing[entry.kind]}")
            if entry.kind in missing
            else entry
            for entry in entries
        ]
        silent = [kind for kind in missing if all(entry.kind != kind for entry in entries)]
        return [*(self._unread(kind, missing[kind]) for kind in silent), *tasks]

    def _unread(self, kind: str, why: str) -> TaskView:
        title, page = UNREAD[kind]
        return TaskView(f"unread-{kind}", kind, title, why, "", "", self.place + page, is_unread=True)


def _names(names: list[str], count: int) -> str:
    """Return the first names, and how many more there are."""
    known = [name for name in names if name]
    rest = f" and {count - len(known):,} more" if known and count > len(known) else ""
    return ", ".join(known) + rest


def _plural(word: str, count: int) -> str:
    if count == 1:
        return word
    return word[:-1] + "ies" if word.endswith("y") else word + "s"
