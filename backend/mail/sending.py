"""Sends what is in the outbox. A mail is taken with a lease, so a process that dies with it leaves it to the next.

At least once: what a server took just before a crash is sent again, under the same Message-ID.
"""

import asyncio
from contextlib import suppress
from datetime import timedelta

import sqlalchemy as sa
import structlog
from sqlmodel import col

from backend import db
from backend.db import now
from backend.mail import rules, smtp
from backend.mail.models import OutboxRow
from backend.mail.schemas import MailStatus
from backend.mail.smtp import Refused, Server
from backend.readiness import readiness
from backend.settings import Settings

log = structlog.get_logger()
INTERVAL = 1.0
LEASE = timedelta(minutes=5)
"""Longer than one attempt can take, at every timeout of its session."""
FAULT = 5.0
"""Seconds without a look after a fault of our own, such as a database that is away."""


async def run(stopping: asyncio.Event, settings: Settings) -> None:
    """Send what is due until the process stops; nothing where no mail server is set."""
    if settings.smtp_url is None:
        return
    server = Server.of(settings.smtp_url)
    # The demo accepts its own invitations by what is in the outbox.
    while not readiness.is_ready and not stopping.is_set():
        await _pause(stopping, INTERVAL)
    while not stopping.is_set():
        pause = INTERVAL
        try:
            while await once(server, settings.mail_from or ""):
                continue
        except Exception:
            log.exception("mail could not be sent; it is tried again")
            pause = FAULT
        await _pause(stopping, pause)


async def _pause(stopping: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(stopping.wait(), seconds)


async def once(server: Server, sender: str) -> bool:
    """Try the mail that has been due longest; False where none is."""
    row = await _take()
    if row is None:
        return False
    if not row.body:
        await _refused(row, "Its text does not open with this keystore password.", is_final=True)
        return True
    try:
        await asyncio.to_thread(smtp.send, server, smtp.letter(row, sender))
    except Refused as refused:
        await _refused(row, str(refused), refused.is_final)
    except ValueError as error:
        # An address or subject that no message can have will not be one later.
        await _refused(row, f"It cannot be written as a message: {error}", is_final=True)
    else:
        await _set(row, status=MailStatus.SENT, sent_at=now(), next_attempt_at=None, failure=None, body="")
    return True


async def _take() -> OutboxRow | None:
    due = sa.and_(col(OutboxRow.status) == MailStatus.QUEUED, col(OutboxRow.next_attempt_at) <= now())
    query = sa.select(OutboxRow).where(due).order_by(col(OutboxRow.next_attempt_at)).limit(1)
    async with db.worker() as session:
        row: OutboxRow | None = await session.scalar(query.with_for_update(skip_locked=True))
        if row is not None:
            row.attempts += 1
            row.next_attempt_at = now() + LEASE
    return row


async def _refused(row: OutboxRow, words: str, is_final: bool) -> None:
    pause = None if is_final else rules.pause(row.attempts)
    if pause is not None:
        log.warning("the mail server did not take a mail; it is tried again", mail=str(row.id), reason=words)
        await _set(row, failure=words, next_attempt_at=now() + pause)
        return
    log.error("a mail was given up", mail=str(row.id), reason=words)
    await _set(row, status=MailStatus.FAILED, failure=words, next_attempt_at=None, body="")


async def _set(row: OutboxRow, **values: object) -> None:
    async with db.worker() as session:
        await session.execute(
            sa.update(OutboxRow).where(col(OutboxRow.id) == row.id).values(updated_at=now(), **values)
        )
