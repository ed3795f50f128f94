"""Mail through a real SMTP server: what arrives, what is tried again, what is given up, what is never sent in clear."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword
from sqlmodel import col

from backend import db
from backend.client import ApiProblem
from backend.mail import rules, sending, smtp
from backend.mail.models import OutboxRow, mail
from backend.mail.schemas import MailStatus
from backend.mail.smtp import Server
from backend.settings import Settings, settings
from tests.certificate import self_signed, serving
from tests.conftest import World
from tests.served import free_port

SENDER = "Signum <signum@northwind.example>"


class Post:
    """A mail server's handler: keeps what it takes, and says first what it was told to say."""

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
    """Start a server with options of aiosmtpd; the URL's query and user are the test's."""
    running: list[Controller] = []

    def begin(scheme: str = "smtp", user: str = "", query: str = "?starttls=no", **options: Any) -> tuple[Post, Server]:
        post, port = Post(), free_port()
        controller = Controller(post, hostname="127.0.0.1", port=port, enable_SMTPUTF8=True, **options)
        controller.start()
        running.append(controller)
        return post, Server.of(f"{scheme}://{user}localhost:{port}{query}")

    yield begin
    for controller in running:
        controller.stop()


@pytest.fixture(autouse=True)
def _mail_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings(), "smtp_url", "smtp://mail.example")


@pytest.fixture(autouse=True)
async def _empty_outbox(api: Any) -> AsyncIterator[None]:
    yield
    async with db.worker() as session:
        await session.execute(sa.update(OutboxRow).values(status=MailStatus.KEPT, next_attempt_at=None))


@pytest.fixture
async def acme(world: World) -> UUID:
    return await world.organization()


async def write(org: UUID, recipient: str = "marta@example.com", subject: str = "Invited") -> UUID:
    row = mail(org, recipient, subject, "Open https://signum.example/invitation?token=s3cret to join.")
    async with db.worker() as session:
        session.add(row)
    return row.id


async def read(id_: UUID) -> OutboxRow:
    async with db.worker() as session:
        return await session.get_one(OutboxRow, id_)


async def due_now(id_: UUID) -> None:
    """Let the pause be over."""
    async with db.worker() as session:
        await session.execute(
            sa.update(OutboxRow).where(col(OutboxRow.id) == id_).values(next_attempt_at=datetime.now(UTC))
        )


async def test_an_invitation_arrives_and_its_secret_is_forgotten(acme: UUID, world: World, start: Start) -> None:
    post, server = start()
    admin = await world.person(acme)
    body = {"email": "marta@example.com", "role": "viewer"}
    await admin.call("POST", f"/orgs/{acme}/invitations", json=body)
    [before] = (await admin.call("GET", f"/orgs/{acme}/outbox"))["mails"]
    assert (before["status"], before["body"]) == ("queued", None)
    assert await sending.once(server, SENDER)
    assert not await sending.once(server, SENDER)
    [letter] = post.taken
    assert letter["From"] == SENDER
    assert letter["To"] == "marta@example.com"
    assert letter["Message-ID"] == f"<{before['id']}@northwind.example>"
    assert "/invitation?token=" in letter.get_content()
    [after] = (await admin.call("GET", f"/orgs/{acme}/outbox"))["mails"]
    assert (after["status"], after["attempts"], after["failure"]) == ("sent", 1, None)
    assert after["sent_at"] is not None
    assert (await read(UUID(after["id"]))).body == ""


async def test_what_is_rolled_back_is_never_sent(acme: UUID, start: Start) -> None:
    post, server = start()
    async with db.worker() as session:
        session.add(mail(acme, "marta@example.com", "Invited", "text"))
        await session.flush()
        await session.rollback()
    assert not await sending.once(server, SENDER)
    assert post.taken == []


async def test_a_passing_refusal_is_tried_again(acme: UUID, start: Start) -> None:
    post, server = start()
    post.words = ["451 try again later"]
    id_ = await write(acme)
    assert await sending.once(server, SENDER)
    row = await read(id_)
    assert (row.status, row.attempts, row.failure) == (MailStatus.QUEUED, 1, "451 try again later")
    assert row.next_attempt_at
    assert row.next_attempt_at > datetime.now(UTC) + rules.PAUSES[0] / 2
    assert not await sending.once(server, SENDER), "not before its time"
    await due_now(id_)
    assert await sending.once(server, SENDER)
    assert ((await read(id_)).status, len(post.taken)) == (MailStatus.SENT, 1)


async def test_a_final_refusal_is_given_up_with_the_servers_words(acme: UUID, start: Start) -> None:
    post, server = start()
    post.words = ["550 no such mailbox"]
    id_ = await write(acme)
    await sending.once(server, SENDER)
    row = await read(id_)
    assert (row.status, row.failure, row.body, row.next_attempt_at) == (
        MailStatus.FAILED,
        "550 no such mailbox",
        "",
        None,
    )


async def test_a_server_that_is_away_is_waited_for_and_not_for_ever(acme: UUID) -> None:
    server = Server.of(f"smtp://127.0.0.1:{free_port()}")
    id_ = await write(acme)
    for attempt in range(len(rules.PAUSES)):
        await sending.once(server, SENDER)
        row = await read(id_)
        assert (row.status, row.attempts) == (MailStatus.QUEUED, attempt + 1)
        assert row.failure == "The mail server cannot be reached: ConnectionRefusedError."
        await due_now(id_)
    await sending.once(server, SENDER)
    assert (await read(id_)).status is MailStatus.FAILED


