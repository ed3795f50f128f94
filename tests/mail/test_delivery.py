"""Email through a real SMTP server: delivered, retried, given up, and never sent unencrypted."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from aiosmtpd.smtp import AuthResult, LoginPassword

from backend.client import ApiProblem
from backend.core import db
from backend.core.settings import Settings, settings
from backend.mail import delivery, rules, smtp
from backend.mail.models import Cause, OutboxRow, mail
from backend.mail.schemas import MailKind, MailStatus
from backend.mail.senders import LEASE, Senders
from backend.mail.smtp import Server
from tests.conftest import World
from tests.mail.conftest import SENDER, Start, due_now
from tests.support.certificate import self_signed, serving
from tests.support.server import free_port

pytestmark = pytest.mark.usefixtures("mail_is_set", "empty_outbox")


@pytest.fixture
async def acme(world: World) -> UUID:
    return await world.organization()


async def write(org: UUID, recipient: str = "marta@example.com", subject: str = "Invited") -> UUID:
    text = "Open https://signum.example/invitation?token=s3cret to join."
    row = mail(org, recipient, subject, text, Cause(MailKind.NOTICE))
    async with db.worker() as session:
        session.add(row)
    return row.id


async def read(id_: UUID) -> OutboxRow:
    async with db.worker() as session:
        return await session.get_one(OutboxRow, id_)


async def test_invitation_mail_arrives_and_its_secret_is_deleted(acme: UUID, world: World, start: Start) -> None:
    post, server = start()
    admin = await world.person(acme)
    body = {"email": "marta@example.com", "role": "viewer"}
    await admin.call("POST", f"/orgs/{acme}/invitations", json=body)
    [before] = (await admin.call("GET", f"/orgs/{acme}/outbox"))["mails"]
    assert (before["status"], before["body"]) == ("queued", None)
    assert await delivery.once(server, SENDER)
    assert not await delivery.once(server, SENDER)
    [letter] = post.taken
    assert letter["From"] == SENDER
    assert letter["To"] == "marta@example.com"
    assert letter["Message-ID"] == f"<{before['id']}@northwind.example>"
    assert "/invitation?token=" in letter.get_content()
    [after] = (await admin.call("GET", f"/orgs/{acme}/outbox"))["mails"]
    assert (after["status"], after["attempts"], after["failure"]) == ("sent", 1, None)
    assert after["sent_at"] is not None
    assert (await read(UUID(after["id"]))).body == ""


async def test_mail_of_a_rolled_back_change_is_never_sent(acme: UUID, start: Start) -> None:
    post, server = start()
    async with db.worker() as session:
        session.add(mail(acme, "marta@example.com", "Invited", "text", Cause(MailKind.NOTICE)))
        await session.flush()
        await session.rollback()
    assert not await delivery.once(server, SENDER)
    assert post.taken == []


async def test_mail_refused_temporarily_is_retried(acme: UUID, start: Start) -> None:
    post, server = start()
    post.words = ["451 try again later"]
    id_ = await write(acme)
    assert await delivery.once(server, SENDER)
    row = await read(id_)
    assert (row.status, row.attempts, row.failure) == (MailStatus.QUEUED, 1, "451 try again later")
    assert row.next_attempt_at
    assert row.next_attempt_at > datetime.now(UTC) + rules.PAUSES[0] / 2
    assert not await delivery.once(server, SENDER), "not before its time"
    await due_now(id_)
    assert await delivery.once(server, SENDER)
    assert ((await read(id_)).status, len(post.taken)) == (MailStatus.SENT, 1)


async def test_mail_refused_permanently_is_given_up_with_the_server_response(acme: UUID, start: Start) -> None:
    post, server = start()
    post.words = ["550 no such mailbox"]
    id_ = await write(acme)
    await delivery.once(server, SENDER)
    row = await read(id_)
    assert (row.status, row.failure, row.body, row.next_attempt_at) == (
        MailStatus.FAILED,
        "550 no such mailbox",
        "",
        None,
    )


@pytest.mark.long
async def test_unreachable_mail_server_is_retried_up_to_a_limit(acme: UUID) -> None:
    server = Server.of(f"smtp://127.0.0.1:{free_port()}")
    id_ = await write(acme)
    for attempt in range(len(rules.PAUSES)):
        await delivery.once(server, SENDER)
        row = await read(id_)
        assert (row.status, row.attempts) == (MailStatus.QUEUED, attempt + 1)
        assert row.failure == "The mail server cannot be reached: ConnectionRefusedError."
        await due_now(id_)
    await delivery.once(server, SENDER)
    assert (await read(id_)).status is MailStatus.FAILED


async def test_silent_mail_server_times_out(acme: UUID, monkeypatch: pytest.MonkeyPatch, start: Start) -> None:
    monkeypatch.setattr(smtp, "TIMEOUT", 0.2)
    silent = await asyncio.start_server(lambda *_: asyncio.sleep(0), "127.0.0.1", 0)
    id_ = await write(acme)
    async with silent:
        await delivery.once(Server.of(f"smtp://127.0.0.1:{silent.sockets[0].getsockname()[1]}"), SENDER)
    assert (await read(id_)).status is MailStatus.QUEUED


@pytest.mark.long
async def test_concurrent_senders_send_each_mail_once(acme: UUID, start: Start) -> None:
    post, server = start()
    ids = {await write(acme) for _ in range(12)}

    async def empty() -> None:
        while await delivery.once(server, SENDER):
            continue

    await asyncio.gather(*(empty() for _ in range(4)))
    assert len(post.taken) == 12
    assert {(await read(id_)).status for id_ in ids} == {MailStatus.SENT}


async def test_mail_of_a_crashed_sender_is_sent_by_the_next(acme: UUID, start: Start) -> None:
    post, server = start()
    id_ = await write(acme)
    assert await Senders().take()
    assert not await delivery.once(server, SENDER), "it is leased"
    left = await read(id_)
    assert left.next_attempt_at
    assert timedelta(minutes=4) < left.next_attempt_at - datetime.now(UTC) <= LEASE
    await due_now(id_)
    assert await delivery.once(server, SENDER)
    assert len(post.taken) == 1


async def test_international_addresses_and_subjects_are_sent(acme: UUID, start: Start) -> None:
    post, server = start()
    for recipient in ("marta@bücher.example", "марта@example.com"):
        await write(acme, recipient, "Grüße 🎉")
        await delivery.once(server, SENDER)
    assert [envelope[1] for envelope in post.envelopes] == [["marta@xn--bcher-kva.example"], ["марта@example.com"]]
    assert post.taken[0]["Subject"] == "Grüße 🎉"


async def test_mail_subject_cannot_add_a_header(acme: UUID, start: Start) -> None:
    post, server = start()
    id_ = await write(acme, subject="Invited\r\nBcc: eve@example.com")
    await delivery.once(server, SENDER)
    assert ((await read(id_)).status, post.taken) == (MailStatus.FAILED, [])


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate for localhost, with its key."""
    return self_signed(tmp_path_factory.mktemp("tls"))


