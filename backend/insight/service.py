"""The parts of the insight that the caller may read."""

from datetime import datetime

from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.chain.devnet import clock
from backend.chains import rules as chain_rules
from backend.chains import service as chains
from backend.core import db
from backend.daily_totals.tokens import day_of
from backend.insight import dates, issuance, rules, totals
from backend.insight.rules import Calendar
from backend.insight.schemas import Attesting, ChainHealth, Counts, Insight, Issuance


async def read(context: Context) -> Insight:
    """Return the insight of the entered organization."""
    now = clock.chain_now()
    calendar = Calendar(day_of(now))
    upcoming, count = await dates.upcoming(context, now)
    return Insight(
        at=now,
        days=calendar.weeks,
        attestations=await _attestations(context, calendar, now),
        transfers=await _transfers(context, calendar),
        upcoming=upcoming,
        upcoming_total=count,
        chains=await _chains(context),
        issuance=await _issuance(context, calendar),
    )


async def _issuance(context: Context, calendar: Calendar) -> Issuance | None:
    return await issuance.read(context, calendar) if Scope.ASSETS_READ in context.scopes else None


async def _transfers(context: Context, calendar: Calendar) -> Counts | None:
    if Scope.TRANSFERS_READ not in context.scopes:
        return None
    return rules.flow(await totals.of_transfers(context, calendar), calendar)


async def _attestations(context: Context, calendar: Calendar, now: datetime) -> Attesting | None:
    if Scope.ATTESTATIONS_READ not in context.scopes:
        return None
    changes, issued = await totals.of_attestations(context, calendar, now)
    return Attesting(active=rules.counts(changes, calendar), issued=rules.flow(issued, calendar))


async def _chains(context: Context) -> list[ChainHealth] | None:
    """Return the enabled chains of the organization's network, as the tables know them."""
    if Scope.CHAINS_READ not in context.scopes:
        return None
    found = []
    for row in await chains.enabled(context.session, context.organization_id, context.network):
        status, error = chain_rules.state(row.status, row.last_error, row.checked_at, db.now())
        found.append(
            ChainHealth(
                id=row.id,
                chain_eid=row.xchain_eid,
                name=row.display_name,
                status=status,
                block=row.height,
                lag=row.lag,
                error=error,
            )
        )
    return found
