"""Cookies of a sign-in: hidden from scripts and other sites, bound to this host with https."""

from collections.abc import AsyncIterator
from http.cookies import Morsel, SimpleCookie
from typing import Any

import httpx
import pytest
import pytest_asyncio

from backend.core.settings import settings
from backend.server import runtime
from tests.conftest import PASSWORD, World
from tests.factors.steps import set_up

HTTPS = "https://signum.example"


@pytest_asyncio.fixture(params=[None, HTTPS], ids=["http", "https"])
async def browser(
    request: pytest.FixtureRequest, api: Any, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[httpx.AsyncClient]:
    """A browser at an installation with http or https."""
    monkeypatch.setattr(settings(), "public_url", request.param)
    transport = runtime.local_transport(api)
    headers = {"origin": settings().origin}
    async with httpx.AsyncClient(transport=transport, base_url=settings().origin, headers=headers) as http:
        yield http


def cookies_of(answer: httpx.Response) -> dict[str, Morsel[str]]:
    """Return the cookies that a response sets, by name."""
    found: dict[str, Morsel[str]] = {}
    for header in answer.headers.get_list("set-cookie"):
        found |= SimpleCookie(header)
    return found


def check(answer: httpx.Response, *names: str) -> None:
    """Check that the response sets exactly these cookies, each with every protection."""
    found, prefix = cookies_of(answer), "__Host-" if settings().secure else ""
    assert found.keys() == {f"{prefix}{name}" for name in names}
    for cookie in found.values():
        assert cookie["httponly"] is True
        assert cookie["samesite"] == "lax"
        assert (cookie["path"], cookie["domain"]) == ("/", "")
        assert bool(cookie["secure"]) is settings().secure


async def test_sign_in_cookies_have_every_protection(browser: httpx.AsyncClient, world: World) -> None:
    person = await world.person(await world.organization())
    answer = await browser.post("/session", data={"email": person.email, "password": PASSWORD})
    assert answer.status_code == 303
    check(answer, "signum_session", "signum_device")


async def test_pending_factor_cookie_has_every_protection(
    browser: httpx.AsyncClient, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(settings(), "public_url", None)
        person = await world.person(await world.organization())
        await set_up(person)
    answer = await browser.post("/session", data={"email": person.email, "password": PASSWORD})
    assert answer.headers["location"].startswith("/sign-in/factor")
    check(answer, "signum_sign_in")
