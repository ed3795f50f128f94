"""Password resets and changes, sessions listed and ended."""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable
from datetime import timedelta
from typing import Any

import httpx
import pytest
import pytest_asyncio
import sqlalchemy as sa

from backend.auth.models import OneTimeSecretRow, SessionRow
from backend.auth.secrets import digest
from backend.client import ApiProblem
from backend.core import db
from backend.core.settings import settings
from backend.mail.models import OutboxRow
from backend.server import runtime
from backend.users.models import MemberRow
from backend.users.schemas import Role
from tests.conftest import PASSWORD, Actor, World

NEW = "a better horse battery"


@pytest_asyncio.fixture
async def http(api: Any) -> AsyncIterator[httpx.AsyncClient]:
    """Plain HTTP client."""
    transport = runtime.local_transport(api)
    async with httpx.AsyncClient(transport=transport, base_url=settings().origin) as client:
        yield client


async def links(email: str) -> list[str]:
    """Return the tokens that were emailed to an address, the oldest first."""
    async with db.worker() as session:
        query = sa.select(OutboxRow.body).where(OutboxRow.recipient == email).order_by(OutboxRow.created_at)
        bodies = (await session.execute(query)).scalars().all()
    return [token for b in bodies for token in re.findall(r"/reset-password\?token=([\w-]+)", b)]


async def forget(world: World, email: str) -> list[str]:
    """Request a link; return every token that was emailed."""
    await world.client.call("POST", "/auth/password/forgot", json={"email": email})
    return await links(email)


async def status_of(call: Awaitable[Any]) -> int:
    """Return 200, or the status of the problem."""
    try:
        await call
    except ApiProblem as problem:
        return problem.status
    return 200


async def signs_in(world: World, email: str, password: str) -> bool:
    """Return whether a password is valid."""
    login = world.client.call("POST", "/auth/login", json={"email": email, "password": password})
    return await status_of(login) == 200


async def is_signed_in(person: Actor) -> bool:
    """Return whether the person's browser session is alive."""
    return await status_of(person.call("GET", "/auth/me")) == 200


async def refused(world: World, status: int, path: str, body: dict[str, Any], **options: Any) -> ApiProblem:
    """Return the problem of a POST."""
    with pytest.raises(ApiProblem) as problem:
        await world.client.call("POST", path, json=body, **options)
    assert problem.value.status == status
    return problem.value


@pytest.mark.long
async def test_forgotten_password_is_reset_by_mail(world: World) -> None:
    person = await world.person(await world.organization())
    tokens = await world.client.call("POST", "/auth/login", json={"email": person.email, "password": PASSWORD})
    await forget(world, person.email.upper())
    [link] = await links(person.email)
    assert await signs_in(world, person.email, PASSWORD)

    short = await refused(world, 400, "/auth/password/reset", {"token": link, "password": "short"})
    assert short.by_field()["password"]
    assert await world.client.call("POST", "/auth/password/reset/check", json={"token": link}) is None
    await refused(world, 400, "/auth/password/reset/check", {"token": link[:-1]})
    await world.client.call("POST", "/auth/password/reset", json={"token": link, "password": NEW})
    await refused(world, 400, "/auth/password/reset/check", {"token": link})
    assert not await signs_in(world, person.email, PASSWORD)
    assert await signs_in(world, person.email, NEW)
    assert not await is_signed_in(person)
    await refused(world, 401, "/auth/refresh", {"refresh_token": tokens["refresh_token"]})
    await refused(world, 400, "/auth/password/reset", {"token": link, "password": PASSWORD})
    assert await signs_in(world, person.email, NEW)


