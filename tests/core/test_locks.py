"""Advisory locks: a caller who chooses part of a lock's name does not choose the lock."""

from uuid import UUID

import pytest
import sqlalchemy as sa

from backend.core import db, locks
from backend.core.locks import Purpose
from backend.core.runtime import runtime
from backend.core.secret_keys.keyring import Keyring
from backend.members import changes
from tests.conftest import World
from tests.support.keyrings import ring
from tests.support.prepared_hash import text_with_hash_of


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation's key."""
    monkeypatch.setitem(runtime._parts, Keyring, ring(b"a key".ljust(32)))


async def test_idempotency_key_prepared_for_another_lock_does_not_take_it(world: World) -> None:
    victim, own = await world.organization("Victim"), await world.organization("Own")
    person = await world.person(own)
    await world.person(victim)
    target, prefix = f"members {victim}", f"user:{person.user_id}\nPATCH\n/v1/orgs/{own}?\n"
    key = text_with_hash_of(target, prefix)
    async with db.worker() as session:
        same = sa.text("select hashtextextended(:one, 0) = hashtextextended(:other, 0)")
        assert await session.scalar(same, {"one": prefix + key, "other": target}), "the key is not prepared"
        member = sa.text("select id from members where organization_id = :id")
        await changes.locked(session, victim, UUID(str(await session.scalar(member, {"id": victim}))))
        answer = await person.call("PATCH", f"/orgs/{own}", json={"name": "Renamed"}, idempotency_key=key)
    assert answer["name"] == "Renamed"


@pytest.mark.usefixtures("key")
def test_lock_numbers_of_a_prepared_name_differ_from_those_of_its_target() -> None:
    target = "members 019ab1c2-0000-7000-8000-000000000001"
    name = text_with_hash_of(target, "user:019ab1c2\nPATCH\n/v1/orgs?\n")
    numbers = {locks.number(purpose, text) for purpose in Purpose for text in (name, target)}
    assert len(numbers) == 2 * len(Purpose)


@pytest.mark.usefixtures("key")
@pytest.mark.parametrize("purpose", Purpose)
def test_lock_number_is_a_positive_bigint_of_its_purpose(purpose: Purpose) -> None:
    for name in ("", "a", "b" * 1_000, UUID(int=0), 40161):
        number = locks.number(purpose, name)
        assert number >> locks.DIGEST_BITS == purpose
        assert locks.MIGRATION < number < 2**63


@pytest.mark.usefixtures("key")
def test_lock_number_depends_on_the_key_of_the_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    here = locks.number(Purpose.MEMBERS, "acme")
    assert locks.number(Purpose.MEMBERS, "acme") == here
    monkeypatch.setitem(runtime._parts, Keyring, ring(b"another key".ljust(32)))
    assert locks.number(Purpose.MEMBERS, "acme") != here
