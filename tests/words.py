"""Find discouraged words: `python -m tests.words [folder ...]` prints each place with better words.

The list is tests/words.txt. With `--check`, as in `make check`, any finding fails.
"""

import io
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("app", "components", "state", "assets", "backend", "tests", "docs")
SKIPPED = {"node_modules", ".venv", ".web", "__pycache__", "out", "cache", "forge-out", "forge-cache"}
SUFFIXES = {".py", ".md", ".sol", ".jsx", ".css"}
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
PROSE = {tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}


@dataclass(frozen=True)
class Word:
    """A discouraged expression and its replacement."""

    pattern: re.Pattern[str]
    better: str


def words() -> list[Word]:
    """Return the list, in its order."""
    lines = (ROOT / "tests" / "words.txt").read_text().splitlines()
    pairs = (line.split(" => ") for line in lines if line and not line.startswith("#"))
    return [Word(re.compile(pattern, re.IGNORECASE), better) for pattern, better in pairs]


def files(*folders: str) -> Iterator[Path]:
    """Yield the files of the known types below some folders, and the Markdown files at the top."""
    for folder in folders or FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in SUFFIXES and not SKIPPED.intersection(path.parts):
                yield path
    if not folders:
        yield from sorted(ROOT.glob("*.md"))


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line numbers and texts that people read; in Python names, underscores become spaces.

    In Solidity, JSX and CSS these are the comments.
    """
    text = path.read_text()
    if path.suffix == ".md":
        yield from enumerate(text.splitlines(), 1)
        return
    if path.suffix != ".py":
        for found in COMMENT.finditer(text):
            yield from enumerate(found.group().splitlines(), text.count("\n", 0, found.start()) + 1)
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in PROSE:
            yield from enumerate(token.string.splitlines(), token.start[0])
        elif token.type == tokenize.NAME and "_" in token.string:
            yield token.start[0], token.string.replace("_", " ")


def findings(*folders: str) -> Iterator[str]:
    """Yield `path:line: "words": better words` for each finding."""
    known = words()
    for path in files(*folders):
        for number, line in prose(path):
            for word in known:
                for found in word.pattern.finditer(line):
                    yield f'{path.relative_to(ROOT)}:{number}: "{found.group()}": {word.better}'


def main(*arguments: str) -> int:
    """Print findings. With `--check`, return 1 if there are any."""
    found = list(findings(*(a for a in arguments if a != "--check")))
    sys.stdout.write("\n".join([*found, f"{len(found)} discouraged words.\n"]))
    return 1 if found and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
