"""Texts: the document's patterns describe exactly what is accepted."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from backend.core.fields import Name, Reason, Search, Text
from backend.factors.schemas import Code

KINDS = {"name": Name, "line": Search, "reason": Reason, "text": Text, "code": Code}
TEXTS = st.text(
    st.one_of(
        st.sampled_from("\n\r\t\x1c\x85\xa0\u2028\u200e\u200b\u2060\u3000<a/! "),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=12,
)


@pytest.mark.parametrize("kind", KINDS)
@given(text=TEXTS)
def test_text_is_accepted_if_and_only_if_it_matches_the_document(kind: str, text: str) -> None:
    schema = TypeAdapter(KINDS[kind]).json_schema()
    is_documented = bool(re.fullmatch(schema["pattern"], text)) and len(text) <= schema["maxLength"]
    try:
        TypeAdapter(KINDS[kind]).validate_python(text)
    except ValidationError:
        assert not is_documented
    else:
        assert is_documented


@pytest.mark.parametrize("kind", [Name, Reason])
def test_text_that_is_drawn_as_nothing_is_refused(kind: type[str]) -> None:
    for text in ("\u200b\u200b", "\u200b\u2060", " \ufeff ", "\u3164"):
        with pytest.raises(ValidationError, match="contains no visible character"):
            TypeAdapter(kind).validate_python(text)
    assert TypeAdapter(kind).validate_python("👩\u200d🚀") == "👩\u200d🚀"
