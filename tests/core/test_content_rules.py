"""Texts: the document's patterns describe exactly what is accepted."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from backend.core.content_rules import PLAIN
from backend.core.fields import Name, Reason, Search, Text

KINDS = {"name": Name, "line": Search, "reason": Reason, "text": Text}
TEXTS = st.text(
    st.one_of(st.sampled_from("\n\r\t\x1c\x85\xa0\u2028\u200e\u3000<a/! "), st.characters(exclude_categories=["Cs"])),
    max_size=12,
)


@pytest.mark.parametrize("kind", PLAIN)
@given(text=TEXTS)
def test_text_is_accepted_if_and_only_if_it_matches_the_documented_pattern(kind: str, text: str) -> None:
    try:
        TypeAdapter(KINDS[kind]).validate_python(text)
    except ValidationError:
        assert re.fullmatch(PLAIN[kind], text) is None
    else:
        assert re.fullmatch(PLAIN[kind], text)
