"""The daily email of what waits: only for those who want it, once a day, and only if something waits."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlmodel import col

from backend.core import db
from backend.core.db import now
from backend.mail.models import OutboxRow
from backend.notifications import digest, rules
from backend.preferences.models import PreferencesRow
from backend.users.schemas import Role
from tests.conftest import Actor, World
from tests.ip_ranges.steps import OFFICE, restrict
from tests.support.firm import Firm

DAILY = {"digest": "daily", "time_zone": "Asia/Tokyo"}


async def emails(*people: Actor) -> list[OutboxRow]:
    """Return the digests of people, oldest first."""
    async with db.worker() as session:
        mine = col(OutboxRow.recipient).in_([person.email for person in people])
        query = sa.select(OutboxRow).where(mine, col(OutboxRow.subject) == digest.SUBJECT)
        return list((await session.scalars(query.order_by(col(OutboxRow.created_at)))).all())


async def choose(actor: Actor, **preferences: Any) -> None:
    await actor.call("PATCH", "/auth/preferences", json=preferences)


async def a_day_passes(actor: Actor) -> None:
    async with db.transaction() as session:
        await db.see_oneself(session, actor.user_id)
        yesterday = now().date() - timedelta(days=1)
        await session.execute(sa.update(PreferencesRow).values(digest_on=yesterday))


async def test_digest_is_sent_once_a_day_to_those_who_want_it(world: World) -> None:
    firm = await Firm.found(world, "Acme")
    officer, quiet = await world.person(firm.id, Role.COMPLIANCE_OFFICER), await world.person(firm.id, Role.VIEWER)
    await firm.party(name="Alder")
    await choose(officer, **DAILY)
    await choose(quiet, **DAILY)
    await asyncio.gather(digest.once(), digest.once())
    (email,) = await emails(officer, quiet, firm.admin)
    assert email.recipient == officer.email
    assert email.body.startswith("Acme\n- 1 party waits for identity review. Alder. Since ")
    assert "(Asia/Tokyo)." in email.body
    assert f"/o/{firm.id}/overview" in email.body
    assert "/account" in email.body.rpartition("To stop it")[2]
    await digest.once()
    assert len(await emails(officer)) == 1
    await a_day_passes(officer)
    await digest.once()
    assert len(await emails(officer)) == 2
    await a_day_passes(officer)
    await choose(officer, digest="off")
    await digest.once()
    assert len(await emails(officer)) == 2


async def test_digest_shows_nothing_of_a_role_that_ended_and_is_private(world: World) -> None:
    firm = await Firm.found(world)
    officer = await world.person(firm.id, Role.COMPLIANCE_OFFICER)
    await firm.party(name="Alder")
    await choose(officer, **DAILY)
    await digest.once()
    mails = (await firm.get("/outbox"))["mails"]
    (shown,) = [mail for mail in mails if mail["subject"] == digest.SUBJECT]
    assert (shown["body"], shown["is_private"]) == (None, True)
    member = next(m for m in (await firm.get("/members"))["members"] if m["role"] == "compliance_officer")
    await firm.admin.call("DELETE", f"{firm.base}/members/{member['id']}")
    await a_day_passes(officer)
    await digest.once()
    assert len(await emails(officer)) == 1


async def test_digest_of_an_organization_with_ip_ranges_says_only_that_something_waits(world: World) -> None:
    """An email is read from any address. The ranges of an organization above count too."""
    above = await Firm.found(world, "Group")
    firm, free = await Firm.found(world, "Acme", above.id), await Firm.found(world, "Open")
    officer = await world.person(firm.id, Role.COMPLIANCE_OFFICER)
    await firm.party(name="Alder")
    await choose(officer, **DAILY)
    await restrict(above.id, OFFICE)
    await digest.once()
    (email,) = await emails(officer)
    assert email.body.startswith(f"Acme\n{rules.CLOSED}\n")
    assert "Alder" not in email.body
    assert "identity review" not in email.body
    quiet = await world.person(free.id, Role.VIEWER)
    await choose(quiet, **DAILY)
    await restrict(free.id, OFFICE)
    await restrict(above.id)
    await a_day_passes(officer)
    await digest.once()
    assert "Alder" in (await emails(officer))[-1].body
    assert await emails(quiet) == [], "nothing waits there"


async def test_digest_that_fails_for_one_person_is_sent_to_the_others(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Firm.found(world)
    one, two = [await world.person(firm.id, Role.COMPLIANCE_OFFICER) for _ in range(2)]
    await firm.party(name="Alder")
    for person in (one, two):
        await choose(person, **DAILY)
    read = digest.service.read

    async def broken(context: Any) -> Any:
        if context.user_id == one.user_id:
            raise RuntimeError("the database does not respond")
        return await read(context)

    monkeypatch.setattr(digest.service, "read", broken)
    await digest.once()
    assert [email.recipient for email in await emails(one, two)] == [two.email]
    monkeypatch.undo()
    await digest.once()
    assert sorted(email.recipient for email in await emails(one, two)) == sorted([one.email, two.email])


async def test_worker_sees_only_who_wants_a_digest(world: World) -> None:
    firm = await Firm.found(world)
    wants, other = await world.person(firm.id), await world.person(firm.id)
    await choose(wants, **DAILY)
    await choose(other, time_zone="Asia/Tokyo")
    async with db.worker() as session:
        seen = set((await session.scalars(sa.text("select user_id from preferences"))).all())
        assert wants.user_id in seen
        assert other.user_id not in seen
        with pytest.raises(sa.exc.ProgrammingError, match="permission denied"):
            await session.execute(sa.text("select seen from preferences"))
