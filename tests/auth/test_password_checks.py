"""Concurrent passwords of many strangers: few are checked at a time, and everyone else can work."""

import asyncio
import threading
from collections import Counter
from collections.abc import Awaitable, Iterator
from typing import Any

import httpx
import psycopg
import pytest
from limits import RateLimitItemPerHour

from backend.auth.secrets import hash_password
from backend.core.runtime import runtime
from backend.limits import rate_limits
from backend.sign_in import password_checks
from backend.sign_in.password_checks import Room
from tests.auth.test_guessing import Visitor
from tests.conftest import PASSWORD, Actor, World
from tests.users.test_accounts import forget


class Checks:
    """Password checks that wait until they are released."""

    def __init__(self) -> None:
        self.may_end = threading.Event()
        self.begun = threading.Semaphore(0)

    async def begin(self, count: int) -> None:
        """Return when this many checks have started."""
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


@pytest.mark.long
async def test_concurrent_sign_ins_of_strangers_do_not_block_the_api(api: Any, world: World, checks: Checks) -> None:
    acme = await world.organization()
    key = await world.key(acme)
    stranger = Visitor(api, "198.51.100.7")
    waiting = [asyncio.create_task(stranger.login(f"unknown{n}@example.com")) for n in range(40)]
    await checks.begin(password_checks.CONCURRENT)
    assert (await world.client.call("GET", f"/orgs/{acme}", headers=key))["id"] == str(acme)
    each = password_checks.EACH[Room.STRANGERS]
    refusals = asyncio.as_completed(waiting, timeout=30)
    assert [await next(refusals) for _ in range(40 - each)] == [429] * (40 - each)
    checks.may_end.set()
    assert Counter(await asyncio.gather(*waiting)) == {401: each, 429: 40 - each}


@pytest.mark.long
async def test_strangers_leave_password_checks_for_known_browsers(api: Any, world: World, checks: Checks) -> None:
    person = await world.person(await world.organization())
    browser = Visitor(api, "203.0.113.5")
    checks.may_end.set()
    assert await browser.sign_in(person.email, PASSWORD) == "/"
    await checks.begin(1)
    checks.may_end.clear()
    visitors = [Visitor(api, f"198.51.{n}.7") for n in range(password_checks.IN_ALL[Room.STRANGERS])]
    waiting = [asyncio.create_task(one.login("unknown@example.com")) for one in visitors]
    async with asyncio.timeout(30):
        while not runtime.part(password_checks.Checks).rooms[Room.STRANGERS].is_full():  # noqa: ASYNC110 - a count changes
            await asyncio.sleep(0.01)
    assert await Visitor(api, "203.0.113.9").login(person.email, PASSWORD) == 429
    known = asyncio.create_task(browser.sign_in(person.email, PASSWORD))
    checks.may_end.set()
    assert await known == "/"
    await asyncio.gather(*waiting)
    assert await Visitor(api, "203.0.113.9").login(person.email, PASSWORD) == 200


def prove(visitor: Visitor, person: Actor, password: str = PASSWORD) -> Awaitable[httpx.Response]:
    """A signed-in person gives their password as proof."""
    return visitor.http.post("/v1/auth/factors/verify", json={"password": password}, headers={"cookie": person.cookie})


@pytest.mark.long
async def test_person_with_many_password_checks_leaves_capacity_for_others(
    api: Any, world: World, checks: Checks
) -> None:
    acme, visitor = await world.organization(), Visitor(api, "198.51.100.7")
    two, other = [await world.person(acme), await world.person(acme)], await world.person(await world.organization())
    sent = [
        asyncio.create_task(prove(visitor, person)) for person in two for _ in range(password_checks.CONCURRENT * 3)
    ]
    refused = [await one for one, _ in zip(asyncio.as_completed(sent, timeout=30), sent[2:], strict=False)]
    assert {(answer.status_code, answer.headers["retry-after"]) for answer in refused} == {(429, "2")}
    waiting = asyncio.create_task(prove(visitor, other))
    checks.may_end.set()
    assert (await waiting).status_code == 200
    assert Counter([(await one).status_code for one in sent]) == {200: 2, 429: len(sent) - 2}
    assert (await prove(visitor, two[0])).status_code == 200


@pytest.mark.long
async def test_correct_passwords_of_a_signed_in_person_are_limited(
    api: Any, world: World, limits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limits, "PASSWORDS_PER_PERSON", RateLimitItemPerHour(3))
    acme, visitor = await world.organization(), Visitor(api, "198.51.100.7")
    person, other = await world.person(acme), await world.person(acme)
    assert [(await prove(visitor, person)).status_code for _ in range(4)] == [200, 200, 200, 429]
    refused = await prove(visitor, person)
    assert 0 < int(refused.headers["retry-after"]) <= 3600
    change = {"current_password": PASSWORD, "new_password": "another long password"}
    again = await visitor.http.post("/v1/auth/password/change", json=change, headers={"cookie": person.cookie})
    assert again.status_code == 429
    assert (await prove(visitor, other)).status_code == 200
    [link] = await forget(world, person.email)
    new = {"token": link, "password": "another long password"}
    reset = await visitor.http.post("/v1/auth/password/reset", json=new)
    assert reset.status_code == 204, "a thief with the password cannot block the owner's reset"


async def test_password_check_without_capacity_counts_toward_no_limit(
    api: Any, world: World, checks: Checks, limits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limits, "PASSWORDS_PER_PERSON", RateLimitItemPerHour(2))
    person, visitor = await world.person(await world.organization()), Visitor(api, "198.51.100.7")
    first = asyncio.create_task(prove(visitor, person))
    await checks.begin(1)
    assert [(await prove(visitor, person)).status_code for _ in range(3)] == [429] * 3
    checks.may_end.set()
    assert ((await first).status_code, (await prove(visitor, person)).status_code) == (200, 200)
    assert (await prove(visitor, person)).status_code == 429


@pytest.mark.long
async def test_strangers_of_one_ipv6_network_leave_capacity_for_others(api: Any, world: World, checks: Checks) -> None:
    person, share = await world.person(await world.organization()), 12
    visitors = [Visitor(api, f"2001:db8:0:{n:x}::7") for n in range(48)]
    sent = [asyncio.create_task(one.login("unknown@example.com")) for one in visitors]
    refused = [await one for one, _ in zip(asyncio.as_completed(sent, timeout=30), sent[share:], strict=False)]
    assert set(refused) == {429}
    waiting = [
        asyncio.create_task(Visitor(api, address).login(person.email, PASSWORD))
        for address in ("203.0.113.9", "2001:db8:1::7")
    ]
    checks.may_end.set()
    assert await asyncio.gather(*waiting) == [200, 200]
    assert Counter(await asyncio.gather(*sent)) == {401: share, 429: 48 - share}
    assert await Visitor(api, "2001:db8:0:1::7").login(person.email, PASSWORD) == 200


@pytest.mark.long
async def test_sign_in_is_rejected_when_the_password_changes_during_the_check(
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
