"""People who are visible to a request of the app's role: itself, and those of its organizations."""

from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import ProgrammingError

from backend.core import db
from backend.core.db import new_id
from backend.models import MemberRow, UserRow, UserWalletRow
from backend.users.schemas import MemberStatus, Role
from tests.conftest import Actor, World


async def seen(*organizations: UUID, oneself: UUID | None = None) -> set[UUID]:
    """Return the people whom a transaction with some organizations sees."""
    async with db.transaction(*organizations) as session:
        if oneself is not None:
            await db.see_oneself(session, oneself)
        return set(await session.scalars(sa.text("select id from users").columns(sa.column("id", sa.Uuid()))))


async def refused(statement: str, **values: Any) -> str:
    """Return PostgreSQL's response to the app's role."""
    with pytest.raises(ProgrammingError) as error:
        async with db.transaction() as session:
            await session.execute(sa.text(statement), values)
    return str(error.value.orig)


async def wallet_of(person: Actor) -> str:
    address = f"0x{new_id().hex}{new_id().hex[-8:]}"
    async with db.worker() as session:
        session.add(UserWalletRow(user_id=person.user_id, address=address))
    return address


async def test_people_are_invisible_without_an_identity(world: World) -> None:
    person = await world.person(await world.organization())
    await wallet_of(person)
    async with db.transaction() as session:
        counts = [await session.scalar(sa.text(f"select count(*) from {t}")) for t in ("users", "user_wallets")]
    assert counts == [0, 0]
    assert await seen(oneself=person.user_id) == {person.user_id}


async def test_organization_sees_own_people_and_staff_above(world: World) -> None:
    top = await world.organization()
    acme, beside = await world.organization("Acme", top), await world.organization("Beside", top)
    below = await world.organization("Below", acme)
    boss, investor = await world.person(top), await world.person(top, Role.CLIENT)
    own, client = await world.person(acme), await world.person(acme, Role.CLIENT)
    others = [await world.person(beside), await world.person(below), await world.person(await world.organization())]
    assert await seen(acme) == {boss.user_id, own.user_id, client.user_id}
    assert investor.user_id not in await seen(acme)
    assert {o.user_id for o in others}.isdisjoint(await seen(acme))
    assert others[0].user_id in await seen(acme, beside)


async def test_pending_member_is_invisible_and_former_member_is_visible_in_history(world: World) -> None:
    acme, other = await world.organization(), await world.organization()
    admin, stranger, leaver = await world.person(acme), await world.person(other), await world.person(acme)
    address = await wallet_of(stranger)
    async with db.worker() as session:
        session.add(MemberRow(organization_id=acme, user_id=stranger.user_id, status=MemberStatus.PENDING))
    assert stranger.user_id not in await seen(acme)
    async with db.transaction(acme) as session:
        found = sa.text("select count(*) from user_wallets where address = :a")
        assert await session.scalar(found, {"a": address}) == 0
    await leaver.call("PATCH", f"/orgs/{acme}", json={"name": "Acme Two"})
    members = (await admin.call("GET", f"/orgs/{acme}/members"))["members"]
    assert len(members) == 3, "a pending member is listed too"
    membership = next(m["id"] for m in members if m["user_id"] == str(leaver.user_id))
    await admin.call("DELETE", f"/orgs/{acme}/members/{membership}")
    assert await seen(acme) == {admin.user_id, leaver.user_id}
    answer = (await admin.call("GET", f"/orgs/{acme}/audit", params={"action": "organization.updated"}))["audit"]
    assert answer[0]["actor_name"] == leaver.email.split("@")[0].title()


@pytest.mark.parametrize(
    "statement",
    [
        "select password_hash from users",
        "select * from users",
        "update users set password_hash = 'mine'",
        "update users set email = 'mine@example.com'",
        "delete from users",
    ],
)
async def test_password_hash_cannot_be_read_or_written_by_a_query(world: World, statement: str) -> None:
    await world.person(await world.organization())
    assert "permission denied" in await refused(statement)
    with pytest.raises(ProgrammingError, match="permission denied"):
        async with db.worker() as session:
            await session.execute(sa.text(statement))


async def test_password_is_set_only_with_a_proof(world: World) -> None:
    acme = await world.organization()
    person, other = await world.person(acme), await world.person(acme)
    async with db.worker() as session:
        own = await session.scalar(sa.text("select id from sessions where user_id = :u"), {"u": person.user_id})
    proofs: list[tuple[UUID, Any, Any, bool]] = [
        (person.user_id, None, None, False),
        (person.user_id, "made up", new_id(), False),
        (other.user_id, None, own, False),
        (person.user_id, None, own, True),
    ]
    text = sa.text("select signum_set_password(:u, 'hash', cast(:link as text), cast(:own as uuid))")
    for user, link, session_id, is_set in proofs:
        async with db.transaction(acme) as session:
            assert await session.scalar(text, {"u": user, "link": link, "own": session_id}) is is_set


async def test_person_can_update_only_themselves(world: World) -> None:
    acme = await world.organization()
    person, other = await world.person(acme), await world.person(acme)
    async with db.transaction(acme) as session:
        await db.see_oneself(session, person.user_id)
        written = sa.update(UserRow).values(last_login_at=db.now()).returning(sa.column("id", sa.Uuid()))
        assert list(await session.scalars(written)) == [person.user_id]
        assert other.user_id in set(await session.scalars(sa.select(UserRow.id)))


async def test_pause_keeps_the_visible_people(world: World) -> None:
    person = await world.person(await world.organization())
    async with db.transaction() as session:
        await db.see_oneself(session, person.user_id)
        async with db.paused(session):
            pass
        assert list(await session.scalars(sa.select(UserRow.id))) == [person.user_id]
