"""What happened to assets in the last year, and what ends in the next 90 days."""

from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.core import db
from backend.distributions.schemas import DRAFT_DAYS
from backend.insight.rules import Calendar
from backend.insight.schemas import DAYS, InsightEvent, InsightEventKind, Upcoming, UpcomingKind
from backend.requests import titles

MOST = 200
_EVENTS = sa.text("""
  select * from (
    select 'issue' as kind, a.id as asset_id, a.id as subject_id, a.symbol, '' as name, min(d.day) as day
    from asset_days d join assets a on a.id = d.asset_id
    where d.organization_id = :org and d.mints > 0 group by a.id
    union all
    select 'rules', a.id, a.id, a.symbol, '', (min(s.created_at) at time zone 'UTC')::date
    from asset_rule_sets s join assets a on a.id = s.asset_id
    where s.organization_id = :org group by a.id, s.version
    having s.version > (select min(version) from asset_rule_sets where asset_id = a.id)
    union all
    select 'distribution', a.id, d.id, a.symbol, d.name, (d.activated_at at time zone 'UTC')::date
    from distributions d join assets a on a.id = d.asset_id
    where d.organization_id = :org and d.activated_at is not null
  ) e where day > :since and day <= :today order by day desc, kind, asset_id limit :most
""")
_UPCOMING = {
    Scope.ATTESTATIONS_READ: """
      select 'attestation' as kind, a.id as subject_id, a.expires_at as at, p.name as name, '' as code,
        a.expires_at - cast(:chain_now as timestamptz) as rest
      from attestations a join parties p on p.id = a.party_id
      where a.organization_id = :org and a.status = 'active' and a.expires_at > :chain_now
        and a.expires_at <= :chain_until""",
    Scope.ASSETS_READ: """
      select 'lockup', a.id, l.at, a.symbol, '', l.at - :chain_now
      from assets a
        cross join lateral (select to_timestamp(cast(a.compliance_rules ->> 'lockup_end_time' as bigint)) as at) l
      where a.organization_id = :org and a.status in ('active', 'updating')
        and l.at > :chain_now and l.at <= :chain_until
      union all
      select 'distribution', d.id, d.created_at + make_interval(days => :draft_days), d.name, '',
        d.created_at + make_interval(days => :draft_days) - :now
      from distributions d where d.organization_id = :org and d.status = 'draft'
        and d.created_at > :now - make_interval(days => :draft_days)""",
    Scope.ORGS_READ: """
      select 'approval', p.id, p.expires_at, r.title, r.kind, p.expires_at - :now
      from approvals p join requests r on r.id = p.request_id
      where p.organization_id = :org and p.status = 'pending' and p.expires_at > :now and p.expires_at <= :until""",
}
_TITLES = {
    InsightEventKind.ISSUE: "{symbol} issued",
    InsightEventKind.RULES: "Rules of {symbol} changed",
    InsightEventKind.DISTRIBUTION: "{name}, a distribution of {symbol}",
}
_ENDS = {
    UpcomingKind.ATTESTATION: "Attestation of {name} expires",
    UpcomingKind.LOCKUP: "Lock-up of {name} ends",
    UpcomingKind.DISTRIBUTION: "The draft “{name}” is deleted unless it is activated",
    UpcomingKind.APPROVAL: "{name} lapses without an approval",
}


async def events(context: Context, calendar: Calendar) -> list[InsightEvent]:
    """Return what happened to assets, the newest first."""
    values = {"org": context.organization_id, "since": calendar.year_ago, "today": calendar.today, "most": MOST}
    return [_event(row) for row in await context.session.execute(_EVENTS, values)]


def _event(row: Any) -> InsightEvent:
    kind = InsightEventKind(row.kind)
    title = _TITLES[kind].format(symbol=row.symbol, name=row.name)
    return InsightEvent(day=row.day, kind=kind, title=title, asset_id=row.asset_id, subject_id=row.subject_id)


async def upcoming(context: Context, chain_now: datetime) -> tuple[list[Upcoming], int]:
    """Return what ends within 90 days and the caller may read, the first first, and how many there are."""
    parts = [text for scope, text in _UPCOMING.items() if scope in context.scopes]
    if not parts:
        return [], 0
    text = f"""
      with e (kind, subject_id, at, name, code, rest) as ({" union all ".join(parts)})
      select *, count(*) over () as total from e order by rest, kind, subject_id limit :most
    """  # noqa: S608  (no text from outside is in it)
    now, span = db.now(), timedelta(days=DAYS)
    times = {"now": now, "until": now + span, "chain_now": chain_now, "chain_until": chain_now + span}
    known = {name: value for name, value in times.items() if f":{name}" in text}
    values = known | {"org": context.organization_id, "most": MOST} | _draft_days(text)
    rows = (await context.session.execute(sa.text(text), values)).all()
    return [_upcoming(context, row) for row in rows], rows[0].total if rows else 0


def _draft_days(text: str) -> dict[str, int]:
    return {"draft_days": DRAFT_DAYS} if ":draft_days" in text else {}


def _upcoming(context: Context, row: Any) -> Upcoming:
    kind = UpcomingKind(row.kind)
    name = titles.title_of(context.scopes, row.code, row.name) if row.code else row.name
    title = _ENDS[kind].format(name=name)
    now = db.now().astimezone(UTC)
    left = ((now + row.rest).date() - now.date()).days
    return Upcoming(kind=kind, at=row.at.astimezone(UTC), in_days=left, title=title, subject_id=row.subject_id)
