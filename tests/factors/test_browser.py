"""Sign-in in a browser in two steps: password, then second factor."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
import pytest_asyncio
import sqlalchemy as sa

from backend.auth.credentials import cookie_name
from backend.auth.models import OneTimeSecretRow
from backend.core import db
from backend.core.settings import settings
from backend.factors import verification
from backend.models import UserRow
from backend.server import runtime
from backend.sign_in.browser import pending_name
from tests.conftest import PASSWORD, Actor, World
from tests.factors.steps import App, set_up
from tests.users.test_accounts import forget


class Browser:
    """A browser with its cookies, on the console's pages."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http

    async def post(self, path: str, **form: str) -> httpx.Response:
        """Send a native form."""
        return await self.http.post(path, data=form, headers={"origin": settings().origin})

    async def password(self, person: Actor, next: str = "/o/1/members") -> httpx.Response:
        """Do the first step."""
        return await self.post("/session", email=person.email, password=PASSWORD, next=next)

    async def is_signed_in(self) -> bool:
        """Return whether the API accepts the browser's session."""
        return (await self.http.get("/v1/auth/me")).status_code == 200


@pytest_asyncio.fixture
async def browser(api: Any) -> AsyncIterator[Browser]:
    """A browser without a signed-in person."""
    transport = runtime.local_transport(api)
    async with httpx.AsyncClient(transport=transport, base_url=settings().origin) as http:
        yield Browser(http)


@pytest_asyncio.fixture
async def person(world: World) -> Actor:
    return await world.person(await world.organization())


@pytest_asyncio.fixture
async def app(person: Actor) -> App:
    return await set_up(person)


async def test_second_step_before_the_page_script_runs_redirects_to_the_target(
    browser: Browser, person: Actor, app: App
) -> None:
    await browser.password(person)
    page = f"{settings().origin}/sign-in/factor?next=%2Fo%2F1%2Fmembers"
    form = {"code": app.code(1), "next": "/"}
    headers = {"origin": settings().origin, "referer": page}
    answer = await browser.http.post("/session/factor", data=form, headers=headers)
    assert answer.headers["location"] == "/o/1/members"


async def test_password_alone_does_not_sign_in(browser: Browser, person: Actor, app: App) -> None:
    answer = await browser.password(person)
    assert answer.headers["location"] == "/sign-in/factor?next=%2Fo%2F1%2Fmembers"
    assert cookie_name() not in browser.http.cookies
    assert not await browser.is_signed_in()
    secret = browser.http.cookies[pending_name()]
    headers = {"cookie": f"{cookie_name()}={secret}"}
    assert (await browser.http.get("/v1/auth/me", headers=headers)).status_code == 401, "it is not a session"


async def test_password_and_code_sign_in_with_a_fresh_factor(browser: Browser, person: Actor, app: App) -> None:
    await browser.password(person)
    answer = await browser.post("/session/factor", code=app.code(1), next="/o/1/members")
    assert (answer.status_code, answer.headers["location"]) == (303, "/o/1/members")
    assert await browser.is_signed_in()
    assert pending_name() not in browser.http.cookies
    assert (await browser.http.get("/v1/auth/factors")).json()["fresh_until"]


async def test_recovery_code_signs_in(browser: Browser, person: Actor, app: App) -> None:
    await browser.password(person)
    await browser.post("/session/factor", code=app.recovery_codes[0])
    assert await browser.is_signed_in()


@pytest.mark.long
async def test_wrong_code_is_reported_and_the_next_one_may_be_correct(
    browser: Browser, person: Actor, app: App
) -> None:
    await browser.password(person)
    for form in ({"code": "000000"}, {"credential": "{}"}, {"credential": "[1"}, {"code": ""}):
        answer = await browser.post("/session/factor", **form, next="/o/1/members")
        query = parse_qs(urlsplit(answer.headers["location"]).query)
        assert query == {"error": ["code"], "next": ["/o/1/members"]}
    assert not await browser.is_signed_in()
    await browser.post("/session/factor", code=app.code(1))
    assert await browser.is_signed_in()


@pytest.mark.long
async def test_guesses_at_sign_in_are_limited(browser: Browser, person: Actor, app: App, limits: None) -> None:
    for guess in range(6):
        await browser.password(person)
        answer = await browser.post("/session/factor", code=f"00000{guess}")
    assert "error=slow" in answer.headers["location"]
    answer = await browser.post("/session/factor", code=app.code(1))
    assert "error=slow" in answer.headers["location"]


@pytest.mark.long
async def test_first_step_is_valid_once_and_for_ten_minutes(browser: Browser, person: Actor, app: App) -> None:
    await browser.password(person)
    used = browser.http.cookies[pending_name()]
    await browser.post("/session/factor", code=app.code(1))
    browser.http.cookies.clear()
    browser.http.cookies.set(pending_name(), used)
    again = await browser.post("/session/factor", code=app.recovery_codes[0])
    assert again.headers["location"].startswith("/sign-in?error=expired")

    await browser.password(person)
    async with db.worker() as session:
        mine = sa.update(OneTimeSecretRow).where(OneTimeSecretRow.user_id == person.user_id)
        await session.execute(mine.values(expires_at=db.now()))
    late = await browser.post("/session/factor", code=app.recovery_codes[0])
    assert late.headers["location"].startswith("/sign-in?error=expired")
    assert not await browser.is_signed_in()


