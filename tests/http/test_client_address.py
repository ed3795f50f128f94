"""The client's address: when X-Forwarded-For is trusted, and from whom."""

from collections.abc import AsyncIterator
from ipaddress import ip_network
from typing import Any

import httpx
import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st

from backend.core.settings import Settings, settings
from backend.limits.client_address import CONSOLE, caller, is_own_origin
from tests.conftest import PASSWORD, World

PROXIES = [ip_network("10.0.0.0/8"), ip_network("fd00::/8")]


@pytest.mark.parametrize(
    ("peer", "forwarded", "found"),
    [
        ("203.0.113.9", [], "203.0.113.9"),
        ("203.0.113.9", ["198.51.100.7"], "203.0.113.9"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.7"], "198.51.100.7"),
        ("10.0.0.1", ["1.2.3.4, 198.51.100.7"], "198.51.100.7"),
        ("10.0.0.1", ["198.51.100.7, 10.9.9.9"], "198.51.100.7"),
        ("10.0.0.1", ["1.2.3.4", "198.51.100.7", "10.9.9.9"], "198.51.100.7"),
        ("10.0.0.1", ["10.0.0.2, 10.0.0.3"], "10.0.0.2"),
        ("10.0.0.1", ["198.51.100.7:4711"], "198.51.100.7"),
        ("fd00::1", ["[2001:db8::7]:4711"], "2001:db8::7"),
        ("fd00::1", ["2001:DB8::7"], "2001:db8::7"),
        ("10.0.0.1", ["::ffff:198.51.100.7"], "198.51.100.7"),
        ("10.0.0.1", ["198.51.100.7, unknown"], "10.0.0.1"),
        ("10.0.0.1", ["<script>"], "10.0.0.1"),
        ("10.0.0.1", [""], "10.0.0.1"),
        ("", ["198.51.100.7"], ""),
        (CONSOLE, ["198.51.100.7, 10.0.0.1"], "198.51.100.7"),
        (CONSOLE, ["1.2.3.4, 203.0.113.9"], "203.0.113.9"),
    ],
)
def test_client_address_is_read_from_the_right(peer: str, forwarded: list[str], found: str) -> None:
    assert caller(peer, forwarded, PROXIES) == found


@given(st.ip_addresses().filter(lambda a: not any(a in n for n in PROXIES)), st.lists(st.text(max_size=60), max_size=4))
def test_client_address_cannot_be_forged(peer: Any, claims: list[str]) -> None:
    assert caller(str(peer), claims, PROXIES) == str(peer)
    assert caller("10.0.0.1", [*claims, str(peer)], PROXIES) == str(
        peer.ipv4_mapped if peer.version == 6 and peer.ipv4_mapped else peer
    )


@pytest_asyncio.fixture
async def http(api: Any) -> AsyncIterator[httpx.AsyncClient]:
    """A connection from a proxy's address."""
    transport = httpx.ASGITransport(app=api, raise_app_exceptions=False, client=("10.0.0.1", 4711))
    async with httpx.AsyncClient(transport=transport, base_url=settings().origin) as client:
        yield client


@pytest.mark.parametrize(("proxies", "address"), [(PROXIES, "198.51.100.7"), ([], "10.0.0.1")])
async def test_session_records_the_client_address(
    world: World, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, proxies: list[Any], address: str
) -> None:
    monkeypatch.setattr(settings(), "trusted_proxies", proxies)
    ada = await world.person(await world.organization())
    body = {"email": ada.email, "password": PASSWORD}
    response = (
        await http.post("/v1/auth/login", json=body, headers={"x-forwarded-for": "1.2.3.4, 198.51.100.7"})
    ).json()
    sessions = await world.client.call("GET", "/auth/sessions", token=response["access_token"])
    assert next(s["address"] for s in sessions["sessions"] if s["current"]) == address


@pytest.mark.parametrize(
    ("origin", "own", "is_own"),
    [
        ("https://signum.example", ["https://signum.example"], True),
        ("https://SIGNUM.example:443", ["https://signum.example"], True),
        ("http://[::1]:8000", ["http://[::1]:8000"], True),
        ("http://signum.example", ["https://signum.example"], False),
        ("https://signum.example:8443", ["https://signum.example"], False),
        ("http://signum.example:443", ["https://signum.example"], False),
        ("ftp://https://signum.example", ["https://signum.example"], False),
        ("https://evil.example@signum.example", ["https://signum.example"], False),
        ("https://signum.example/", ["https://signum.example"], False),
        ("https://signum.example:x", ["https://signum.example"], False),
        ("signum.example", ["https://signum.example"], False),
        ("null", ["https://signum.example"], False),
        ("", [], False),
    ],
)
def test_origins_are_compared_by_scheme_host_and_port(origin: str, own: list[str], is_own: bool) -> None:
    assert is_own_origin(origin, own) is is_own


def test_origins_of_a_public_url_exclude_local_ones() -> None:
    assert Settings(public_url="https://signum.example/").origins == ["https://signum.example"]
    assert set(Settings(port=8123).origins) == {
        "http://localhost:8123", "http://127.0.0.1:8123", "http://[::1]:8123",
    }  # fmt: skip


async def test_sign_in_from_another_scheme_is_refused(http: httpx.AsyncClient) -> None:
    form = {"email": "a@example.com", "password": PASSWORD}
    other = settings().origin.replace("http://", "https://")
    answer = await http.post("/session", data=form, headers={"origin": other})
    assert (answer.status_code, answer.headers["content-type"]) == (403, "application/problem+json")
    assert "SIGNUM_PUBLIC_URL" in answer.json()["detail"]
