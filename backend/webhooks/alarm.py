"""A mail to those who can do something about an endpoint that was disabled without them."""

from urllib.parse import urlsplit

import sqlalchemy as sa

from backend.db import Write
from backend.mail.models import mail
from backend.settings import settings
from backend.webhooks.models import EndpointRow
from backend.webhooks.schemas import DisabledReason

ADMINS = sa.text("""
with admins as (
  select distinct email, height from signum_access(:org) where role = 'admin' and email is not null
)
select email from admins where height = (select min(height) from admins) order by email
""")
"""The organization's own; where it has none, the nearest above."""
WHY = {
    DisabledReason.FAILING: "It has answered nothing but failures for about three days, the last one: {failure}.",
    DisabledReason.GONE: "It has answered 410 (Gone), which asks for no more.",
    DisabledReason.MAKER_ENDED: (
        "The API key or application that made it has ended. Enable the endpoint only if you know the receiver."
    ),
}
SUBJECT = "A webhook endpoint of {organization} gets nothing any more"
LETTER = (
    "The endpoint at {host} was disabled. {why}\n\n"
    "What happens from now on waits in its log. See what came back, enable it again and send what was missed: {link}"
)


async def ring(session: Write, endpoint: EndpointRow, reason: DisabledReason, failure: str | None) -> None:
    """Mail the admins; nothing where a person disabled it. Of the address only the host is told: the rest may be a
    secret."""
    if reason not in WHY:
        return
    organization_id = endpoint.organization_id
    name = await session.scalar(sa.text("select name from organizations where id = :id"), {"id": organization_id})
    text = LETTER.format(
        host=urlsplit(endpoint.url).hostname,
        why=WHY[reason].format(failure=failure or "no answer"),
        link=f"{settings().origin}/o/{organization_id}/webhooks/{endpoint.id}",
    )
    for address in (await session.scalars(ADMINS, {"org": organization_id})).all():
        session.add(mail(organization_id, address, SUBJECT.format(organization=name), text))
