"""Countries in bodies and in forms."""

import pytest
from pydantic import TypeAdapter, ValidationError

from backend.core.fields import Country
from state.core.countries import NAMES, country_code

CODE: TypeAdapter[str] = TypeAdapter(Country)


@pytest.mark.parametrize("text", ["Atlantis", "XXX", "usa", "SE", "", "SWEDEN"])
def test_unassigned_country_is_refused_in_plain_words(text: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        CODE.validate_python(text)
    (error,) = refusal.value.errors()
    assert error["msg"] == "Value error, is not an ISO 3166-1 alpha-3 country code such as SWE, in upper case"


@pytest.mark.parametrize("text", ["Sweden (SWE)", "sweden", "swe", "SWE"])
def test_country_is_read_by_name_or_code(text: str) -> None:
    assert CODE.validate_python(country_code(text)) == "SWE"


def test_country_that_is_not_in_the_list_has_no_code() -> None:
    assert country_code("Atlantis") not in NAMES
