"""Drafts of forms: a stored one is read, or refused as a whole."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.compliance.rules import Rules, rules_of
from state.markets.draft import MarketDraft, market_draft

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
WHOLE: dict[str, Any] = {
    "asset": "0197a000-0000-7000-8000-000000000001", "eid": 40245, "own_token": "", "taker": "45", "maker": "0",
    "at": 3, "rules": {"level": 2, "countries": ["CUB"]},
}  # fmt: skip


def test_stored_draft_is_read_with_the_usual_rules_where_it_has_none() -> None:
    assert market_draft(WHOLE).rules == Rules(level=2, countries=["CUB"])


@given(st.sampled_from(sorted(WHOLE)), JSON)
def test_draft_with_any_value_in_a_field_is_read_or_refused(name: str, value: Any) -> None:
    try:
        draft = market_draft({**WHOLE, name: value})
    except ValueError:
        return
    assert isinstance(draft, MarketDraft)
    assert 0 <= draft.at <= 4
    assert all(isinstance(text, str) for text in (draft.asset, draft.taker, draft.maker, *draft.rules.countries))


@pytest.mark.parametrize("wrong", [None, [], "rules", {"level": "high"}, {"countries": "CUB"}])
def test_malformed_rules_are_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        rules_of(wrong)