def authenticate(server: Any, session: Any, envelope: Any, mechanism: str, data: LoginPassword) -> AuthResult:
    fits = (data.login, data.password) == (b"signum", b"p@ss/word")
    return AuthResult(success=fits, handled=fits)


@pytest.mark.parametrize("scheme", ["smtp", "smtps"])
async def test_mail_is_sent_with_tls_and_a_password(
    acme: UUID, start: Start, certificate: Path, monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    tls = {"tls_context" if scheme == "smtp" else "ssl_context": serving(certificate)}
    wants = {"auth_required": True} if scheme == "smtp" else {"auth_require_tls": False}
    post, server = start(scheme, "signum:p%40ss%2Fword@", "", authenticator=authenticate, **wants, **tls)
    id_ = await write(acme)
    await delivery.once(server, SENDER)
    refused = await read(id_)
    assert (refused.status, post.taken) == (MailStatus.QUEUED, []), "the certificate is not trusted"
    assert "SSLCertVerificationError" in str(refused.failure)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    await due_now(id_)
    await delivery.once(server, SENDER)
    assert (await read(id_)).status is MailStatus.SENT
    assert post.envelopes[0][2], "over TLS"


async def test_wrong_mail_password_keeps_the_mail_queued(
    acme: UUID, start: Start, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    _, server = start("smtp", "signum:wrong@", "", authenticator=authenticate, tls_context=serving(certificate))
    id_ = await write(acme)
    await delivery.once(server, SENDER)
    row = await read(id_)
    assert row.status is MailStatus.QUEUED
    assert str(row.failure).startswith("535")


async def test_mail_is_not_sent_in_clear_text_when_tls_is_required(acme: UUID, start: Start) -> None:
    post, server = start(query="")
    id_ = await write(acme)
    await delivery.once(server, SENDER)
    assert ((await read(id_)).status, post.taken) == (MailStatus.QUEUED, [])


async def test_mails_without_a_server_are_stored_and_shown(
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
def test_invalid_mail_settings_are_reported_at_the_start(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match="SMTP_URL") as answer:
        Settings()
    assert "hunter2" not in str(answer.value)
