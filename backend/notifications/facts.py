"""Queries of what waits in an organization, except approvals and requests, which have their own."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.notifications.schemas import NotificationKind

NAMED = 3
"""Names of records that a notification speaks of together."""
RESOLVED_WITH = {
    NotificationKind.PARTY: Scope.ATTESTATIONS_WRITE,
    NotificationKind.ATTESTATION: Scope.ATTESTATIONS_WRITE,
    NotificationKind.INVITATION: Scope.MEMBERS_WRITE,
    NotificationKind.WEBHOOK: Scope.ORGS_WRITE,
}
NAMED_WITH = {
    NotificationKind.PARTY: Scope.ATTESTATIONS_READ,
    NotificationKind.ATTESTATION: Scope.ATTESTATIONS_READ,
    NotificationKind.INVITATION: Scope.MEMBERS_READ,
}
"""The scope that reads the names."""
_WAITING = {
    NotificationKind.PARTY: """
      select id, name, created_at as at from parties
      where organization_id = :org and status in ('created', 'verifying')""",
    NotificationKind.ATTESTATION: """
      select a.id, p.name, a.expires_at - interval '30 days' as at
      from attestations a join parties p on p.id = a.party_id
      where a.organization_id = :org and a.status = 'active'
        and a.expires_at between now() and now() + interval '30 days'""",
    NotificationKind.INVITATION: """
      select id, email as name, created_at as at from invitations
      where organization_id = :org and status = 'pending' and expires_at > now()""",
}
_TOGETHER = """
select '{kind}' as kind, count(*) as number, max(at) as at,
  array(select name from ({waiting}) n order by at desc, id desc limit {named}) as names,
  (select id from ({waiting}) f order by at desc, id desc limit 1) as first
from ({waiting}) w having count(*) > 0"""
WEBHOOKS = sa.text("""
select id, url, disabled_reason, disabled_at as at from webhook_endpoints
where organization_id = :org and status = 'disabled' and disabled_reason <> 'manual'
order by disabled_at desc, id desc limit :most
""")
COMMENTS = sa.text("""
select a.id, r.kind, r.title, c.text, c.created_at as at, coalesce(u.display_name, u.email) as name
from approvals a join requests r on r.id = a.request_id
  join lateral (
    select * from approval_comments c where c.approval_id = a.id order by c.created_at desc, c.id desc limit 1
  ) c on c.user_id <> :me
  left join users u on u.id = c.user_id
where a.organization_id = :org and a.asked_by = :me and a.status = 'pending' and a.expires_at > now()
  and r.scope = any(:scopes)
order by c.created_at desc limit :most
""").bindparams(sa.bindparam("me", type_=sa.Uuid()), sa.bindparam("scopes", type_=sa.ARRAY(sa.Text())))
"""Pending approvals that a person asked for, and that another person commented on last."""


@dataclass(frozen=True)
class Together:
    """Records of a kind that wait: how many, since when the newest, its ID, and names of the newest ones."""

    kind: NotificationKind
    count: int
    at: datetime
    names: list[str]
    first: UUID


async def together(context: Context) -> list[Together]:
    """Return what the caller resolves by their scopes; names only where they may read them."""
    scopes = context.scopes
    kinds = [kind for kind in _WAITING if RESOLVED_WITH[kind] in scopes]
    if not kinds:
        return []
    parts = [_TOGETHER.format(kind=kind, waiting=_WAITING[kind], named=NAMED) for kind in kinds]
    rows = (await context.session.execute(sa.text(" union all ".join(parts)), {"org": context.organization_id})).all()
    found = [Together(NotificationKind(r.kind), r.number, r.at, _readable(r, scopes), r.first) for r in rows]
    return sorted(found, key=lambda one: kinds.index(one.kind))


def _readable(row: Any, scopes: Collection[Scope]) -> list[str]:
    return list(row.names) if NAMED_WITH[NotificationKind(row.kind)] in scopes else []


async def webhooks(context: Context, most: int) -> list[Any]:
    """Return endpoints that Signum disabled; none where the caller cannot enable them."""
    if RESOLVED_WITH[NotificationKind.WEBHOOK] not in context.scopes:
        return []
    asked = {"org": context.organization_id, "most": most}
    return list((await context.session.execute(WEBHOOKS, asked)).all())


async def comments(context: Context, most: int) -> list[Any]:
    """Return what other people commented last on the caller's pending approvals."""
    if context.user_id is None:
        return []
    asked = {"org": context.organization_id, "me": context.user_id, "scopes": list(map(str, context.scopes))}
    return list((await context.session.execute(COMMENTS, asked | {"most": most})).all())
