"""What waits for the caller in the entered organization."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from backend.approvals import listing as approvals
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.core.db import now
from backend.notifications import facts, rules
from backend.notifications.schemas import Notification, NotificationKind, Notifications
from backend.preferences import service as preferences
from backend.requests import listing as requests
from backend.requests import titles

MOST = 20
"""Approvals, comments and webhooks that are shown one by one."""
SHOWN = 5
"""Failed requests that are shown one by one."""
WORDS = {
    NotificationKind.PARTY: rules.parties,
    NotificationKind.ATTESTATION: rules.attestations,
    NotificationKind.INVITATION: rules.invitations,
}


async def read(context: Context) -> Notifications:
    """Return what waits for the caller by their scopes."""
    as_of, seen = now(), await preferences.seen_until(context)
    found = [
        *await _approvals(context),
        *[_comment(context, row) for row in await facts.comments(context, MOST)],
        *await _failed_requests(context),
        *[_together(one) for one in await facts.together(context)],
        *[_webhook(row) for row in await facts.webhooks(context, MOST)],
    ]
    for one in found:
        one.is_seen = seen is not None and one.at <= seen
    total = sum(one.count for one in found)
    return Notifications(notifications=found, total=total, unseen=sum(not one.is_seen for one in found), as_of=as_of)


async def _approvals(context: Context) -> list[Notification]:
    waiting, count = await approvals.decidable(context, MOST)
    shown = [
        Notification(
            kind=NotificationKind.APPROVAL,
            title=one.title,
            detail=rules.approval((one.asked_by_name, one.asked_with)),
            subject_id=one.id,
            at=one.created_at,
            scope=Scope(one.scope),
        )
        for one in waiting
    ]
    return [*shown, *_more(NotificationKind.APPROVAL, "approval", count, shown)]


async def _failed_requests(context: Context) -> list[Notification]:
    failed, count = await requests.failed(context, SHOWN)
    shown = [
        Notification(
            kind=NotificationKind.REQUEST,
            title=f"{one.title} failed",
            detail=(one.problem or {}).get("detail") or "No reason was recorded",
            subject_id=one.id,
            at=one.updated_at,
            scope=one.scope,
            can_retry=one.can_retry and one.scope in context.scopes,
            resolution=(one.problem or {}).get("resolution"),
        )
        for one in failed
    ]
    return [*shown, *_more(NotificationKind.REQUEST, "failed request", count, shown)]


def _more(kind: NotificationKind, word: str, count: int, shown: list[Notification]) -> Iterator[Notification]:
    """Yield a notification of the records that are not shown one by one."""
    if count > len(shown):
        left, oldest = count - len(shown), shown[-1]
        yield Notification(kind=kind, title=rules.more(left, word), count=left, at=oldest.at, scope=oldest.scope)


def _comment(context: Context, row: Any) -> Notification:
    return Notification(
        kind=NotificationKind.COMMENT,
        title=titles.title_of(context.scopes, row.kind, row.title),
        detail=rules.comment(row.name, row.text),
        subject_id=row.id,
        at=row.at,
        scope=Scope.ORGS_READ,
    )


def _together(found: facts.Together) -> Notification:
    return Notification(
        kind=found.kind,
        title=WORDS[found.kind](found.count),
        detail=rules.names(found.names, found.count) or None,
        count=found.count,
        subject_id=found.first if found.count == 1 else None,
        at=found.at,
        scope=facts.RESOLVED_WITH[found.kind],
    )


def _webhook(row: Any) -> Notification:
    at: datetime = row.at
    return Notification(
        kind=NotificationKind.WEBHOOK,
        title=f"The webhook endpoint at {urlsplit(row.url).hostname} was disabled",
        detail=rules.WHY_DISABLED.get(row.disabled_reason),
        subject_id=row.id,
        at=at,
        scope=facts.RESOLVED_WITH[NotificationKind.WEBHOOK],
    )
