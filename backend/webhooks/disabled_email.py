"""An email to those who can fix an endpoint that was disabled automatically."""

from urllib.parse import urlsplit

import sqlalchemy as sa

from backend.core.db import Write
from backend.core.settings import settings
from backend.mail import outbox
from backend.mail.alerts import MOST
from backend.mail.models import Cause, mail
from backend.mail.schemas import MailKind
from backend.webhooks import delivery_limits
from backend.webhooks.models import EndpointRow
from backend.webhooks.schemas import DisabledReason

TOPIC = "webhook_endpoint.disabled"
ADMINS = sa.text("""
with admins as (
  select distinct email, height from signum_access(:org) where role = 'admin' and email is not null
)
select email from admins where height = (select min(height) from admins) order by email limit :most
""")
"""The organization's own admins; if it has none, those of the nearest organization above."""
WHY = {
    DisabledReason.FAILING: "All attempts failed for about three days, the last one with: {failure}.",
    DisabledReason.GONE: "It answered 410 (Gone), which ends deliveries.",
    DisabledReason.MAKER_ENDED: (
        "The API key or application that created it has ended. Enable the endpoint only if you know the receiver."
    ),
    DisabledReason.TOO_MANY_EVENTS: "{rule}. Other endpoints are disabled for the same reason.",
}
FIX = (
    "New events wait in its log. Check the last responses, fix the receiver, enable the endpoint again and replay the "
    "missed deliveries"
)
FIX_EXCESS = (
    "New events are not stored. Enable the endpoint again tomorrow, or subscribe it to fewer events, and replay the "
    "failed deliveries in its log. The API's lists and the audit log have the changes since then"
)
SUBJECT = "A webhook endpoint of {organization} was disabled"
LETTER = "The endpoint at {host} was disabled. {why}\n\n{fix}: {link}"


async def send(session: Write, endpoint: EndpointRow, reason: DisabledReason, failure: str | None) -> None:
    """Email the admins; do nothing if a person disabled it. Only the host of the address is included: the rest may be a
    secret."""
    if reason not in WHY:
        return
    organization_id = endpoint.organization_id
    name = await session.scalar(sa.text("select name from organizations where id = :id"), {"id": organization_id})
    text = LETTER.format(
        host=urlsplit(endpoint.url).hostname,
        why=WHY[reason].format(failure=failure or "no response", rule=delivery_limits.rule()),
        fix=FIX_EXCESS if reason is DisabledReason.TOO_MANY_EVENTS else FIX,
        link=f"{settings().origin}/o/{organization_id}/webhooks/{endpoint.id}",
    )
    subject, cause = SUBJECT.format(organization=name), Cause(MailKind.NOTICE)
    found = (await session.scalars(ADMINS, {"org": organization_id, "most": MOST})).all()
    await outbox.write(session, TOPIC, [mail(organization_id, email, subject, text, cause) for email in found])
