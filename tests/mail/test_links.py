"""Links in stored emails are unreadable in the database, and deleted once they are invalid."""

from datetime import timedelta
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col

from backend.cli import outbox
from backend.core import db
from backend.core.db import now
from backend.core.encryption import SECRETS
from backend.core.settings import settings
from backend.mail import delivery, service
from backend.mail.models import Cause, OutboxRow, mail
from backend.mail.schemas import MailKind, MailStatus
from backend.models import InvitationRow, OneTimeSecretRow
from backend.server import sweep
from tests.conftest import World
from tests.support.firm import Firm
from tests.support.keyrings import ring

GUEST = "guest@example.com"


async def invited(world: World, email: str = GUEST) -> tuple[Firm, str, str]:
    """An organization that has invited a person; the invitation's id and token."""
    firm = await Firm.found(world)
    invitation = await firm.post("/invitations", {"email": email, "role": "viewer"})
    letter = await world.letter(firm.id)
    return firm, invitation["id"], letter.split("token=")[1].split()[0]


async def text(organization: UUID) -> str:
    async with db.worker() as session:
        query = sa.select(col(OutboxRow.body)).where(col(OutboxRow.organization_id) == organization)
        return str((await session.scalars(query)).one())


async def stored(organization: UUID) -> str:
    """Return the content of the database, as a copy of it shows."""
    async with db.worker() as session:
        query = sa.text("select body from outbox where organization_id = :o")
        return str((await session.scalars(query, {"o": organization})).one())


async def test_stored_mail_shows_no_link(world: World) -> None:
    firm, _, token = await invited(world)
    kept = await stored(firm.id)
    assert kept
    assert token not in kept
    assert "http" not in kept
    assert token in await text(firm.id), "the process reads it"
    async with db.worker() as session:
        mails = await outbox.kept(session, GUEST, 1)
    assert token in mails[0].body, "and so does the operator"


async def test_link_is_kept_while_it_is_valid(world: World) -> None:
    firm, _, token = await invited(world)
    await sweep.once()
    assert token in await text(firm.id)


async def test_link_of_a_used_invitation_is_deleted(world: World) -> None:
    firm, _, token = await invited(world, "joins@example.com")
    body = {"token": token, "display_name": "Guest", "password": "correct horse battery"}
    await world.client.call("POST", "/invitations/accept", json=body)
    await sweep.once()
    assert await stored(firm.id) == ""
    [mail_] = (await firm.get("/outbox"))["mails"]
    assert (mail_["status"], mail_["recipient"], mail_["body"]) == ("kept", "joins@example.com", None)


async def test_link_of_a_revoked_invitation_is_deleted(world: World) -> None:
    firm, invitation, _ = await invited(world)
    await firm.admin.call("DELETE", f"{firm.base}/invitations/{invitation}")
    await sweep.once()
    assert await stored(firm.id) == ""


@pytest.mark.long
async def test_link_of_an_expired_invitation_is_deleted(world: World) -> None:
    firm, invitation, _ = await invited(world)
    async with db.worker() as session:
        late = sa.update(InvitationRow).where(col(InvitationRow.id) == UUID(invitation))
        await session.execute(late.values(expires_at=now() - timedelta(seconds=1)))
    await sweep.once()
    assert await stored(firm.id) == ""


async def test_password_reset_link_is_deleted_when_used_or_expired(world: World) -> None:
    firm = await Firm.found(world)
    await world.client.call("POST", "/auth/password/forgot", json={"email": firm.admin.email})
    token = (await world.letter(firm.id)).split("token=")[1].split()[0]
    assert token not in await stored(firm.id)
    await sweep.once()
    assert token in await text(firm.id)
    async with db.worker() as session:
        mine = sa.update(OneTimeSecretRow).where(col(OneTimeSecretRow.user_id) == firm.admin.user_id)
        await session.execute(mine.values(used_at=now()))
    await sweep.once()
    assert await stored(firm.id) == ""


async def test_mail_whose_link_has_expired_is_not_sent(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings(), "smtp_url", "smtp://mail.example")
    firm, invitation, _ = await invited(world)
    await firm.admin.call("DELETE", f"{firm.base}/invitations/{invitation}")
    async with db.worker() as session:
        await service.forget(session)
    [given_up] = (await firm.get("/outbox"))["mails"]
    assert (given_up["status"], given_up["next_attempt_at"]) == ("failed", None)
    assert "has expired" in given_up["failure"]


async def test_mail_sealed_with_another_key_is_given_up(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings(), "smtp_url", "smtp://mail.example")
    firm = await Firm.found(world)
    row = mail(firm.id, GUEST, "Hello", "No link in it.", Cause(MailKind.NOTICE))
    async with db.worker() as session:
        session.add(row)
    monkeypatch.setattr(SECRETS, "_ring", lambda: ring(b"1" * 32))
    assert await delivery.once(delivery.Server.of("smtp://mail.example"), "signum@example.com")
    async with db.worker() as session:
        found = await session.get_one(OutboxRow, row.id)
    assert (found.status, found.failure) == (
        MailStatus.FAILED,
        "Its text cannot be decrypted with the keys of this installation.",
    )
