"""The outbox as its organization sees it."""

from typing import Any

import sqlalchemy as sa

from backend.auth.principal import Context
from backend.errors import NotFound
from backend.keyset import Page
from backend.mail.models import OutboxRow
from backend.mail.schemas import Mail, MailStatus, Outbox
from backend.settings import settings


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
