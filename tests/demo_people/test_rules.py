"""The demo's decisions: whose request is local, and what people are about to do."""

import pytest

from backend.demo_people import rules
from backend.demo_people.rules import Sender
from backend.limits.client_address import CONSOLE

ORIGINS = ["http://localhost:8000", "http://127.0.0.1:8000"]
OWN = {"host": "localhost:8000", "origin": "http://localhost:8000"}


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.4.5.6", "::1", "::ffff:127.0.0.1"])
@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1", "[::1]:8000"])
def test_request_of_a_local_browser_is_local(peer: str, host: str) -> None:
    sender = Sender.of(peer, [("Host", host), ("Origin", "http://localhost:8000")])
    assert sender.is_local(ORIGINS)
    assert sender.is_own_page(ORIGINS)


@pytest.mark.parametrize("peer", ["10.0.0.5", "192.168.1.4", "2001:db8::1", "::ffff:10.0.0.5", "", "testclient"])
def test_request_of_another_machine_is_not_local(peer: str) -> None:
    assert not Sender(peer, OWN).is_local(ORIGINS)


@pytest.mark.parametrize(
    "host", ["signum.example", "localhost.signum.example", "10.0.0.5:8000", "", "[::1", "127.0.0.1.nip.io"]
)
def test_request_by_another_name_of_this_machine_is_not_local(host: str) -> None:
    assert not Sender("127.0.0.1", {**OWN, "host": host}).is_local(ORIGINS)


@pytest.mark.parametrize(
    "header",
    [
        "forwarded",
        "x-forwarded-for",
        "x-forwarded-host",
        "x-forwarded-proto",
        "X-Forwarded-Anything",
        "x-real-ip",
        "via",
    ],
)
def test_request_through_a_proxy_is_not_local(header: str) -> None:
    assert not Sender.of("127.0.0.1", [*OWN.items(), (header, "127.0.0.1")]).is_local(ORIGINS)


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "http://localhost:9999", "https://localhost:8000", "null", ""]
)
def test_request_of_a_foreign_page_is_not_local(origin: str) -> None:
    sender = Sender("127.0.0.1", {**OWN, "origin": origin})
    assert not sender.is_local(ORIGINS)
    assert not sender.is_own_page(ORIGINS)


def test_request_without_an_origin_is_of_no_page() -> None:
    sender = Sender("127.0.0.1", {"host": "localhost:8000"})
    assert sender.is_local(ORIGINS)
    assert not sender.is_own_page(ORIGINS)


@pytest.mark.parametrize(
    ("forwarded", "is_local"),
    [("127.0.0.1", True), ("::1", True), ("10.0.0.5", False), ("10.0.0.5, 127.0.0.1", False), ("", False)],
)
def test_console_calls_for_the_browser_whose_peer_comes_last(forwarded: str, is_local: bool) -> None:
    sender = Sender.of(CONSOLE, [*OWN.items(), ("x-forwarded-for", forwarded)])
    assert sender.is_local(ORIGINS) is is_local


def test_tasks_count_what_waits() -> None:
    assert rules.officer_task(2) == "Reviews two investors"
    assert rules.officer_task(1) == "Reviews one investor"
    assert rules.officer_task(0) == "Checks attestations that expire soon"
    assert rules.admin_task(12) == "Has 12 approvals to decide"
    assert rules.admin_task(0) == "Issues a new asset"
    assert rules.investor_task(1) == "Claims income from one distribution"
    assert rules.investor_task(0) == "Follows holdings and income"
