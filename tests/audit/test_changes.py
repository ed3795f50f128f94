"""The origin of a change is known in every record of the change."""

from uuid import uuid4

from sqlalchemy.ext.asyncio import AsyncSession

from backend.core import changes
from backend.core.changes import Change, Who, acting, proven, publish


async def test_change_listener_receives_actor_and_change():
    heard: list[Change] = []

    async def listener(session: AsyncSession, change: Change) -> None:
        if change.action == "test.changed":
            heard.append(change)

    changes.listen(listener)
    changes.listen(listener)
    someone, organization = Who(uuid4(), "session", "r-1", "10.0.0.1"), uuid4()
    async with AsyncSession() as session:
        with acting(someone):
            await publish(session, organization, "test.changed", ("test", "1"), {"name": "a"}, {"name": "b"})
        await publish(session, organization, "test.changed", ("test", "2"))
    assert [c.who for c in heard] == [someone, Who()]
    assert heard[0] == Change(organization, "test.changed", ("test", "1"), {"name": "a"}, {"name": "b"}, someone)


def test_request_without_credential_proves_only_its_own_account():
    person = uuid4()
    with acting(Who(None, changes.NOBODY, "r-1", "10.0.0.1")):
        proven(person)
        assert changes.who() == Who(person, changes.NOBODY, "r-1", "10.0.0.1")
    assert changes.who() == Who()


def test_actor_survives_json():
    for someone in (Who(), Who(uuid4(), "key:1", "r-1", "10.0.0.1")):
        assert Who.of(someone.noted()) == someone
    assert Who.of({}) == Who()
