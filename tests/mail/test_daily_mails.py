"""How many emails a person gets on one topic in a day, and how many a root organization sends."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col

from backend.auth.models import OneTimeSecretRow
from backend.core import db
from backend.core.settings import settings
from backend.mail import outbox, rules
from backend.mail.models import Cause, OutboxRow, mail
from backend.mail.rules import Day
from backend.mail.schemas import MailKind
from backend.sign_in import passwords
from backend.users.schemas import Role
from tests.conftest import Actor, World
from tests.factors.steps import set_up

CODES = "New recovery codes for Signum"
KEY = "New API key in Signum"
ADMIN = "New admin in Signum"
LAST = "the last email on this topic"


async def texts(email: str, subject: str) -> list[str]:
    """Return the texts of the emails to an address with a subject, the oldest first."""
    mine = col(OutboxRow.recipient) == email, col(OutboxRow.subject) == subject
    async with db.worker() as session:
        query = sa.select(col(OutboxRow.body)).where(*mine).order_by(col(OutboxRow.created_at))
        return list((await session.scalars(query)).all())


async def a_day_passes(rows: Any, *which: sa.ColumnElement[bool]) -> None:
    """Make rows older by a day."""
    earlier = col(rows.created_at) - timedelta(days=1)
    async with db.worker() as session:
        await session.execute(sa.update(rows).where(*which).values(created_at=earlier))


async def create_key(admin: Actor, org: UUID) -> None:
    await admin.call("POST", f"/orgs/{org}/api-keys", json={"name": "Books", "scopes": ["assets:read"]})


async def promote(admin: Actor, org: UUID, times: int) -> None:
    """Make a viewer an admin and a viewer again, several times."""
    viewer = await World(admin.client).person(org, Role.VIEWER)
    members = (await admin.call("GET", f"/orgs/{org}/members"))["members"]
    member = next(m["id"] for m in members if m["user_id"] == str(viewer.user_id))
    for role in ("admin", "viewer") * times:
        await admin.call("PATCH", f"/orgs/{org}/members/{member}", json={"role": role})


@pytest.mark.long
async def test_recovery_codes_renewed_in_a_loop_send_a_limited_number_of_mails_a_day(world: World) -> None:
    acme = await world.organization()
    person = await world.person(acme)
    await set_up(person)
    for _ in range(rules.MOST_OF_TOPIC + 2):
        await person.call("POST", "/auth/factors/recovery-codes")
    sent = await texts(person.email, CODES)
    assert len(sent) == rules.MOST_OF_TOPIC
    assert [LAST in text for text in sent] == [False] * (len(sent) - 1) + [True]
    assert f"{settings().origin}/account" in sent[-1]
    log = (await person.call("GET", f"/orgs/{acme}/audit", params={"limit": 100}))["audit"]
    assert sum(entry["action"] == "user.recovery_codes_created" for entry in log) == len(sent) + 2

    await create_key(person, acme)
    assert len(await texts(person.email, KEY)) == 1, "other topics are not affected"
    await a_day_passes(OutboxRow, col(OutboxRow.recipient) == person.email)
    await person.call("POST", "/auth/factors/recovery-codes")
    [*_, next_] = await texts(person.email, CODES)
    assert LAST not in next_


async def test_promotions_in_a_loop_mail_each_admin_a_limited_number_of_times(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "MOST_OF_TOPIC", 3)
    acme, other = await world.organization(), await world.organization("Other")
    admin, colleague = await world.person(acme), await world.person(acme)
    await promote(admin, acme, 5)
    for person in (admin, colleague):
        sent = await texts(person.email, ADMIN)
        assert [LAST in text for text in sent] == [False, False, True]
        assert f"{settings().origin}/o/{acme}/audit" in sent[-1]
    await promote(await world.person(other), other, 1)
    assert len(await texts(admin.email, ADMIN)) == 3


@pytest.mark.long
async def test_root_that_used_up_its_mails_still_sends_the_first_ones_on_each_topic(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "MOST_BELOW", 6)
    acme = await world.organization()
    unit = await world.organization("Unit", acme)
    admin, colleague = await world.person(unit), await world.person(unit)
    await promote(admin, unit, 7)
    for person in (admin, colleague):
        sent = await texts(person.email, ADMIN)
        assert [LAST in text for text in sent] == [False] * (rules.FIRST - 1) + [True]
    for _ in range(rules.FIRST + 1):
        await create_key(colleague, unit)
    assert len(await texts(admin.email, KEY)) == rules.FIRST, "the thief of a session cannot suppress the first ones"


async def test_mail_of_a_rolled_back_change_is_not_counted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "MOST_OF_TOPIC", 2)
    acme = await world.organization()
    admin = await world.person(acme)
    for _ in range(3):
        async with db.worker() as session:
            letter = mail(acme, admin.email, KEY, "Text", Cause(MailKind.ALARM))
            await outbox.write(session, "api_key.created", [letter])
            await session.flush()
            await session.rollback()
    await create_key(admin, acme)
    assert [LAST in text for text in await texts(admin.email, KEY)] == [False]


async def test_many_password_resets_leave_a_valid_link_and_at_most_one(world: World) -> None:
    person = await world.person(await world.organization())
    mine = col(OneTimeSecretRow.user_id) == person.user_id
    old = [
        OneTimeSecretRow(
            purpose=passwords.PURPOSE,
            secret_hash=f"{person.user_id}-{number}",
            user_id=person.user_id,
            expires_at=db.now() - timedelta(hours=1),
        )
        for number in range(passwords.MOST - 1)
    ]
    async with db.worker() as session:
        session.add_all(old)

    async def ask() -> int:
        """Request a link two minutes after the earlier ones; return the number of links so far."""
        async with db.worker() as session:
            later = {"created_at": col(OneTimeSecretRow.created_at) - timedelta(minutes=2)}
            await session.execute(sa.update(OneTimeSecretRow).where(mine).values(**later))
        await world.client.call("POST", "/auth/password/forgot", json={"email": person.email})
        return len(await texts(person.email, passwords.SUBJECT))

    assert [await ask() for _ in range(3)] == [1, 1, 1], "the last link is still valid"
    async with db.worker() as session:
        await session.execute(sa.update(OneTimeSecretRow).where(mine).values(used_at=db.now()))
    assert await ask() == 2
    await a_day_passes(OneTimeSecretRow, mine)
    assert [await ask() for _ in range(2)] == [3, 4]


@pytest.mark.parametrize(
    ("day", "left"),
    [
        (Day(0, is_told=False, below=0), rules.MOST_OF_TOPIC),
        (Day(rules.MOST_OF_TOPIC, is_told=True, below=0), 0),
        (Day(rules.MOST_OF_TOPIC, is_told=False, below=0), 1),
        (Day(0, is_told=False, below=rules.MOST_BELOW), rules.FIRST),
        (Day(rules.FIRST + 3, is_told=False, below=rules.MOST_BELOW), 1),
        (Day(rules.FIRST + 3, is_told=True, below=rules.MOST_BELOW), 0),
    ],
)
def test_recipient_is_told_once_which_mail_is_the_last(day: Day, left: int) -> None:
    assert day.left == left
