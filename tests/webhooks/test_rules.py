"""Schedule, URLs, addresses, signatures."""

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks.webhooks import Webhook

from backend.core.errors import BadRequest
from backend.webhooks import rules, signatures
from backend.webhooks.addresses import is_loopback_host, is_public
from backend.webhooks.rules import Policy

STRICT = Policy(loopback=False, ports=frozenset({443, 8443}))
EMBEDDED = Policy(loopback=True, ports=frozenset({443, 8443}))


def test_retry_schedule_has_ten_attempts_within_about_three_days() -> None:
    waits = [rules.next_wait(attempt, 0.5) for attempt in range(1, 11)]
    hours = [w / timedelta(hours=1) for w in waits[2:9] if w]
    assert waits[:2] == [timedelta(seconds=5), timedelta(minutes=5)]
    assert hours == [0.5, 2, 5, 10, 14, 20, 24]
    assert waits[9] is None
    assert timedelta(days=3) < sum(filter(None, waits), timedelta()) < timedelta(days=3.5)


@given(st.integers(1, 9), st.floats(0, 1))
def test_retry_jitter_is_at_most_a_tenth(attempt: int, chance: float) -> None:
    wait, usual = rules.next_wait(attempt, chance), rules.RETRIES[attempt - 1]
    assert wait is not None
    assert 0.9 * usual <= wait + timedelta(microseconds=1)
    assert wait - timedelta(microseconds=1) <= 1.1 * usual


@pytest.mark.parametrize(
    "text",
    [
        "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1",
        "169.254.169.254", "100.64.0.1", "100.100.100.200", "168.63.129.16", "192.0.0.192", "192.0.2.1",
        "198.18.0.1", "198.51.100.7", "203.0.113.7", "192.88.99.1", "224.0.0.1", "239.255.255.255", "240.0.0.1",
        "255.255.255.255", "::", "::1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:169.254.169.254",
        "::8.8.8.8", "64:ff9b::8.8.8.8", "64:ff9b:1::1", "2002:7f00:1::", "2001::1", "2001:db8::1", "3fff::1",
        "fe80::1", "fe80::1%eth0", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1", "2606:4700::1%lo",
    ],
)  # fmt: skip
def test_special_purpose_address_is_not_public(text: str) -> None:
    assert not is_public(ip_address(text))


@pytest.mark.parametrize("text", ["1.1.1.1", "8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450::1"])
def test_global_address_is_public(text: str) -> None:
    assert is_public(ip_address(text))


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://example.com/", "not https"),
        ("https://example.com:22/", "port 22"),
        ("https://example.com:8080/", "443, 8443"),
        ("https://10.0.0.1/", "not public"),
        ("https://[::ffff:10.0.0.1]/", "not public"),
        ("https://[fe80::1]/", "not public"),
        ("https://169.254.169.254/latest/meta-data", "not public"),
        ("https://localhost/", "this machine"),
        ("http://127.0.0.1:9000/", "this machine"),
        ("http://[::1]:9000/", "this machine"),
    ],
)
def test_forbidden_url_is_rejected(url: str, words: str) -> None:
    with pytest.raises(BadRequest, match=words):
        rules.check_url(url, STRICT)


@pytest.mark.parametrize("url", ["http://localhost:9000/a?b=c", "http://127.0.0.1/", "https://[::1]:8443/x"])
def test_loopback_url_is_accepted_when_allowed(url: str) -> None:
    assert is_loopback_host(rules.check_url(url, EMBEDDED).host)


def test_loopback_url_by_another_name_or_system_port_is_rejected() -> None:
    for url in ("http://localhost:22/", "http://127.0.0.1.nip.io:9000/", "http://192.168.0.1:9000/", "http://0/"):
        with pytest.raises(BadRequest):
            rules.check_url(url, EMBEDDED)


def test_url_is_split_into_its_parts() -> None:
    to = rules.target("https://Example.com:8443/a/b?c=d&e")
    assert (to.scheme, to.host, to.port, to.path, to.authority) == (
        "https", "example.com", 8443, "/a/b?c=d&e", "example.com:8443",
    )  # fmt: skip
    assert rules.target("https://example.com").path == "/"
    assert rules.target("https://[2606:4700::1]/").authority == "[2606:4700::1]"


def test_signature_matches_the_published_vector() -> None:
    secret = signatures.PREFIX + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    signed = signatures.sign(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert signed == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_signature_is_accepted_by_the_library_receiver() -> None:
    secret, at = signatures.new_secret(), datetime.now(UTC)
    assert len(Webhook(secret)._whsecret) == 32
    body = b'{"type":"asset.created"}'
    assert Webhook(secret).sign("evt", at, body.decode()) == signatures.sign(secret, "evt", int(at.timestamp()), body)
    headers = signatures.headers([signatures.new_secret(), secret], "evt", int(at.timestamp()), body)
    assert Webhook(secret).verify(body, headers) == {"type": "asset.created"}
