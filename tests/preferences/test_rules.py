"""How hidden cards and seen times are kept."""

from hypothesis import given
from hypothesis import strategies as st

from backend.preferences import rules
from backend.preferences.schemas import MOST

CARDS = st.lists(st.sampled_from([f"card-{letter}" for letter in "abcdef"]), max_size=6)
TIMES = st.integers(min_value=0, max_value=59).map(lambda second: f"2026-11-20T12:00:{second:02}.000000Z")


@given(CARDS, CARDS, CARDS)
def test_hidden_cards_are_those_hidden_and_not_shown(before: list[str], hide: list[str], show: list[str]) -> None:
    before = list(dict.fromkeys(before))
    after = rules.hidden(before, hide, show)
    assert set(after) == (set(before) | set(hide)) - set(show)
    assert len(after) == len(set(after))
    assert rules.hidden(after, hide, show) == after, "the same change again changes nothing"


def test_hidden_cards_beyond_the_limit_are_the_oldest() -> None:
    before = [f"card-{n}" for n in range(MOST)]
    assert rules.hidden(before, ["new"], []) == [*before[1:], "new"]


@given(st.dictionaries(st.sampled_from("abc"), TIMES), st.sampled_from("abc"), TIMES)
def test_seen_time_never_goes_back(before: dict[str, str], organization: str, at: str) -> None:
    after = rules.seen(before, organization, at)
    assert after.keys() == before.keys() | {organization}
    assert all(after[one] >= time for one, time in before.items())
    assert after[organization] >= at


def test_seen_times_beyond_the_limit_are_the_oldest() -> None:
    before = {str(n): f"2026-11-20T12:{n // 60:02}:{n % 60:02}.000000Z" for n in range(MOST)}
    after = rules.seen(before, "new", "2026-11-21T00:00:00.000000Z")
    assert len(after) == MOST
    assert "0" not in after
    assert "new" in after
