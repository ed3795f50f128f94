"""Finding addresses in pasted text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.core.addresses import EACH, MOST, batches, find_addresses

ADDRESS = st.from_regex(r"[a-z][a-z0-9]{0,8}@[a-z]{1,8}\.[a-z]{2,4}", fullmatch=True)
BETWEEN = st.sampled_from([", ", "; ", "\n", "\t", " ", ">, <", " | ", "\r\n"])


def test_email_addresses_are_found_in_a_message() -> None:
    text = "Marta Lindqvist <Marta@l.example>; please add mailto:a@b.example, (c@d.example). Thanks!\nmarta@l.example"
    assert find_addresses(text) == (["Marta@l.example", "a@b.example", "c@d.example"], 1)


def test_malformed_email_address_is_kept_for_validation() -> None:
    assert find_addresses("two@@signs.example @ no at-all").addresses == ["two@@signs.example"]


def test_text_without_email_addresses_has_none() -> None:
    assert find_addresses("Dear all,\nsee you - tomorrow.") == ([], 0)


@pytest.mark.long
@given(st.lists(ADDRESS, unique_by=str.casefold, max_size=60), BETWEEN)
def test_email_addresses_are_found_once_in_order(addresses: list[str], between: str) -> None:
    assert find_addresses(between.join(addresses)) == (addresses, 0)


@given(st.text(max_size=300))
def test_email_address_search_accepts_any_text(text: str) -> None:
    found = find_addresses(text)
    assert len({a.casefold() for a in found.addresses}) == len(found.addresses)
    assert all("@" in a for a in found.addresses)


@pytest.mark.parametrize("count", [0, 1, EACH, EACH + 2, MOST, MOST + 3])
def test_addresses_are_checked_in_batches_up_to_the_limit(count: int) -> None:
    addresses = [f"a{i}@b.example" for i in range(count)]
    found = batches(addresses)
    assert [address for some in found for address in some] == addresses[:MOST]
    assert all(0 < len(some) <= EACH for some in found)
