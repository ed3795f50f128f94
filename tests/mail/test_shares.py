"""Emails of one tenant do not delay those of other tenants: through the API, the database and a mail server."""

import asyncio
import json
import re
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa
from sqlmodel import col

from backend.core import db
from backend.core.db import now
from backend.core.settings import settings
from backend.mail import delivery, rules
from backend.mail.models import Cause, OutboxRow, mail
from backend.mail.rules import Queue
from backend.mail.schemas import MailKind, MailStatus
from backend.mail.senders import QUEUES, Senders, first_of
from tests.conftest import Actor, World
from tests.mail.conftest import SENDER, Post, Start

pytestmark = pytest.mark.usefixtures("mail_is_set", "empty_outbox")


class Crowd(Post):
    """A mail server that answers no email before it has received as many as a process sends concurrently."""

    def __init__(self) -> None:
        super().__init__()
        self.is_full = asyncio.Event()

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        answer = await super().handle_DATA(server, session, envelope)
        if len(self.taken) == rules.SENDERS:
            self.is_full.set()
        await self.is_full.wait()
        return answer


async def invite(admin: Actor, org: UUID, name: str, count: int) -> None:
    for number in range(count):
        body = {"email": f"{name}.{number}@example.com", "role": "viewer"}
        await admin.call("POST", f"/orgs/{org}/invitations", json=body)


async def forgot(world: World, person: Actor) -> None:
    await world.client.call("POST", "/auth/password/forgot", json={"email": person.email})


async def sent(start: Start, count: int) -> list[str]:
    """Send emails one after the other; return their recipients without the domain."""
    post, server = start()
    for _ in range(count):
        assert await delivery.once(server, SENDER)
    return [str(letter["To"]).split("@")[0] for letter in post.taken]


async def test_password_reset_mail_is_sent_before_earlier_invitations(world: World, start: Start) -> None:
    acme = await world.organization()
    await invite(await world.person(acme), acme, "guest", 3)
    victim = await world.person(await world.organization())
    await forgot(world, victim)
    assert await sent(start, 2) == [victim.email.split("@")[0], "guest.0"]


async def test_alarm_about_a_new_key_is_sent_before_earlier_invitations(world: World, start: Start) -> None:
    acme = await world.organization()
    admin = await world.person(acme)
    await invite(admin, acme, "guest", 2)
    await admin.call("POST", f"/orgs/{acme}/api-keys", json={"name": "Books", "scopes": ["assets:read"]})
    assert await sent(start, 2) == [admin.email.split("@")[0], "guest.0"]


async def test_invitations_of_a_hierarchy_take_turns_with_those_of_other_hierarchies(
    world: World, start: Start
) -> None:
    root, other = await world.organization(), await world.organization()
    unit = await world.organization("Unit", root)
    await invite(await world.person(root), root, "root", 2)
    await invite(await world.person(unit), unit, "unit", 2)
    await invite(await world.person(other), other, "other", 2)
    names = await sent(start, 6)
    assert [name for name in names if name.startswith("other")] == ["other.0", "other.1"]
    assert names.index("other.1") <= 3, "the units of a root share its turns"
    assert names.index("root.0") < names.index("root.1"), "oldest first"


@pytest.mark.long
async def test_invitations_of_a_person_with_many_roots_take_the_turns_of_one(world: World, start: Start) -> None:
    first = await world.organization()
    busy = await world.person(first)
    await invite(busy, first, "busy.0", 1)
    for number in range(1, 5):
        made = await busy.call("POST", "/orgs", json={"name": f"Root {number}"})
        await invite(busy, UUID(made["id"]), f"busy.{number}", 1)
    other = await world.organization()
    await invite(await world.person(other), other, "other", 2)
    names = await sent(start, 7)
    assert names.index("other.0") <= 2
    assert names.index("other.1") <= 4


