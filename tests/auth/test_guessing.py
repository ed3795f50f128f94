"""Password guesses from many addresses: slowed down per account, without locking the owner out."""

from ipaddress import ip_network
from typing import Any, cast

import httpx
import pytest
from structlog.testing import capture_logs

from backend.auth.principal import Context
from backend.core.readiness import readiness
from backend.core.runtime import runtime
from backend.core.settings import settings
from backend.limits import proxy_warning
from backend.limits.client_address import group, is_ignored, network
from backend.sign_in.known_devices import device_cookie
from tests.conftest import PASSWORD, World
from tests.users.test_accounts import links

HEADERS = {"origin": settings().origin}


class Visitor:
    """A browser or program at an address."""

    def __init__(self, api: Any, address: str) -> None:
        transport = httpx.ASGITransport(app=api, raise_app_exceptions=False, client=(address, 4711))
        self.http = httpx.AsyncClient(transport=transport, base_url=settings().origin, headers=HEADERS)

    async def login(self, email: str, password: str = "a guess") -> int:
        """Return the status of a sign-in as a program."""
        body = {"email": email, "password": password}
        return (await self.http.post("/v1/auth/login", json=body)).status_code

    async def sign_in(self, email: str, password: str = "a guess") -> str:
        """Return the redirect of a sign-in by the console's form."""
        answer = await self.http.post("/session", data={"email": email, "password": password})
        return answer.headers["location"].partition("&")[0]


@pytest.mark.long
async def test_guesses_from_many_addresses_reach_the_account_limit(api: Any, world: World, limits: None) -> None:
    person = await world.person(await world.organization())
    answers = [await Visitor(api, f"198.51.{n}.7").login(person.email) for n in range(25)]
    assert answers == [401] * 20 + [429] * 5
    right = await Visitor(api, "203.0.113.1").login(person.email, PASSWORD)
    assert right == 429, "an unknown device waits, even with the right password"
    unknown = [await Visitor(api, f"198.51.{n}.8").login("unknown@example.com") for n in range(25)]
    assert unknown == answers, "the responses do not reveal whether an account has the address"


@pytest.mark.long
async def test_known_browser_of_the_owner_signs_in_during_guesses(api: Any, world: World, limits: None) -> None:
    person = await world.person(await world.organization())
    browser = Visitor(api, "203.0.113.5")
    assert await browser.sign_in(person.email.upper(), PASSWORD) == "/"
    cookie = browser.http.cookies[device_cookie()]
    assert person.email not in cookie
    for n in range(25):
        await Visitor(api, f"198.51.{n}.7").login(person.email)
    for _ in range(12):  # from the owner's address too, as behind a proxy that is not in the settings
        await Visitor(api, "203.0.113.5").login(person.email)
    assert await Visitor(api, "203.0.113.5").sign_in(person.email, PASSWORD) == "/sign-in?error=slow"
    assert await browser.sign_in(person.email, PASSWORD) == "/"


@pytest.mark.long
async def test_known_browser_guesses_are_limited(api: Any, world: World, limits: None) -> None:
    acme = await world.organization()
    person, victim = await world.person(acme), await world.person(acme)
    browser = Visitor(api, "203.0.113.5")
    await browser.sign_in(person.email, PASSWORD)
    mine = [await browser.sign_in(person.email) for _ in range(12)]
    assert mine == ["/sign-in?error=invalid"] * 10 + ["/sign-in?error=slow"] * 2
    others = [await browser.sign_in(victim.email) for _ in range(7)]
    assert others == ["/sign-in?error=invalid"] * 5 + ["/sign-in?error=slow"] * 2


@pytest.mark.long
async def test_forged_device_cookie_is_rejected(api: Any, world: World, limits: None) -> None:
    person = await world.person(await world.organization())
    for n in range(20):
        await Visitor(api, f"198.51.{n}.7").login(person.email)
    for forged in ("x", "AAAA" * 20, "e30=", ""):
        browser = Visitor(api, "203.0.113.9")
        browser.http.cookies.set(device_cookie(), forged)
        assert await browser.sign_in(person.email, PASSWORD) == "/sign-in?error=slow"


