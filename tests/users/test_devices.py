"""Emails about access to an account or an organization, sessions that end unused, and signing out everywhere."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import httpx
import pytest
import pytest_asyncio
import sqlalchemy as sa

from backend.auth.credentials import cookie_name
from backend.auth.models import SessionRow
from backend.core import db
from backend.core.settings import settings
from backend.mail.models import OutboxRow
from backend.server import runtime
from backend.sign_in.known_devices import device_cookie
from backend.users.schemas import Role
from tests.conftest import PASSWORD, Actor, World
from tests.factors.steps import problem_of, set_up

NEW_DEVICE = "New sign-in to Signum"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


async def mails(email: str) -> list[tuple[str, str]]:
    """Return subject and text of the emails to an address, the oldest first."""
    async with db.worker() as session:
        query = sa.select(OutboxRow.subject, OutboxRow.body).where(OutboxRow.recipient == email)
        return [(s, b) for s, b in (await session.execute(query.order_by(OutboxRow.created_at))).all()]


async def subjects(email: str) -> list[str]:
    return [subject for subject, _ in await mails(email)]


@pytest_asyncio.fixture
async def browser(api: Any) -> AsyncIterator[httpx.AsyncClient]:
    """A browser without a signed-in person."""
    transport = runtime.local_transport(api)
    headers = {"user-agent": FIREFOX, "origin": settings().origin}
    async with httpx.AsyncClient(transport=transport, base_url=settings().origin, headers=headers) as http:
        yield http


async def sign_in(browser: httpx.AsyncClient, person: Actor) -> None:
    """Sign in with the form; then drop the session's cookie, as a browser does when it signs out."""
    form = {"email": person.email, "password": PASSWORD}
    answer = await browser.post("/session", data=form)
    assert answer.status_code == 303
    assert cookie_name() in browser.cookies
    browser.cookies.delete(cookie_name())


async def forget_sessions(person: Actor) -> None:
    """The person has never signed in before."""
    async with db.worker() as session:
        await session.execute(sa.delete(SessionRow).where(SessionRow.user_id == person.user_id))


@pytest.mark.long
async def test_new_device_is_mailed_once_but_not_for_the_first_one(world: World, browser: httpx.AsyncClient) -> None:
    acme = await world.organization()
    person, admin = await world.person(acme), await world.person(acme)
    await forget_sessions(person)
    await sign_in(browser, person)
    assert await mails(person.email) == [], "the first device sends no email"
    await sign_in(browser, person)
    known = browser.cookies[device_cookie()]
    browser.cookies.clear()
    await sign_in(browser, person)
    [(subject, text)] = await mails(person.email)
    assert subject == NEW_DEVICE
    assert "Firefox" in text
    assert f"{settings().origin}/account" in text

    browser.cookies.clear()
    browser.cookies.set(device_cookie(), known)
    await sign_in(browser, person)
    assert await subjects(person.email) == [NEW_DEVICE]
    shown = (await admin.call("GET", f"/orgs/{acme}/outbox"))["mails"]
    assert [m["body"] for m in shown if m["recipient"] == person.email] == [None], (
        "the address is visible to the person only"
    )


@pytest.mark.long
async def test_people_sharing_a_browser_are_each_known(world: World, browser: httpx.AsyncClient) -> None:
    acme = await world.organization()
    people = [await world.person(acme), await world.person(acme)]
    for person in people * 3:
        await sign_in(browser, person)
    assert [await subjects(p.email) for p in people] == [[NEW_DEVICE], [NEW_DEVICE]], "at first, and never again"


async def test_new_device_is_mailed_after_the_second_factor(world: World, browser: httpx.AsyncClient) -> None:
    person = await world.person(await world.organization())
    app = await set_up(person)
    await browser.post("/session", data={"email": person.email, "password": PASSWORD})
    assert NEW_DEVICE not in await subjects(person.email)
    await browser.post("/session/factor", data={"code": app.code(1)})
    assert (await subjects(person.email))[-1] == NEW_DEVICE


@pytest.mark.long
async def test_program_at_a_new_address_is_mailed(world: World) -> None:
    person = await world.person(await world.organization())
    login = {"email": person.email, "password": PASSWORD}
    for agent, known in (("robot/1", False), ("robot/1", True), ("robot/2", False)):
        before = len(await mails(person.email))
        await world.client.call("POST", "/auth/login", json=login, headers={"user-agent": agent})
        assert len(await mails(person.email)) == before + (not known)


@pytest.mark.long
async def test_new_password_factor_key_and_admin_are_mailed(world: World) -> None:
    acme, beside = await world.organization("Acme"), await world.organization("Beside")
    admin, other = await world.person(acme), await world.person(acme)
    viewer = await world.person(acme, Role.VIEWER)
    async with db.worker() as session:
        await session.execute(
            sa.text("insert into members (id, organization_id, user_id, role, status, created_at, updated_at)"
                    " values (gen_random_uuid(), :o, :u, 'viewer', 'active', now(), now())"),
            {"o": beside, "u": admin.user_id},
        )  # fmt: skip
    change = {"current_password": PASSWORD, "new_password": "another horse battery"}
    await admin.call("POST", "/auth/password/change", json=change)
    assert await subjects(admin.email) == ["Your Signum password was changed"], "once, despite two organizations"
    await set_up(admin, "another horse battery")
    [factor] = (await admin.call("GET", "/auth/factors"))["factors"]
    await admin.call("DELETE", f"/auth/factors/{factor['id']}")
    assert (await subjects(admin.email))[1:] == [
        "New second factor for Signum",
        "Second factor for Signum removed",
    ]

    key = await admin.call("POST", f"/orgs/{acme}/api-keys", json={"name": "Nightly", "scopes": ["orgs:read"]})
    subject, text = (await mails(other.email))[-1]
    assert (subject, "Nightly" in text, "1 scope" in text) == ("New API key in Signum", True, True)
    assert key["key"] not in text

    listed = (await admin.call("GET", f"/orgs/{acme}/members"))["members"]
    member = next(m for m in listed if m["user_id"] == str(viewer.user_id))
    await admin.call("PATCH", f"/orgs/{acme}/members/{member['id']}", json={"role": "member"})
    assert await subjects(other.email) == ["New API key in Signum"]
    await admin.call("PATCH", f"/orgs/{acme}/members/{member['id']}", json={"role": "admin"})
    for person in (admin, other, viewer):
        subject, text = (await mails(person.email))[-1]
        assert (subject, viewer.email.split("@")[0].title() in text) == ("New admin in Signum", True)


