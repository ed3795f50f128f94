"""The guides: links lead somewhere, excerpts equal the code."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GUIDES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")), ROOT / "backend/contracts/README.md"]
LINK = re.compile(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)")
EXCERPT = re.compile(r"^```python\n# (\S+\.py)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def anchors(text: str) -> set[str]:
    """Return the anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(guide: Path) -> list[str]:
    """Return the links of a guide that lead to no file or heading."""
    found = []
    for path, anchor in LINK.findall(guide.read_text()):
        target = guide.parent / path if path else guide
        if not target.exists() or (anchor and anchor not in anchors(target.read_text())):
            found.append(f"{path}#{anchor}")
    return found


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_of_a_guide_lead_to_files_and_headings(guide: Path) -> None:
    assert broken(guide) == []


EXCERPTS = EXCERPT.findall((ROOT / "CONTRIBUTING.md").read_text())


@pytest.mark.parametrize(("file", "excerpt"), EXCERPTS, ids=[file for file, _ in EXCERPTS])
def test_excerpt_in_the_contributing_guide_equals_the_code(file: str, excerpt: str) -> None:
    code, missing = iter((ROOT / file).read_text().splitlines()), []
    for line in excerpt.splitlines():
        if line.strip() != "..." and line not in code:
            missing.append(line)
    assert missing == []


def test_contributing_guide_shows_every_layer() -> None:
    layers = {Path(file).parts[0] for file, _ in EXCERPTS}
    assert layers == {"backend", "state", "components", "tests"}
