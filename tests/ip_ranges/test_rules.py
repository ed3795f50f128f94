"""Allowed IP ranges: their canonical form, and which addresses they contain."""

from ipaddress import IPv4Network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.core.errors import Forbidden, Invalid
from backend.core.ip_ranges import address_of, check_distinct, contains, cover, narrowed, normalized


@pytest.mark.parametrize(
    ("given_", "kept"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("203.0.113.7/32", "203.0.113.7"),
        ("203.0.113.0/24", "203.0.113.0/24"),
        ("2001:DB8::7", "2001:db8::7"),
        ("2001:0db8:0000::/48", "2001:db8::/48"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("::ffff:203.0.113.0/120", "203.0.113.0/24"),
    ],
)
def test_range_is_stored_in_canonical_form(given_: str, kept: str) -> None:
    assert normalized(given_) == kept
    assert normalized(kept) == kept


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("10.0.0.1/8", "has host bits set; the network is 10.0.0.0/8"),
        ("2001:db8::1/32", "has host bits set; the network is 2001:db8::/32"),
        ("::ffff:10.0.0.1/104", "has host bits set; the network is 10.0.0.0/8"),
        *[(text, "covers every address") for text in ("0.0.0.0/0", "::/0", "::ffff:0:0/96", "10.0.0.1/0")],
        *[
            (text, "is not an IP address or CIDR range")
            for text in (
                "",
                "office",
                "10.0.0.0/33",
                "10.0.0.0/255.0.0.0",
                "10.0.0",
                "010.0.0.1",
                "fe80::1%eth0",
                " 10.0.0.1",
                "10.0.0.1\n",
                "١٠.0.0.1",
                "10.0.0.1/",
                "10.0.0.1,10.0.0.2",
            )
        ],
    ],
)
def test_malformed_range_is_rejected_with_a_reason(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        normalized(text)


def test_duplicate_range_is_rejected_at_its_entry() -> None:
    check_distinct(["10.0.0.0/8", "10.1.0.0/16"])
    with pytest.raises(Invalid) as refused:
        check_distinct(["10.0.0.1", "10.0.0.2", "10.0.0.1"])
    assert refused.value.errors == [{"pointer": "/allowed_ip_ranges/2", "detail": "is a duplicate of 10.0.0.1"}]


@pytest.mark.parametrize(
    ("address", "is_contained"),
    [
        ("203.0.113.7", True),
        ("203.0.114.7", False),
        ("::ffff:203.0.113.7", True),
        ("2001:db8::7", True),
        ("2001:db9::7", False),
        ("fe80::1%eth0", True),
        ("console", False),
        ("", False),
    ],
)
def test_address_is_compared_with_ranges_of_its_own_version(address: str, is_contained: bool) -> None:
    assert contains(["203.0.113.0/24", "2001:db8::/32", "fe80::1"], address_of(address)) is is_contained


@given(st.ip_addresses())
def test_address_is_contained_in_itself(address: object) -> None:
    found = address_of(str(address))
    assert found is not None
    assert contains([normalized(found)], found)


def test_key_created_by_a_key_stays_within_its_ranges() -> None:
    held = ("10.0.0.0/8", "2001:db8::/32")
    assert narrowed([], ()) == []
    assert narrowed(["10.1.0.0/16"], ()) == ["10.1.0.0/16"]
    assert narrowed([], held) == list(held)
    assert narrowed(["10.1.0.0/16", "2001:db8::7"], held) == ["10.1.0.0/16", "2001:db8::7"]
    with pytest.raises(Forbidden, match=r"11\.0\.0\.0/8 is not within 10\.0\.0\.0/8"):
        narrowed(["10.1.0.0/16", "11.0.0.0/8"], held)


@pytest.mark.parametrize(
    ("wide", "narrow", "covers"),
    [
        ([], [], True),
        ([], ["203.0.113.7"], True),
        (["203.0.113.7"], [], False),
        (["203.0.113.0/24"], ["203.0.113.7", "203.0.113.128/25"], True),
        (["203.0.113.0/24"], ["203.0.113.7", "198.51.100.1"], False),
        (["203.0.113.0/25"], ["203.0.113.0/24"], False),
        (["2001:db8::/32", "203.0.113.7"], ["2001:db8:1::/48"], True),
        (["2001:db8::/32"], ["203.0.113.7"], False),
    ],
)
def test_ranges_cover_ranges_that_allow_nothing_more(wide: list[str], narrow: list[str], *, covers: bool) -> None:
    assert cover(wide, narrow) is covers


RANGES = st.builds(
    lambda last, prefix: normalized(str(IPv4Network((0xCB007100 | last, prefix), strict=False))),
    st.integers(0, 255),
    st.integers(24, 32),
)
"""Ranges within 203.0.113.0/24, so that they overlap often."""


@given(st.lists(RANGES, max_size=4), st.lists(RANGES, max_size=4), st.integers(0, 255))
def test_address_in_covered_ranges_is_allowed_by_the_covering_ranges(
    wide: list[str], narrow: list[str], last: int
) -> None:
    address = f"203.0.113.{last}"
    if cover(wide, narrow) and wide and contains(narrow, address):
        assert contains(wide, address)
