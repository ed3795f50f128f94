"""Allowed IP ranges in a form."""

from backend.client import ApiProblem
from state.organizations.ip_ranges import LENGTH, name_entries, ranges_of, shown


def test_ip_entries_are_separated_by_lines_spaces_or_commas() -> None:
    assert ranges_of({"allowed_ip_ranges": " 10.0.0.1\r\n10.0.0.2, 10.0.0.3\n\n"}) == [
        "10.0.0.1",
        "10.0.0.2",
        "10.0.0.3",
    ]
    assert ranges_of({"allowed_ip_ranges": 7}) == ranges_of(None) == []
    longest = "\n".join(["ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128"] * 101)
    assert len(longest) < LENGTH, "the API enforces the maximum, and the form does not truncate"


def test_ip_entry_error_begins_with_the_entry() -> None:
    findings = [
        {"pointer": "/name", "detail": "contains a line break"},
        {"pointer": "/allowed_ip_ranges/1", "detail": "is wrong"},
        {"pointer": "/allowed_ip_ranges/2", "detail": "is wrong too"},
    ]
    problem = ApiProblem({"errors": findings})
    name_entries(problem, ["10.0.0.1", "a", "b"])
    assert problem.errors == [
        findings[0],
        {"pointer": "/allowed_ip_ranges", "detail": '"a" is wrong. "b" is wrong too'},
    ]
    whole = [{"pointer": "/allowed_ip_ranges", "detail": "has too many"}, {"pointer": "", "detail": "is malformed"}]
    problem = ApiProblem({"errors": whole})
    name_entries(problem, [])
    assert problem.errors == [whole[1], whole[0]]


def test_ip_ranges_row_shows_the_first_range_and_counts_the_rest() -> None:
    assert [shown(r) for r in ([], ["10.0.0.1"], ["10.0.0.1", "a", "b"])] == ["", "10.0.0.1", "10.0.0.1 and 2 more"]
