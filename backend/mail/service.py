"""The outbox as its organization sees it, and the end of the links in it."""

from typing import Any

import sqlalchemy as sa

from backend.auth.principal import Context
from backend.db import Write
from backend.errors import NotFound
from backend.keyset import Page
from backend.mail.models import OutboxRow
from backend.mail.schemas import Mail, MailStatus, Outbox
from backend.settings import settings

OVER = "The link in it was used, revoked or has expired."
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


async def forget(session: Write) -> None:
    """Delete the texts of mails whose links lead nowhere any more, of all organizations."""
    await session.execute(FORGET, {"over": OVER})


async def page(context: Context, page: Page) -> Outbox:
    """Mails and how far they are. Where none can be sent on a public network, nobody may read them: 404."""
    if settings().smtp_url is None and not settings().embedded_chains:
        raise NotFound("There is nothing at this address.")
    table: Any = sa.inspect(OutboxRow).local_table
    query = sa.select(*table.c).where(table.c.organization_id == context.organization_id)
    rows = (await context.session.execute(page.apply(query, table.c.created_at, table.c.id))).all()
    shown, cursor = page.cut(rows)
    return Outbox(mails=[_shown(row) for row in shown], nextCursor=cursor)


def _shown(row: Any) -> Mail:
    mail = Mail.model_validate(row)
    is_readable = mail.status is MailStatus.KEPT and settings().embedded_chains and not mail.is_private
    return mail if is_readable else mail.model_copy(update={"body": None})
