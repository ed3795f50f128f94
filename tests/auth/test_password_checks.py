"""Passwords that many strangers send at once: few are checked at a time, and everybody else goes on working."""

import asyncio
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from backend.auth import password_checks
from backend.auth.password_checks import Room
from backend.auth.secrets import hash_password
from tests.auth.test_guessing import Visitor
from tests.conftest import PASSWORD, World


class Checks:
    """Checks that wait until they are let go."""

    def __init__(self) -> None:
        self.may_end = threading.Event()
        self.begun = threading.Semaphore(0)

    async def begin(self, count: int) -> None:
        """Return when so many have begun."""
        for _ in range(count):
            assert await asyncio.to_thread(self.begun.acquire, timeout=30)


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> Iterator[Checks]:
    """Hold every check of a password."""
    held, verify = Checks(), password_checks.verify_password

    def wait(password: str, stored: str | None) -> bool:
        held.begun.release()
        held.may_end.wait(60)
        return verify(password, stored)

    monkeypatch.setattr(password_checks, "verify_password", wait)
    yield held
    held.may_end.set()


async def test_strangers_who_sign_in_at_once_keep_nobody_from_the_api(api: Any, world: World, checks: Checks) -> None:
    acme = await world.organization()
    key = await world.key(acme)
    stranger = Visitor(api, "198.51.100.7")
    waiting = [asyncio.create_task(stranger.login(f"nobody{n}@example.com")) for n in range(40)]
    await checks.begin(password_checks.AT_ONCE)
    assert (await world.client.call("GET", f"/orgs/{acme}", headers=key))["id"] == str(acme)
    checks.may_end.set()
    told = Counter(await asyncio.gather(*waiting))
    assert told == {401: password_checks.EACH, 429: 40 - password_checks.EACH}


async def test_strangers_leave_room_for_a_browser_that_is_known(api: Any, world: World, checks: Checks) -> None:
    person = await world.person(await world.organization())
    browser = Visitor(api, "203.0.113.5")
    checks.may_end.set()
    assert await browser.sign_in(person.email, PASSWORD) == "/"
    await checks.begin(1)
    checks.may_end.clear()
    visitors = [Visitor(api, f"198.51.{n}.7") for n in range(password_checks.IN_ALL[Room.STRANGERS])]
    waiting = [asyncio.create_task(one.login("nobody@example.com")) for one in visitors]
    async with asyncio.timeout(30):
        while not password_checks._rooms[Room.STRANGERS].is_full():  # noqa: ASYNC110 - a count changes
            await asyncio.sleep(0.01)
    assert await Visitor(api, "203.0.113.9").login(person.email, PASSWORD) == 429
    known = asyncio.create_task(browser.sign_in(person.email, PASSWORD))
    checks.may_end.set()
    assert await known == "/"
    await asyncio.gather(*waiting)
    assert await Visitor(api, "203.0.113.9").login(person.email, PASSWORD) == 200


async def test_sign_in_with_a_password_that_was_changed_meanwhile_is_refused(
    api: Any, world: World, checks: Checks, database_url: str
) -> None:
    person = await world.person(await world.organization())
    signing_in = asyncio.create_task(Visitor(api, "203.0.113.5").login(person.email, PASSWORD))
    await checks.begin(1)
    async with await psycopg.AsyncConnection.connect(database_url) as connection:
        change = "update users set password_hash = %s where id = %s"
        await connection.execute(change, (hash_password("another long password"), person.user_id))
    checks.may_end.set()
    assert await signing_in == 401
    assert await Visitor(api, "203.0.113.5").login(person.email, "another long password") == 200