async def test_browser_session_ends_when_unused(world: World) -> None:
    person = await world.person(await world.organization())
    tokens = await world.client.call("POST", "/auth/login", json={"email": person.email, "password": PASSWORD})

    async def rest(minutes: int) -> None:
        async with db.worker() as session:
            mine = sa.update(SessionRow).where(SessionRow.user_id == person.user_id)
            await session.execute(mine.values(last_used_at=db.now() - timedelta(minutes=minutes)))

    await rest(settings().session_idle_minutes - 1)
    await person.call("GET", "/auth/me")
    await rest(settings().session_idle_minutes + 1)
    assert (await problem_of(person.call("GET", "/auth/me"))).status == 401
    assert (await problem_of(person.call("GET", "/auth/me"))).status == 401, "a status read does not extend it"
    listed = await world.client.call("GET", "/auth/sessions", token=tokens["access_token"])
    assert [s["kind"] for s in listed["sessions"]] == ["token"], "programs have no idle timeout"


async def test_session_ends_at_its_maximum_age_despite_use(world: World) -> None:
    person = await world.person(await world.organization())
    tokens = await world.client.call("POST", "/auth/login", json={"email": person.email, "password": PASSWORD})
    refresh = {"refresh_token": tokens["refresh_token"]}
    elsewhere = await world.sign_in(person.email)
    async with db.worker() as session:
        query = sa.select(SessionRow).where(SessionRow.user_id == person.user_id)
        for row in await session.scalars(query.order_by(SessionRow.created_at.desc()).limit(2)):
            days = settings().session_days if row.kind == "browser" else 90
            assert abs(row.expires_at - row.created_at - timedelta(days=days)) < timedelta(minutes=1)
    await world.client.call("GET", "/auth/me", cookie=elsewhere)
    async with db.worker() as session:
        mine = sa.update(SessionRow).where(SessionRow.user_id == person.user_id)
        await session.execute(mine.values(expires_at=db.now(), last_used_at=db.now()))
    for call in (
        world.client.call("GET", "/auth/me", cookie=elsewhere),
        world.client.call("GET", "/auth/me", token=tokens["access_token"]),
        world.client.call("POST", "/auth/refresh", json=refresh),
    ):
        assert (await problem_of(call)).status == 401


@pytest.mark.long
async def test_sign_out_everywhere_ends_browsers_and_programs(world: World) -> None:
    person = await world.person(await world.organization())
    bystander = await world.person(await world.organization())
    elsewhere = await world.sign_in(person.email)
    tokens = await world.client.call("POST", "/auth/login", json={"email": person.email, "password": PASSWORD})
    await person.call("DELETE", "/auth/sessions")
    for call in (
        person.call("GET", "/auth/me"),
        world.client.call("GET", "/auth/me", cookie=elsewhere),
        world.client.call("GET", "/auth/me", token=tokens["access_token"]),
        world.client.call("POST", "/auth/refresh", json={"refresh_token": tokens["refresh_token"]}),
    ):
        assert (await problem_of(call)).status == 401
    await bystander.call("GET", "/auth/me")


@pytest.mark.long
async def test_browser_signs_out_everywhere_by_its_own_post(world: World, browser: httpx.AsyncClient) -> None:
    person = await world.person(await world.organization())
    elsewhere = await world.sign_in(person.email)
    over = await world.sign_in(person.email)
    await world.client.call("POST", "/auth/logout", cookie=over)
    await browser.post("/session/end", data={"everywhere": "yes"}, headers={"cookie": over})
    await person.call("GET", "/auth/me")
    answer = await browser.post("/session/end", data={"everywhere": "yes"}, headers={"cookie": elsewhere})
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in")
    assert f'{cookie_name()}=""' in answer.headers["set-cookie"]
    for cookie in (person.cookie, elsewhere):
        assert (await problem_of(world.client.call("GET", "/auth/me", cookie=cookie))).status == 401


@pytest.mark.long
async def test_mails_about_keys_are_limited_and_have_no_links(world: World, limits: None) -> None:
    acme = await world.organization("Acme")
    admin = await world.person(acme)
    for number in range(22):
        body = {"name": f"https://evil.example/{number}", "scopes": ["orgs:read"]}
        await admin.call("POST", f"/orgs/{acme}/api-keys", json=body)
    sent = [text for subject, text in await mails(admin.email) if subject == "New API key in Signum"]
    assert len(sent) == 20
    assert not [text for text in sent if "evil.example" in text]