async def test_code_without_a_password_is_rejected(browser: Browser, person: Actor, app: App) -> None:
    answer = await browser.post("/session/factor", code=app.code(1))
    assert answer.headers["location"].startswith("/sign-in?error=expired")
    assert (await browser.post("/session/factor/options")).status_code == 401


@pytest.mark.parametrize("path", ["/session/factor", "/session/factor/options"])
async def test_second_step_is_accepted_from_own_pages_only(
    browser: Browser, person: Actor, app: App, path: str
) -> None:
    await browser.password(person)
    answer = await browser.http.post(path, data={"code": app.code(1)}, headers={"origin": "https://evil.example"})
    assert answer.status_code == 403
    assert not await browser.is_signed_in()


@pytest.mark.parametrize("wanted", ["//evil.example", "https://evil.example", "/\\evil"])
async def test_second_step_redirects_to_own_pages_only(browser: Browser, person: Actor, app: App, wanted: str) -> None:
    await browser.password(person, wanted)
    answer = await browser.post("/session/factor", code=app.code(1), next=wanted)
    assert answer.headers["location"] == "/"


async def test_second_step_ends_the_previous_session(browser: Browser, world: World, person: Actor, app: App) -> None:
    other = await world.person(await world.organization())
    name, _, secret = other.cookie.partition("=")
    browser.http.cookies.set(name, secret)
    await browser.password(person)
    assert (await browser.http.get("/v1/auth/me")).json()["user"]["email"] == other.email, "not yet"
    browser.http.cookies.delete(name)
    browser.http.cookies.set(name, secret, domain="localhost.local", path="/")
    await browser.post("/session/factor", code=app.code(1))
    answer = await browser.http.get("/v1/auth/me", headers={"cookie": other.cookie})
    assert answer.status_code == 401


async def change_password(browser: Browser, world: World, person: Actor) -> None:
    body = {"current_password": PASSWORD, "new_password": "a better horse battery"}
    await person.call("POST", "/auth/password/change", json=body)


async def reset_password(browser: Browser, world: World, person: Actor) -> None:
    [link] = await forget(world, person.email)
    body = {"token": link, "password": "a better horse battery"}
    await world.client.call("POST", "/auth/password/reset", json=body)


async def sign_out_everywhere(browser: Browser, world: World, person: Actor) -> None:
    await person.call("DELETE", "/auth/sessions")


async def sign_out_everywhere_in_browser(browser: Browser, world: World, person: Actor) -> None:
    headers = {"origin": settings().origin, "cookie": person.cookie}
    answer = await browser.http.post("/session/end", data={"everywhere": "yes"}, headers=headers)
    assert answer.status_code == 303


@pytest.mark.long
@pytest.mark.parametrize("end", [change_password, reset_password, sign_out_everywhere, sign_out_everywhere_in_browser])
async def test_pending_sign_in_after_a_password_change_or_sign_out_everywhere_is_expired(
    browser: Browser, world: World, person: Actor, app: App, end: Any
) -> None:
    await browser.password(person)
    await end(browser, world, person)
    answer = await browser.post("/session/factor", code=app.recovery_codes[0])
    assert answer.headers["location"].startswith("/sign-in?error=expired")
    assert not await browser.is_signed_in()


@pytest.mark.long
@pytest.mark.parametrize("end", [change_password, reset_password])
async def test_sign_in_whose_password_changes_before_its_first_step_is_written_is_expired(
    browser: Browser, world: World, person: Actor, app: App, end: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, released, has_factor = asyncio.Event(), asyncio.Event(), verification.has_factor

    async def held(*which: Any) -> bool:
        reached.set()
        await released.wait()
        return await has_factor(*which)

    with monkeypatch.context() as patched:
        patched.setattr(verification, "has_factor", held)
        signing_in = asyncio.create_task(browser.password(person))
        await reached.wait()
    changing = asyncio.create_task(end(browser, world, person))
    async with asyncio.timeout(60):
        while not await row_has_waiter():
            assert not changing.done()
    released.set()
    await changing
    assert (await signing_in).headers["location"].startswith("/sign-in/factor")
    answer = await browser.post("/session/factor", code=app.recovery_codes[0])
    assert answer.headers["location"].startswith("/sign-in?error=expired")
    assert not await browser.is_signed_in()


async def row_has_waiter() -> bool:
    async with db.worker() as session:
        waits = "select exists (select from pg_locks l join pg_stat_activity a using (pid) where not l.granted"
        return bool(await session.scalar(sa.text(f"{waits} and a.datname = current_database())")))


async def test_first_step_alone_does_not_count_as_a_sign_in(browser: Browser, person: Actor, app: App) -> None:
    async def last() -> Any:
        async with db.worker() as session:
            return await session.scalar(sa.select(UserRow.last_login_at).where(UserRow.id == person.user_id))

    before = await last()
    await browser.password(person)
    assert await last() == before
    await browser.post("/session/factor", code=app.code(1))
    assert await last() != before


async def test_pending_sign_in_of_another_person_survives_a_sign_out_everywhere(
    browser: Browser, world: World, person: Actor, app: App
) -> None:
    other = await world.person(await world.organization())
    await browser.password(person)
    await other.call("DELETE", "/auth/sessions")
    await browser.post("/session/factor", code=app.recovery_codes[0])
    assert await browser.is_signed_in()
