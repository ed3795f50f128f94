"""Finding addresses in whatever is pasted."""

from hypothesis import given
from hypothesis import strategies as st

from state.addresses import find_addresses

ADDRESS = st.from_regex(r"[a-z][a-z0-9]{0,8}@[a-z]{1,8}\.[a-z]{2,4}", fullmatch=True)
BETWEEN = st.sampled_from([", ", "; ", "\n", "\t", " ", ">, <", " | ", "\r\n"])


def test_a_mail_is_read() -> None:
    text = "Marta Lindqvist <Marta@l.example>; please add mailto:a@b.example, (c@d.example). Thanks!\nmarta@l.example"
    assert find_addresses(text) == (["Marta@l.example", "a@b.example", "c@d.example"], 1)


def test_what_is_meant_as_an_address_is_kept_for_the_check() -> None:
    assert find_addresses("two@@signs.example @ no at-all").addresses == ["two@@signs.example"]


def test_text_without_addresses_has_none() -> None:
    assert find_addresses("Dear all,\nsee you - tomorrow.") == ([], 0)


@given(st.lists(ADDRESS, unique_by=str.casefold, max_size=60), BETWEEN)
def test_every_address_is_found_once_in_order(addresses: list[str], between: str) -> None:
    assert find_addresses(between.join(addresses)) == (addresses, 0)


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    found = find_addresses(text)
    assert len({a.casefold() for a in found.addresses}) == len(found.addresses)
    assert all("@" in a for a in found.addresses)