async def test_a_server_that_says_nothing_does_not_hold_us(
    acme: UUID, monkeypatch: pytest.MonkeyPatch, start: Start
) -> None:
    monkeypatch.setattr(smtp, "TIMEOUT", 0.2)
    silent = await asyncio.start_server(lambda *_: asyncio.sleep(0), "127.0.0.1", 0)
    id_ = await write(acme)
    async with silent:
        await sending.once(Server.of(f"smtp://127.0.0.1:{silent.sockets[0].getsockname()[1]}"), SENDER)
    assert (await read(id_)).status is MailStatus.QUEUED


async def test_many_senders_send_each_mail_once(acme: UUID, start: Start) -> None:
    post, server = start()
    ids = {await write(acme) for _ in range(12)}

    async def empty() -> None:
        while await sending.once(server, SENDER):
            continue

    await asyncio.gather(*(empty() for _ in range(4)))
    assert len(post.taken) == 12
    assert {(await read(id_)).status for id_ in ids} == {MailStatus.SENT}


async def test_a_sender_that_died_leaves_its_mail_to_the_next(acme: UUID, start: Start) -> None:
    post, server = start()
    id_ = await write(acme)
    assert await sending._take()
    assert not await sending.once(server, SENDER), "it is leased"
    left = await read(id_)
    assert left.next_attempt_at
    assert timedelta(minutes=4) < left.next_attempt_at - datetime.now(UTC) <= sending.LEASE
    await due_now(id_)
    assert await sending.once(server, SENDER)
    assert len(post.taken) == 1


async def test_addresses_and_subjects_of_the_world(acme: UUID, start: Start) -> None:
    post, server = start()
    for recipient in ("marta@bücher.example", "марта@example.com"):
        await write(acme, recipient, "Grüße 🎉")
        await sending.once(server, SENDER)
    assert [envelope[1] for envelope in post.envelopes] == [["marta@xn--bcher-kva.example"], ["марта@example.com"]]
    assert post.taken[0]["Subject"] == "Grüße 🎉"


async def test_a_subject_cannot_add_a_header(acme: UUID, start: Start) -> None:
    post, server = start()
    id_ = await write(acme, subject="Invited\r\nBcc: eve@example.com")
    await sending.once(server, SENDER)
    assert ((await read(id_)).status, post.taken) == (MailStatus.FAILED, [])


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed one for localhost, with its key."""
    return self_signed(tmp_path_factory.mktemp("tls"))


def authenticate(server: Any, session: Any, envelope: Any, mechanism: str, data: LoginPassword) -> AuthResult:
    fits = (data.login, data.password) == (b"signum", b"p@ss/word")
    return AuthResult(success=fits, handled=fits)


@pytest.mark.parametrize("scheme", ["smtp", "smtps"])
async def test_with_tls_and_a_password(
    acme: UUID, start: Start, certificate: Path, monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    tls = {"tls_context" if scheme == "smtp" else "ssl_context": serving(certificate)}
    wants = {"auth_required": True} if scheme == "smtp" else {"auth_require_tls": False}
    post, server = start(scheme, "signum:p%40ss%2Fword@", "", authenticator=authenticate, **wants, **tls)
    id_ = await write(acme)
    await sending.once(server, SENDER)
    refused = await read(id_)
    assert (refused.status, post.taken) == (MailStatus.QUEUED, []), "nobody vouches for this certificate"
    assert "SSLCertVerificationError" in str(refused.failure)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    await due_now(id_)
    await sending.once(server, SENDER)
    assert (await read(id_)).status is MailStatus.SENT
    assert post.envelopes[0][2], "over TLS"


async def test_a_wrong_password_is_the_operators_to_put_right(
    acme: UUID, start: Start, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    _, server = start("smtp", "signum:wrong@", "", authenticator=authenticate, tls_context=serving(certificate))
    id_ = await write(acme)
    await sending.once(server, SENDER)
    row = await read(id_)
    assert row.status is MailStatus.QUEUED
    assert str(row.failure).startswith("535")


async def test_nothing_is_sent_in_clear_where_tls_was_asked_for(acme: UUID, start: Start) -> None:
    post, server = start(query="")
    id_ = await write(acme)
    await sending.once(server, SENDER)
    assert ((await read(id_)).status, post.taken) == (MailStatus.QUEUED, [])


async def test_without_a_server_mails_are_kept_and_shown(
    acme: UUID, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings(), "smtp_url", None)
    await write(acme)
    admin = await world.person(acme)
    [kept] = (await admin.call("GET", f"/orgs/{acme}/outbox"))["mails"]
    assert kept["status"] == "kept"
    assert "token=s3cret" in kept["body"]
    monkeypatch.setattr(Settings, "embedded_chains", False)
    with pytest.raises(ApiProblem) as nothing:
        await admin.call("GET", f"/orgs/{acme}/outbox")
    assert nothing.value.status == 404


@pytest.mark.parametrize(
    "environment",
    [
        {"SMTP_URL": "http://user:hunter2@mail.example", "SIGNUM_MAIL_FROM": SENDER},
        {"SMTP_URL": "smtp://", "SIGNUM_MAIL_FROM": SENDER},
        {"SMTP_URL": "smtp://user:hunter2@mail.example"},
        {"SMTP_URL": "smtp://user:hunter2@mail.example?tls=maybe", "SIGNUM_MAIL_FROM": SENDER},
    ],
)
def test_settings_that_cannot_be_are_told_at_the_start(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match="SMTP_URL") as told:
        Settings()
    assert "hunter2" not in str(told.value)
