"""The seam: whoever is behind a change is known wherever it is told."""

from uuid import uuid4

from sqlalchemy.ext.asyncio import AsyncSession

from backend import changes
from backend.changes import Change, Who, acting, proven, tell


async def test_a_listener_hears_who_changed_what():
    heard: list[Change] = []

    async def listener(session: AsyncSession, change: Change) -> None:
        if change.action == "test.changed":
            heard.append(change)

    changes.listen(listener)
    changes.listen(listener)
    someone, organization = Who(uuid4(), "session", "r-1", "10.0.0.1"), uuid4()
    async with AsyncSession() as session:
        with acting(someone):
            await tell(session, organization, "test.changed", ("test", "1"), {"name": "a"}, {"name": "b"})
        await tell(session, organization, "test.changed", ("test", "2"))
    assert [c.who for c in heard] == [someone, Who()]
    assert heard[0] == Change(organization, "test.changed", ("test", "1"), {"name": "a"}, {"name": "b"}, someone)


def test_a_request_without_credential_proves_whose_it_is_for_itself_only():
    person = uuid4()
    with acting(Who(None, changes.NOBODY, "r-1", "10.0.0.1")):
        proven(person)
        assert changes.who() == Who(person, changes.NOBODY, "r-1", "10.0.0.1")
    assert changes.who() == Who()


def test_who_goes_on_after_the_request_as_json():
    for someone in (Who(), Who(uuid4(), "key:1", "r-1", "10.0.0.1")):
        assert Who.of(someone.noted()) == someone
    assert Who.of({}) == Who()
