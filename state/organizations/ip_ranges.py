"""Allowed IP ranges in a form: one per line."""

from typing import Any

from backend.client import ApiProblem
from state.core.arguments import texts

FIELD = "allowed_ip_ranges"
LENGTH = 6_000
"""Maximum characters: more than 100 ranges take, so that the API reports too many."""


def ranges_of(data: Any) -> list[str]:
    """Return the entries of the form's field, separated by lines, spaces or commas."""
    return texts(data, LENGTH).get(FIELD, "").replace(",", " ").split()


def name_entries(problem: ApiProblem, ranges: list[str]) -> None:
    """Prefix each finding about an entry with the entry, and join them to one finding."""
    findings, others = [], []
    for error in problem.errors:
        _, name, *rest = [*error["pointer"].split("/"), "", ""][:3]
        index = int(rest[0]) if rest[0].isdigit() else -1
        if name != FIELD:
            others.append(error)
        else:
            entry = f'"{ranges[index][:50]}" ' if 0 <= index < len(ranges) else ""
            findings.append(entry + error["detail"])
    if findings:
        problem.errors = [*others, {"pointer": f"/{FIELD}", "detail": ". ".join(findings)}]


def shown(ranges: list[str]) -> str:
    """Return a list for a table's row: the first range and how many more."""
    more = f" and {len(ranges) - 1} more" if len(ranges) > 1 else ""
    return ranges[0] + more if ranges else ""
