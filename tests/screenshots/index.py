"""The index of the pictures, a table in Markdown. Runs for some roles or pages replace their own lines."""

import re
from collections.abc import Iterable
from pathlib import Path

from tests.screenshots.camera import Taken
from tests.screenshots.catalog import ROLES

HEAD = """# Pictures of the console

Each page has four files: `ROLE/PAGE.light.png` and `.dark.png` at 1440 pixels, `.390.png` and `.390.dark.png` at 390.
A page with `--` is a state: a drawer, a dialog, a tab or a step of a wizard. The window is as high as the content.

| page | role | route | title | what it is for |
|---|---|---|---|---|
"""
LINE = re.compile(r"^\| \[(?P<page>[^\]]+)\]\((?P<role>\w+)/")


def known(folder: Path) -> set[tuple[str, str]]:
    """Return the roles and names of the pictures in the index."""
    return set(_lines(folder / "INDEX.md"))


def write(folder: Path, results: Iterable[Taken]) -> None:
    """Write INDEX.md, and keep the lines of pictures that were not taken again."""
    path = folder / "INDEX.md"
    lines = _lines(path)
    lines |= {(one.role, one.picture.name): _line(one) for one in results if one.files}
    order = sorted(lines, key=lambda key: (ROLES.index(key[0]), key[1]))
    path.write_text(HEAD + "".join(f"{lines[key]}\n" for key in order))


def _lines(path: Path) -> dict[tuple[str, str], str]:
    lines = path.read_text().splitlines() if path.exists() else []
    return {(found["role"], found["page"]): line for line in lines if (found := LINE.match(line))}


def _line(one: Taken) -> str:
    link = f"[{one.picture.name}]({one.role}/{one.picture.name}.light.png)"
    cells = [link, one.role, f"`/{one.picture.path}`", one.title.replace("|", "/"), one.purpose.replace("|", "/")]
    return f"| {' | '.join(cells)} |"
