"""Countries are shown by name."""

from backend.compliance.countries import NAMES, country_name
from state.core.record_values import Values


def test_code_becomes_the_name_that_people_use() -> None:
    assert [country_name(code) for code in ("IRN", "PRK", "SWE")] == ["Iran", "North Korea", "Sweden"]
    assert country_name("XXX") == "XXX", "a contract has no country"
    assert list(NAMES.values()) == sorted(NAMES.values())


def test_countries_of_a_record_have_their_names() -> None:
    values = Values()
    assert values.read("blocked_countries", ["IRN", "PRK"]) == "Iran (IRN), North Korea (PRK)"
    assert values.read("jurisdiction", "LUX") == "Luxembourg (LUX)"
    assert values.read("jurisdiction", "Delaware") == "Delaware"
