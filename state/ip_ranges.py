"""Allowed IP ranges as a form has them: one per line."""

from typing import Any

from backend.client import ApiProblem
from state.given import texts

FIELD = "allowed_ip_ranges"
LENGTH = 6_000
"""Characters of 100 ranges, and more, so that the API says what is too many."""


def ranges_of(data: Any) -> list[str]:
    """The entries of the form's field, which lines, spaces or commas separate."""
    return texts(data, LENGTH).get(FIELD, "").replace(",", " ").split()


def name_entries(problem: ApiProblem, ranges: list[str]) -> None:
    """Begin each finding about an entry with the entry, and make one finding of all of them."""
    said, others = [], []
    for error in problem.errors:
        _, name, *rest = [*error["pointer"].split("/"), "", ""][:3]
        index = int(rest[0]) if rest[0].isdigit() else -1
        if name != FIELD:
            others.append(error)
        else:
            said.append(f'"{ranges[index][:50]}" {error["detail"]}' if 0 <= index < len(ranges) else error["detail"])
    if said:
        problem.errors = [*others, {"pointer": f"/{FIELD}", "detail": ". ".join(said)}]


def shown(ranges: list[str]) -> str:
    """A list in a table's row: the first range and how many more."""
    more = f" and {len(ranges) - 1} more" if len(ranges) > 1 else ""
    return ranges[0] + more if ranges else ""
