"""Notifications as the bell and the overview show them."""

from dataclasses import dataclass

from backend.notifications.schemas import Notification, NotificationKind
from state.core.dates import stamp
from state.requests.fixes import fix_for, page_of

KINDS = tuple(NotificationKind)
WORDS = {
    NotificationKind.APPROVAL: "Decide",
    NotificationKind.COMMENT: "Answer",
    NotificationKind.REQUEST: "View",
    NotificationKind.PARTY: "Review",
    NotificationKind.ATTESTATION: "Renew",
    NotificationKind.INVITATION: "View",
    NotificationKind.WEBHOOK: "View",
}
"""The link that opens a notification, by kind."""
PAGES = {
    NotificationKind.APPROVAL: "approvals?id={id}",
    NotificationKind.COMMENT: "approvals?id={id}",
    NotificationKind.REQUEST: "requests?id={id}",
    NotificationKind.PARTY: "parties?id={id}",
    NotificationKind.ATTESTATION: "attestations",
    NotificationKind.INVITATION: "members?tab=invitations",
    NotificationKind.WEBHOOK: "webhooks/{id}",
}
"""Where it is resolved, below the organization."""
LISTS = PAGES | {
    NotificationKind.APPROVAL: "approvals",
    NotificationKind.REQUEST: "requests?status=failed",
    NotificationKind.PARTY: "parties",
}
"""Where it is resolved, if it speaks of several records."""
FURTHER = (NotificationKind.APPROVAL, NotificationKind.REQUEST)
"""Kinds that are shown one by one; one entry has the number of those that are not shown."""


@dataclass
class NotificationView:
    """A notification; `href` is the page that resolves it, `request_id` is set if it can be retried in place,
    `fix` is the step that removes the cause of a failure, `fix_href` its page, `fix_scope` what it needs."""

    id: str
    kind: str
    title: str
    detail: str
    at: str
    word: str
    href: str
    count: int = 1
    request_id: str = ""
    is_seen: bool = False
    fix: str = ""
    fix_href: str = ""
    fix_scope: str = ""


def notification_view(data: Notification, place: str) -> NotificationView:
    """Convert the API's notification. `place` is the path of the organization's pages, `/o/{id}/`."""
    id = str(data.subject_id or "")
    page = (PAGES if id else LISTS)[data.kind].format(id=id)
    fix = fix_for(data.resolution, place.split("/")[2])
    return NotificationView(
        id=f"{data.kind}-{id or 'more'}",
        kind=data.kind,
        title=data.title,
        detail=data.detail or "",
        at=stamp(data.at),
        word="View all" if not id and data.kind in FURTHER else WORDS[data.kind],
        href=place + page,
        count=data.count,
        request_id=id if data.can_retry else "",
        is_seen=data.is_seen,
        fix=fix.label if fix.kind else "",
        fix_href=page_of(fix, place + page),
        fix_scope=fix.scope,
    )
