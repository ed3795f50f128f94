"""Sending of the outbox. An email is leased, so if a process dies with it, the next one sends it.

Delivery is at least once: an email that the server accepted just before a crash is sent again, under the same
Message-ID. Several emails are sent concurrently; `backend.mail.rules.in_turn` decides which one is next.
"""

import asyncio
from contextlib import suppress

import sqlalchemy as sa
import structlog
from sqlmodel import col

from backend.core import db
from backend.core.db import now
from backend.core.readiness import readiness
from backend.core.runtime import runtime
from backend.core.settings import Settings
from backend.mail import rules, smtp
from backend.mail.models import OutboxRow
from backend.mail.schemas import MailStatus
from backend.mail.senders import Senders
from backend.mail.smtp import Refused, Server

log = structlog.get_logger()
INTERVAL = 1.0
FAULT = 5.0
"""Seconds to pause after an internal fault, such as an unavailable database."""


async def run(stopping: asyncio.Event, settings: Settings) -> None:
    """Send due emails until the process stops; return immediately where no mail server is set."""
    if settings.smtp_url is None:
        return
    server = Server.of(settings.smtp_url)
    # The demo accepts its own invitations from the outbox.
    while not readiness().is_ready and not stopping.is_set():
        await _pause(stopping, INTERVAL)
    await asyncio.gather(*(_sender(stopping, server, settings.mail_from or "") for _ in range(rules.SENDERS)))


async def _sender(stopping: asyncio.Event, server: Server, sender: str) -> None:
    while not stopping.is_set():
        pause = INTERVAL
        try:
            while not stopping.is_set() and await once(server, sender):
                continue
        except Exception:
            log.exception("email.delivery_failed")
            pause = FAULT
        await _pause(stopping, pause)


async def _pause(stopping: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(stopping.wait(), seconds)


async def once(server: Server, sender: str) -> bool:
    """Try the next email; False where none is due, or the tenants of all due ones use their share of the senders."""
    senders = runtime.loop_part(Senders)
    row = await senders.take()
    if row is None:
        return False
    try:
        await _attempt(senders, row, server, sender)
    finally:
        senders.done(row)
    return True


async def _attempt(senders: Senders, row: OutboxRow, server: Server, sender: str) -> None:
    if not row.body:
        await _refused(row, "Its text cannot be decrypted with the keys of this installation.", is_final=True)
        return
    loop = asyncio.get_running_loop()
    try:
        await loop.run_in_executor(senders.threads, smtp.send, server, smtp.letter(row, sender))
    except Refused as refused:
        await _refused(row, str(refused), refused.is_final)
    except ValueError as error:
        # An invalid address or subject stays invalid, so retries are pointless.
        await _refused(row, f"It is not a valid message: {error}", is_final=True)
    else:
        await _set(row, status=MailStatus.SENT, sent_at=now(), next_attempt_at=None, failure=None, body="")


async def _refused(row: OutboxRow, words: str, is_final: bool) -> None:
    pause = None if is_final else rules.pause(row.attempts)
    if pause is not None:
        log.warning("email.rejected", mail=str(row.id), reason=words)
        await _set(row, failure=words, next_attempt_at=now() + pause)
        return
    log.error("email.abandoned", mail=str(row.id), reason=words)
    await _set(row, status=MailStatus.FAILED, failure=words, next_attempt_at=None, body="")


async def _set(row: OutboxRow, **values: object) -> None:
    async with db.worker() as session:
        await session.execute(
            sa.update(OutboxRow).where(col(OutboxRow.id) == row.id).values(updated_at=now(), **values)
        )
