"""A real mail server, and an outbox that is sent to it only by the test."""

from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from aiosmtpd.controller import Controller
from sqlmodel import col

from backend.core import db
from backend.core.settings import settings
from backend.mail.models import OutboxRow
from backend.mail.schemas import MailStatus
from backend.mail.smtp import Server
from tests.support.server import free_port

SENDER = "Signum <signum@northwind.example>"


class Post:
    """A mail server's handler: stores what it accepts, and first sends the responses it was given."""

    def __init__(self) -> None:
        self.taken: list[EmailMessage] = []
        self.envelopes: list[Any] = []
        self.words: list[str] = []

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        if self.words:
            return self.words.pop(0)
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        self.taken.append(message_from_bytes(envelope.content, policy=policy.default))
        is_secret = server.transport.get_extra_info("ssl_object") is not None
        self.envelopes.append((envelope.mail_from, list(envelope.rcpt_tos), is_secret))
        return "250 taken"


Start = Callable[..., tuple[Post, Server]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a server with options of aiosmtpd; the test gives the URL's query and user."""
    running: list[Controller] = []

    def begin(
        scheme: str = "smtp",
        user: str = "",
        query: str = "?starttls=no",
        post: Post | None = None,
        **options: Any,
    ) -> tuple[Post, Server]:
        post, port = post or Post(), free_port()
        controller = Controller(post, hostname="127.0.0.1", port=port, enable_SMTPUTF8=True, **options)
        controller.start()
        running.append(controller)
        return post, Server.of(f"{scheme}://{user}localhost:{port}{query}")

    yield begin
    for controller in running:
        controller.stop()


@pytest.fixture
def mail_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """Emails are queued."""
    monkeypatch.setattr(settings(), "smtp_url", "smtp://mail.example")


@pytest.fixture
async def empty_outbox(api: Any) -> AsyncIterator[None]:
    """Leave nothing queued to the next test."""
    yield
    async with db.worker() as session:
        await session.execute(sa.update(OutboxRow).values(status=MailStatus.KEPT, next_attempt_at=None))


async def due_now(id_: UUID) -> None:
    """Let the pause be over."""
    async with db.worker() as session:
        await session.execute(
            sa.update(OutboxRow).where(col(OutboxRow.id) == id_).values(next_attempt_at=datetime.now(UTC))
        )
