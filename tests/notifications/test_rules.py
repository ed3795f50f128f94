"""Words of notifications."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.notifications import rules


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (rules.parties(1), "1 party waits for identity review"),
        (rules.parties(1200), "1,200 parties wait for identity review"),
        (rules.attestations(1), "1 attestation expires within 30 days"),
        (rules.attestations(2), "2 attestations expire within 30 days"),
        (rules.invitations(1), "1 invitation is still pending"),
        (rules.more(2, "failed request"), "2 more failed requests"),
        (rules.approval(("Priya Shah", "the API key Ledger")), "Priya Shah with the API key Ledger requested this."),
        (rules.approval((None, None)), "Someone requested this."),
        (rules.comment("Priya", "Why\n now? "), "Priya: Why now?"),
    ],
)
def test_notification_is_a_plain_sentence(said: str, words: str) -> None:
    assert said.startswith(words)


@given(st.lists(st.text(min_size=1, max_size=9), max_size=3), st.integers(min_value=3, max_value=5000))
def test_names_and_the_rest_add_up(some: list[str], count: int) -> None:
    said = rules.names(some, count)
    assert bool(said) == bool(some)
    if some and count > len(some):
        assert said.endswith(f" and {count - len(some):,} more")


@given(st.text(max_size=600))
def test_comment_is_one_line_of_limited_length(text: str) -> None:
    said = rules.comment("Priya", text)
    assert "\n" not in said
    assert len(said) <= len("Priya: ") + rules.LONGEST