@pytest.mark.long
async def test_reset_link_is_not_readable_through_the_api(world: World, database_url: str) -> None:
    """The link gives access to the account, so an admin sees only that an email was written."""
    acme = await world.organization()
    admin, victim = await world.person(acme), await world.person(acme)
    [link] = await forget(world, victim.email)
    everything = await world.key(acme)
    for options in ({"cookie": admin.cookie}, {"cookie": victim.cookie}, {"headers": everything}):
        response = await world.client.call("GET", f"/orgs/{acme}/outbox", **options)
        [mail] = [m for m in response["mails"] if m["recipient"] == victim.email]
        assert (mail["subject"], mail["body"], mail["is_private"]) == ("Reset your Signum password", None, True)
        assert link not in str(response)
    assert link not in str(await admin.call("GET", f"/orgs/{acme}/audit"))
    run = [sys.executable, "-m", "backend.cli", "outbox", "--to", victim.email.upper()]
    environment = os.environ | {"DATABASE_URL": database_url}
    done = await asyncio.to_thread(
        subprocess.run, run, env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert link in done.stdout, "the operator has it"


async def test_reset_link_ignores_forged_host_headers(world: World, http: httpx.AsyncClient) -> None:
    person = await world.person(await world.organization())
    poison = {
        "host": "evil.example", "x-forwarded-host": "evil.example", "forwarded": "host=evil.example",
        "origin": "https://evil.example", "referer": "https://evil.example/", "x-forwarded-proto": "gopher",
    }  # fmt: skip
    answer = await http.post("/v1/auth/password/forgot", json={"email": person.email}, headers=poison)
    assert answer.status_code == 204
    async with db.worker() as session:
        [body] = await session.scalars(sa.select(OutboxRow.body).where(OutboxRow.recipient == person.email))
    assert f" {settings().origin}/reset-password?token=" in body
    assert "evil" not in body
    assert "gopher" not in body


@pytest.mark.long
async def test_reset_link_expires_after_half_an_hour_or_a_newer_one(world: World) -> None:
    person = await world.person(await world.organization())
    await forget(world, person.email)
    async with db.worker() as session:
        row = await session.execute(sa.select(OneTimeSecretRow).where(OneTimeSecretRow.user_id == person.user_id))
        secret = row.scalar_one()
        assert secret.expires_at - secret.created_at <= timedelta(minutes=30, seconds=1)
        secret.created_at = db.now() - timedelta(minutes=2)
    first, second = await forget(world, person.email)
    async with db.worker() as session:
        late = sa.update(OneTimeSecretRow).where(OneTimeSecretRow.secret_hash == digest(first))
        await session.execute(late.values(expires_at=db.now() - timedelta(seconds=1)))
    await refused(world, 400, "/auth/password/reset", {"token": first, "password": NEW})
    await world.client.call("POST", "/auth/password/reset", json={"token": second, "password": NEW})
    assert await signs_in(world, person.email, NEW)


async def test_reset_link_use_invalidates_the_others(world: World) -> None:
    person = await world.person(await world.organization())
    await forget(world, person.email)
    async with db.worker() as session:
        mine = sa.update(OneTimeSecretRow).where(OneTimeSecretRow.user_id == person.user_id)
        await session.execute(mine.values(created_at=db.now() - timedelta(minutes=2)))
    first, second = await forget(world, person.email)
    assert await forget(world, person.email) == [first, second]
    await world.client.call("POST", "/auth/password/reset", json={"token": second, "password": NEW})
    await refused(world, 400, "/auth/password/reset", {"token": first, "password": PASSWORD})


async def test_password_reset_does_not_reveal_accounts(world: World, http: httpx.AsyncClient) -> None:
    person = await world.person(await world.organization())
    answers = [
        await http.post("/v1/auth/password/forgot", json={"email": e}) for e in (person.email, "unknown@example.com")
    ]
    assert [(a.status_code, a.content) for a in answers] == [(204, b""), (204, b"")]
    assert await links("unknown@example.com") == []
    assert (await http.post("/v1/auth/password/forgot", json={"email": "no address"})).status_code == 422
    for token in ("", "x" * 300):
        answer = await http.post("/v1/auth/password/reset", json={"token": token, "password": NEW})
        assert answer.status_code == 422


@pytest.mark.long
async def test_password_change_requires_the_current_password(world: World) -> None:
    person = await world.person(await world.organization())
    other = await world.sign_in(person.email)
    [link] = await forget(world, person.email)
    body = {"current_password": "wrong", "new_password": NEW}
    wrong = await refused(world, 400, "/auth/password/change", body, cookie=person.cookie)
    assert wrong.by_field()["current_password"]
    body = {"current_password": PASSWORD, "new_password": "short"}
    short = await refused(world, 400, "/auth/password/change", body, cookie=person.cookie)
    assert short.by_field()["new_password"]
    assert await signs_in(world, person.email, PASSWORD)

    body = {"current_password": PASSWORD, "new_password": NEW}
    await person.call("POST", "/auth/password/change", json=body)
    assert await signs_in(world, person.email, NEW)
    assert await is_signed_in(person)
    assert not await is_signed_in(Actor(person.user_id, person.email, other, world.client))
    await refused(world, 400, "/auth/password/reset", {"token": link, "password": PASSWORD})
    key = await world.key(await world.organization(), created_by=person.user_id)
    await refused(world, 403, "/auth/password/change", body, headers=key)
    await refused(world, 401, "/auth/password/change", body)


async def test_password_change_is_not_logged_in_organizations(world: World) -> None:
    acme, other = await world.organization(), await world.organization("Other")
    person, admin = await world.person(acme), await world.person(other)
    async with db.worker() as session:
        session.add(MemberRow(organization_id=other, user_id=person.user_id, role=Role.VIEWER))
    body = {"current_password": PASSWORD, "new_password": NEW}
    await person.call("POST", "/auth/password/change", json=body)
    for reader, organization in ((admin, other), (person, acme)):
        log = (await reader.call("GET", f"/orgs/{organization}/audit"))["audit"]
        [entry] = [e for e in log if e["action"] == "user.password_changed"]
        assert (entry["actor"], entry["address"]) == (str(person.user_id), None)


@pytest.mark.long
async def test_reset_links_and_guesses_are_limited(world: World, http: httpx.AsyncClient, limits: None) -> None:
    person = await world.person(await world.organization())
    asked = [await http.post("/v1/auth/password/forgot", json={"email": person.email}) for _ in range(7)]
    assert [a.status_code for a in asked] == [204] * 5 + [429] * 2
    assert int(asked[-1].headers["retry-after"]) > 0
    assert len(await links(person.email)) == 1
    many = [await http.post("/v1/auth/password/forgot", json={"email": f"a{n}@example.com"}) for n in range(6)]
    assert many[-1].status_code == 429
    headers = {"cookie": person.cookie, "origin": settings().origin}
    body = {"current_password": "guess", "new_password": NEW}
    guesses = [await http.post("/v1/auth/password/change", json=body, headers=headers) for _ in range(6)]
    assert [g.status_code for g in guesses] == [400] * 5 + [429]
    right = body | {"current_password": PASSWORD}
    assert (await http.post("/v1/auth/password/change", json=right, headers=headers)).status_code == 429


async def test_sessions_are_listed_and_ended(world: World) -> None:
    acme = await world.organization()
    person, other = await world.person(acme), await world.person(acme)
    tokens = await world.client.call("POST", "/auth/login", json={"email": person.email, "password": PASSWORD})
    listed = (await person.call("GET", "/auth/sessions"))["sessions"]
    assert [(s["kind"], s["current"]) for s in listed] == [("token", False), ("browser", True)]
    assert "token_hash" not in listed[0]
    page = await person.call("GET", "/auth/sessions", params={"limit": 1})
    assert len(page["sessions"]) == 1
    assert page["nextCursor"]

    with pytest.raises(ApiProblem) as foreign:
        await other.call("DELETE", f"/auth/sessions/{listed[0]['id']}")
    assert foreign.value.status == 404
    await person.call("DELETE", f"/auth/sessions/{listed[0]['id']}")
    with pytest.raises(ApiProblem) as ended:
        await world.client.call("GET", "/auth/me", token=tokens["access_token"])
    assert ended.value.status == 401
    with pytest.raises(ApiProblem) as again:
        await person.call("DELETE", f"/auth/sessions/{listed[0]['id']}")
    assert again.value.status == 404
    await person.call("DELETE", f"/auth/sessions/{listed[1]['id']}")
    assert not await is_signed_in(person)


async def test_session_last_use_is_written_at_most_once_a_minute(world: World) -> None:
    person = await world.person(await world.organization())

    async def last_use(age: timedelta) -> bool:
        """Return whether a use writes, `age` after the previous one."""
        before = db.now() - age
        mine = SessionRow.user_id == person.user_id
        async with db.worker() as session:
            await session.execute(sa.update(SessionRow).where(mine).values(last_used_at=before))
        await person.call("GET", "/auth/me")
        async with db.worker() as session:
            return bool(await session.scalar(sa.select(SessionRow.last_used_at).where(mine)) != before)

    assert await last_use(timedelta(seconds=0)) is False
    assert await last_use(timedelta(seconds=61)) is True
    async with db.worker() as slow:
        await slow.execute(sa.text("select 1 from sessions where user_id = :u for update"), {"u": person.user_id})
        assert await is_signed_in(person)
