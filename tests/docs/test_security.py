"""What the security documents claim: each line names a test, and the test exists."""

import re
from functools import lru_cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
THREATS = [ROOT / "docs" / "security.md", *sorted((ROOT / "docs" / "security").glob("*.md"))]
DOCUMENTS = [ROOT / "SECURITY.md", *THREATS]
NAMED = re.compile(r"`((?:tests|backend/contracts/test)/[\w/.]+\.(?:py|sol)|…)::(\w+)`")
"""A test by its file and name; `…` is the file of the reference before."""
MENTIONED = re.compile(r"\b(?:tests|backend/contracts/test)/[\w/.]+\.(?:py|sol)\b|::\w+")
DEFINED = {
    ".py": re.compile(r"^(?:async )?def (test_\w+)\(", re.M),
    ".sol": re.compile(r"^\s+function ((?:test|invariant)\w*)\(", re.M),
}
INSTEAD = ("Known gap ", "Not applicable", "Operator", "`make check`")
"""What the last cell of a line without a test begins with."""
GAP = re.compile(r"\bG\d+\b")


@lru_cache
def defined(file: str) -> set[str]:
    """The tests of a file; none where there is no such file."""
    path = ROOT / file
    return set(DEFINED[path.suffix].findall(path.read_text())) if path.is_file() else set()


def named(text: str) -> list[tuple[str, str]]:
    """Every test that a text names, with its file."""
    found, file = [], ""
    for given, name in NAMED.findall(text):
        file = file if given == "…" else given
        found.append((file, name))
    return found


def tables(text: str) -> list[tuple[list[str], list[list[str]]]]:
    """Every table of a document: its header and its lines, as cells."""
    blocks = re.findall(r"(?:^\|.*\|\n)+", text, re.M)
    rows = [[[cell.strip() for cell in line.strip("|").split(" | ")] for line in b.splitlines()] for b in blocks]
    return [(block[0], block[2:]) for block in rows]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_test_that_a_security_document_names_exists(document: Path) -> None:
    text = document.read_text()
    assert [f"{file}::{name}" for file, name in named(text) if name not in defined(file)] == []
    complete = NAMED.sub("", text)
    assert MENTIONED.findall(complete) == [], "a test is named as `tests/…/test_file.py::test_name`"


def test_every_line_about_a_risk_names_a_test_or_says_why_none() -> None:
    found = [table for document in THREATS for table in tables(document.read_text())]
    lines = [line for header, rows in found if header[-1] == "test" for line in rows]
    assert len(lines) > 100
    assert [line for line in lines if not NAMED.search(line[-1]) and not line[-1].startswith(INSTEAD)] == []


def test_every_gap_is_listed_once_and_has_a_severity() -> None:
    text = "".join(document.read_text() for document in THREATS)
    [gaps] = [rows for header, rows in tables(text) if header[0] == "gap"]
    assert [line[0] for line in gaps] == [f"G{number}" for number in range(1, len(gaps) + 1)]
    assert {line[1] for line in gaps} <= {"low", "medium", "high"}
    assert set(GAP.findall(text)) == {line[0] for line in gaps}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_file_that_a_security_document_links_exists(document: Path) -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text())
    assert [target for target in targets if not (document.parent / target).exists()] == []