@pytest.mark.long
async def test_process_sends_several_mails_concurrently_and_half_of_them_for_one_root(
    world: World, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    post, server = start(post=Crowd())
    roots = [await world.organization() for _ in range(2)]
    for org, name in zip(roots, ("one", "two"), strict=True):
        await invite(await world.person(org), org, name, 6)
    monkeypatch.setattr(settings(), "smtp_url", f"smtp://localhost:{server.port}?starttls=no")
    monkeypatch.setattr(settings(), "mail_from", SENDER)
    stopping = asyncio.Event()
    async with asyncio.timeout(60):
        task = asyncio.create_task(delivery.run(stopping, settings()))
        while await _is_queued(roots):
            continue
        stopping.set()
        await task
    first = [str(letter["To"])[:3] for letter in post.taken[: rules.SENDERS]]
    assert len(post.taken) == 12
    assert sorted(first) == ["one", "one", "two", "two"]


async def _is_queued(organizations: list[UUID]) -> bool:
    async with db.worker() as session:
        queued = col(OutboxRow.organization_id).in_(organizations), col(OutboxRow.status) == MailStatus.QUEUED
        return bool(await session.scalar(sa.select(sa.exists().where(*queued))))


async def flood(organizations: list[UUID], kind: MailKind, count: int) -> None:
    """Queue emails of a kind from one person in each of some organizations, earlier than all other emails."""
    async with db.worker() as session:
        for organization in organizations:
            cause = Cause(kind, uuid4())
            many = [mail(organization, f"flood.{n}@example.com", "Flood", "Text", cause) for n in range(count)]
            for one in many:
                one.next_attempt_at = now() - timedelta(hours=1)
            session.add_all(many)


async def test_mails_of_a_kind_do_not_wait_for_a_flood_of_another_kind(world: World) -> None:
    roots = [await world.organization() for _ in range(2)]
    await flood(roots, MailKind.ACCOUNT, 10)
    await flood(roots, MailKind.ALARM, 10)
    senders = Senders()
    flooded = [row for _ in range(rules.SENDERS) if (row := await senders.take())]
    assert len(flooded) == rules.SENDERS

    victim = await world.organization()
    admin = await world.person(victim)
    await invite(admin, victim, "guest", 1)
    await admin.call("POST", f"/orgs/{victim}/api-keys", json={"name": "Books", "scopes": ["assets:read"]})
    await forgot(world, admin)
    found = []
    for _ in range(3 * rules.SENDERS):
        senders.done(flooded.pop(0))
        row = await senders.take()
        assert row
        flooded.append(row)
        found += [row.kind] if row.organization_id == victim else []
    assert sorted(found) == sorted(MailKind), "each of the three queues of a kind has had a turn"


async def test_people_of_a_root_with_many_account_mails_take_the_turns_of_one_root(world: World, start: Start) -> None:
    acme = await world.organization()
    for _ in range(6):
        await flood([acme], MailKind.ACCOUNT, 1)
    victims = [await world.person(await world.organization()) for _ in range(2)]
    for victim in victims:
        await forgot(world, victim)
    names = await sent(start, 4)
    assert {victim.email.split("@")[0] for victim in victims} <= set(names)


async def test_root_alone_uses_half_of_the_senders_until_a_mail_is_done(world: World) -> None:
    acme = await world.organization()
    for number in range(2):
        await invite(await world.person(acme), acme, f"guest.{number}", 3)
    senders = Senders()
    taken = [row for _ in range(rules.SENDERS) if (row := await senders.take())]
    assert len(taken) == rules.SENDERS_OF_ONE
    await forgot(world, await world.person(acme))
    assert await senders.take(), "a password reset is the first email of its kind"
    senders.done(taken[0])
    assert await senders.take() is None, "the password reset counts, too"
    senders.done(taken[1])
    assert await senders.take()
    assert await senders.take() is None


async def test_mail_is_found_by_its_index_among_many_sent_ones(world: World) -> None:
    acme = await world.organization()
    await invite(await world.person(acme), acme, "guest", 1)
    async with db.worker() as session:
        await session.execute(SENT, {"org": acme})
        found = (await session.execute(QUEUES, {"now": now()})).one()
        plans = [await _plan(session, QUEUES.bindparams(now=now())), await _plan(session, _first(found))]
        await session.rollback()
    for plan in plans:
        assert "Seq Scan" not in plan
        assert "ix_outbox_turns" in plan
        assert plan.count("Index Name") == plan.count("ix_outbox_turns")
        assert set(re.findall(r'"Rows Removed by Filter": (\d+)', plan)) <= {"0"}, "it reads no sent email"


SENT = sa.text(
    "insert into outbox (id, created_at, updated_at, organization_id, kind, share_id, person_id, recipient, subject, "
    "body, is_private, is_last, status, attempts, sent_at) select gen_random_uuid(), now(), now(), :org, 'notice', "
    ":org, :org, 'marta@example.com', 'Invited', '', true, false, 'sent', 1, now() from generate_series(1, 5000)"
)


def _first(found: Any) -> sa.Select[Any]:
    return first_of(Queue(MailKind(found.kind), found.share_id, found.person_id, found.next_attempt_at))


async def _plan(session: db.Write, query: Any) -> str:
    statement = query.compile(dialect=session.get_bind().dialect, compile_kwargs={"literal_binds": True})
    connection = await session.connection()
    return json.dumps((await connection.exec_driver_sql(f"explain (analyze, format json) {statement}")).scalar_one())