@pytest.mark.long
async def test_mailed_link_restores_access_for_the_owner(api: Any, world: World, limits: None) -> None:
    person, new = await world.person(await world.organization()), "a much better battery"
    for n in range(21):
        await Visitor(api, f"198.51.{n}.7").login(person.email)
    owner = Visitor(api, "203.0.113.1")
    assert await owner.login(person.email, PASSWORD) == 429
    await owner.http.post("/v1/auth/password/forgot", json={"email": person.email})
    [link] = await links(person.email)
    answer = await owner.http.post("/v1/auth/password/reset", json={"token": link, "password": new})
    assert answer.status_code == 204
    assert await owner.login(person.email, new) == 200


@pytest.mark.long
async def test_ipv6_address_counts_by_its_64_bit_prefix(api: Any, world: World, limits: None) -> None:
    person = await world.person(await world.organization())
    answers = [await Visitor(api, f"2001:db8:1:2::{n:x}").login(person.email) for n in range(1, 8)]
    assert answers == [401] * 5 + [429] * 2
    assert await Visitor(api, "2001:db8:1:3::1").login(person.email) == 401


def test_caller_without_credential_counts_by_its_64_bit_prefix() -> None:
    names = {Context(cast(Any, None), None, None, address=f"2001:db8:1:2::{n:x}").name for n in range(1, 8)}
    assert names == {"address:2001:db8:1:2::/64"}


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:198.51.100.7", "198.51.100.7"),
        ("198.51.100.7", "198.51.100.7"),
        ("console", "console"),
        ("", ""),
    ],
)
def test_rate_limit_group_is_the_address_block_of_one_customer(address: str, counted: str) -> None:
    assert group(address) == counted


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"),
        ("2001:db8:1:ffff::1", "2001:db8:1::/48"),
        ("::ffff:198.51.100.7", None),
        ("198.51.100.7", None),
        ("console", None),
        ("", None),
    ],
)
def test_ipv6_network_has_48_bits_and_ipv4_has_none(address: str, counted: str | None) -> None:
    assert network(address) == counted


@pytest.mark.parametrize(
    ("peer", "forwarded", "ignored"),
    [
        ("10.0.0.1", ["198.51.100.7"], False),
        ("10.0.0.1", ["1.2.3.4, 198.51.100.7"], False),
        ("203.0.113.9", ["198.51.100.7"], True),
        ("203.0.113.9", [], False),
        ("console", ["203.0.113.9"], False),
        ("console", ["198.51.100.7, 203.0.113.9"], True),
        ("console", ["198.51.100.7, 10.0.0.1"], False),
    ],
)
def test_forwarded_for_from_a_stranger_is_ignored(peer: str, forwarded: list[str], ignored: bool) -> None:
    assert is_ignored(peer, forwarded, [ip_network("10.0.0.0/8")]) is ignored


@pytest.mark.long
async def test_forwarded_for_from_an_untrusted_peer_is_logged_once(
    api: Any, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readiness(), "notes", [])
    runtime.reset(proxy_warning.Sighting)
    behind = Visitor(api, "10.0.0.1")
    behind.http.headers["x-forwarded-for"] = "198.51.100.7"
    with capture_logs() as response:
        for _ in range(3):
            await behind.login("unknown@example.com")
    assert [(entry["event"], entry["peer"]) for entry in response] == [("forwarded_for.ignored", "10.0.0.1")]
    notes = (await world.client.call("GET", "/ready"))["notes"]
    assert proxy_warning.NOTE in notes
    assert "10.0.0.1" not in str(notes)
    runtime.reset(proxy_warning.Sighting)
    monkeypatch.setattr(settings(), "trusted_proxies", [ip_network("10.0.0.0/8")])
    await behind.login("unknown@example.com")
    assert proxy_warning.NOTE not in (await world.client.call("GET", "/ready"))["notes"]
