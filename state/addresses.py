"""Finding email addresses in whatever somebody pastes."""

import re
from typing import NamedTuple

LIMIT = 50
LONGEST = 320
_PARTS = re.compile(r"[\s,;|<>()\[\]{}\"'`]+")
_EDGES = ".:!?*•–—-"


class Found(NamedTuple):
    """Addresses in the order of the text, each once, and how often one came again."""

    addresses: list[str]
    doubles: int


def find_addresses(text: str) -> Found:
    """Everything that is meant as an address: it has an `@`. Whether it is one, the check says."""
    seen: dict[str, str] = {}
    doubles = 0
    for part in _PARTS.split(text):
        word = part.removeprefix("mailto:").strip(_EDGES)
        if "@" not in word or len(word) < 2:
            continue
        doubles += word.casefold() in seen
        seen.setdefault(word.casefold(), word[:LONGEST])
    return Found(list(seen.values()), doubles)
