"""Emails of which a recipient gets a limited number a day on each topic: all except invitations and password links.

What an email reports is also in the audit log, and a sign-in on the account page, so no information is lost above the
limit. The counts are those of the stored emails: they outlive restarts, and changes that were rolled back do not count.
"""

from collections.abc import Iterable, Sequence

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession

from backend.core.settings import settings
from backend.mail.models import OutboxRow
from backend.mail.rules import Day
from backend.mail.schemas import MailKind

COUNTS = sa.text("select * from signum_mail_counts(:org, :topic, :recipients)").bindparams(
    sa.bindparam("recipients", type_=sa.ARRAY(sa.Text()))
)
LAST = "\n\nThis is the last email on this topic for up to 24 hours. "
AUDIT = "Later changes are in the audit log: {origin}/o/{place}/audit"
ACCOUNT = "Review your sign-ins and factors: {origin}/account. Later changes are in your organizations' audit logs."


async def write(session: AsyncSession, topic: str, mails: Sequence[OutboxRow]) -> None:
    """Add emails of one organization to the transaction of their cause, except to recipients who have had those of a
    day. The last one says that it is the last."""
    await session.flush()
    days = await _days(session, topic, mails)
    session.add_all(_permitted(topic, mails, days))


async def _days(session: AsyncSession, topic: str, mails: Sequence[OutboxRow]) -> dict[str, Day]:
    org, recipients = {one.organization_id for one in mails}, [one.recipient for one in mails]
    rows = await session.execute(COUNTS, {"org": next(iter(org), None), "topic": topic, "recipients": recipients})
    return {row.recipient: Day(row.number, row.is_told, row.below) for row in rows}


def _permitted(topic: str, mails: Sequence[OutboxRow], days: dict[str, Day]) -> Iterable[OutboxRow]:
    for one in mails:
        left = days[one.recipient].left
        one.topic, one.is_last = topic, left == 1
        if one.is_last:
            where = ACCOUNT if one.kind is MailKind.ACCOUNT else AUDIT
            one.body += LAST + where.format(origin=settings().origin, place=one.organization_id)
        if left:
            yield one
