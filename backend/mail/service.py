"""The outbox of an organization, and deletion of texts with expired links."""

from typing import Any

import sqlalchemy as sa

from backend.auth.principal import Context
from backend.core.db import Write
from backend.core.errors import NotFound
from backend.core.settings import settings
from backend.lists.pages import Listing, Page
from backend.mail.models import OutboxRow
from backend.mail.schemas import Mail, MailKind, MailStatus, Outbox

OUTBOX: Any = sa.inspect(OutboxRow).local_table
LIST = Listing.of(OUTBOX.c, "created_at", names=(OUTBOX.c.recipient, OUTBOX.c.subject))
OVER = "Its link was used, was revoked or has expired."
FORGET = sa.text(
    """
    update outbox o set body = '', updated_at = now(), next_attempt_at = null,
      failure = case when o.status = 'queued' then :over else o.failure end,
      status = case when o.status = 'queued' then 'failed' else o.status end
    where o.opens is not null and o.body <> ''
      and not exists (select 1 from invitations i
                      where i.token_hash = o.opens and i.status = 'pending' and i.expires_at > now())
      and not exists (select 1 from one_time_secrets s
                      where s.secret_hash = o.opens and s.used_at is null and s.expires_at > now())
    """
)

IS_OVER: sa.Label[bool] = sa.literal_column(
    """outbox.opens is not null and not exists (select 1 from invitations i
         where i.token_hash = outbox.opens and i.status = 'pending' and i.expires_at > now())"""
).label("is_over")
"""Whether an invitation's link no longer works; `forget` deletes its text later."""


async def forget(session: Write) -> None:
    """Delete the texts of emails whose links no longer work, of all organizations."""
    await session.execute(FORGET, {"over": OVER})


async def page(context: Context, page: Page) -> Outbox:
    """Return emails and their delivery status; 404 on a public network without a mail server."""
    if settings().smtp_url is None and not settings().embedded_chains:
        raise NotFound("No resource exists at this address.")
    query = sa.select(*OUTBOX.c, IS_OVER).where(OUTBOX.c.organization_id == context.organization_id)
    shown, paging = await page.read(context.session, query)
    operates = await _operates(context)
    return Outbox(mails=[_shown(row, operates) for row in shown], **paging)


async def _operates(context: Context) -> bool:
    """Return whether an admin of the operator's organization has signed in themselves: no key, and no application."""
    person = context.person
    if person is None or context.key is not None or person.granted is not None:
        return False
    return bool(await context.session.scalar(sa.text("select signum_operates(:person)"), {"person": person.user_id}))


def _shown(row: Any, operates: bool) -> Mail:
    mail = Mail.model_validate(row)
    is_private = mail.is_private and not (operates and row.kind is MailKind.NOTICE)
    is_readable = mail.status is MailStatus.KEPT and settings().embedded_chains and not is_private
    if not is_readable:
        return mail.model_copy(update={"body": None})
    return mail.model_copy(update={"body": ""}) if mail.is_private and row.is_over else mail
