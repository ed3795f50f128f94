"""Claims of the security documents: each line names a test, and the test exists."""

import re
from functools import lru_cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
THREATS = [ROOT / "docs" / "security.md", *sorted((ROOT / "docs" / "security").glob("*.md"))]
DOCUMENTS = [ROOT / "SECURITY.md", *THREATS]
NAMED = re.compile(r"`((?:tests|backend/contracts/test)/[\w/.]+\.(?:py|sol)|…)::(\w+)`")
"""A test by its file and name; `…` is the file of the previous reference."""
MENTIONED = re.compile(r"\b(?:tests|backend/contracts/test)/[\w/.]+\.(?:py|sol)\b|::\w+")
DEFINED = {
    ".py": re.compile(r"^(?:async )?def (test_\w+)\(", re.M),
    ".sol": re.compile(r"^\s+function ((?:test|invariant)\w*)\(", re.M),
}
INSTEAD = ("Known gap ", "Not applicable", "Operator", "`make check`")
"""How the last cell of a line without a test begins."""
REQUIRED = """
1.1.1-2 1.2.1-9 1.3.1-11 1.4.1-3 1.5.1-2 2.1.1-3 2.2.1-3 2.3.1-4 2.4.1 3.2.1-2 3.3.1-4 3.4.1-6 3.5.1-5 3.7.1-2 4.1.1-3
4.2.1 4.3.1-2 4.4.1-4 5.1.1 5.2.1-3 5.3.1-2 5.4.1-3 6.1.1-3 6.2.1-12 6.3.1-4 6.4.1-4 6.5.1-5 6.6.1-3 6.8.1-4 7.1.1-3
7.2.1-4 7.3.1-2 7.4.1-5 7.5.1-2 7.6.1-2 8.1.1-2 8.2.1-3 8.3.1 8.4.1 9.1.1-3 9.2.1-4 10.1.1-2 10.2.1-2 10.3.1-4
10.4.1-11 10.5.1-5 10.6.1-2 10.7.1-3 11.1.1-2 11.2.1-3 11.3.1-3 11.4.1-4 11.5.1 11.6.1 12.1.1-3 12.2.1-2 12.3.1-4
13.1.1 13.2.1-5 13.3.1-2 13.4.1-5 14.1.1-2 14.2.1-4 14.3.1-3 15.1.1-3 15.2.1-3 15.3.1-7 16.1.1 16.2.1-5 16.3.1-4
16.4.1-3 16.5.1-3 17.1.1 17.2.1-4 17.3.1-2
"""
"""The requirements of ASVS 5.0.0 at levels 1 and 2."""
GAP = re.compile(r"\bG\d+\b")


@lru_cache
def defined(file: str) -> set[str]:
    """Return the tests of a file, or an empty set if there is no such file."""
    path = ROOT / file
    return set(DEFINED[path.suffix].findall(path.read_text())) if path.is_file() else set()


def named(text: str) -> list[tuple[str, str]]:
    """Return every test that a text names, with its file."""
    found, file = [], ""
    for given, name in NAMED.findall(text):
        file = file if given == "…" else given
        found.append((file, name))
    return found


def tables(text: str) -> list[tuple[list[str], list[list[str]]]]:
    """Return every table of a document: its header and its lines, as cells."""
    blocks = re.findall(r"(?:^\|.*\|\n)+", text, re.M)
    rows = [[[cell.strip() for cell in line.strip("|").split(" | ")] for line in b.splitlines()] for b in blocks]
    return [(block[0], block[2:]) for block in rows]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_security_document_names_existing_tests(document: Path) -> None:
    text = document.read_text()
    assert [f"{file}::{name}" for file, name in named(text) if name not in defined(file)] == []
    complete = NAMED.sub("", text)
    assert MENTIONED.findall(complete) == [], "a test is named as `tests/…/test_file.py::test_name`"


def test_risk_lines_name_a_test_or_a_reason() -> None:
    found = [table for document in THREATS for table in tables(document.read_text())]
    lines = [line for header, rows in found if header[-1] == "test" for line in rows]
    assert len(lines) > 100
    assert [line for line in lines if not NAMED.search(line[-1]) and not line[-1].startswith(INSTEAD)] == []


def test_security_gaps_are_listed_once_with_a_severity() -> None:
    text = "".join(document.read_text() for document in THREATS)
    [gaps] = [rows for header, rows in tables(text) if header[0] == "gap"]
    assert [line[0] for line in gaps] == [f"G{number}" for number in range(1, len(gaps) + 1)]
    assert {line[1] for line in gaps} <= {"low", "medium", "high"}
    assert set(GAP.findall(text)) == {line[0] for line in gaps}


def numbers(text: str) -> set[str]:
    """Return the requirements that a text names, ranges included: `1.2.3-5` or `1.2.3–1.2.5`."""
    found = re.findall(r"(\d+\.\d+)\.(\d+)(?:[-–](?:\d+\.\d+\.)?(\d+))?", text)
    return {f"{section}.{n}" for section, first, last in found for n in range(int(first), int(last or first) + 1)}


def test_asvs_requirements_are_all_answered() -> None:
    required = numbers(REQUIRED)
    assert len(required) == 253
    [(_, lines)] = tables((ROOT / "docs" / "security" / "asvs.md").read_text())
    answered = set().union(*(numbers(line[0]) for line in lines))
    assert required - answered == set()
    assert answered - required == {"1.2.10", "2.3.5", "6.3.5", "6.3.7", "6.3.8", "8.3.2"}, "these are of level 3"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_security_document_links_existing_files(document: Path) -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text())
    assert [target for target in targets if not (document.parent / target).exists()] == []
