"""Finding email addresses in pasted text."""

import re
from collections.abc import Sequence
from typing import NamedTuple

EACH = 50
"""Addresses that the API checks in one call."""
MOST = 500
"""Addresses that a page checks. The API takes 30 calls a minute."""
LONGEST = 320
_PARTS = re.compile(r"[\s,;|<>()\[\]{}\"'`]+")
_EDGES = ".:!?*•–—-"


class Found(NamedTuple):
    """Addresses in text order without duplicates, and the number of duplicates."""

    addresses: list[str]
    doubles: int


def batches(addresses: Sequence[str]) -> list[list[str]]:
    """Return the addresses that are checked, for one call each."""
    checked = list(addresses[:MOST])
    return [checked[i : i + EACH] for i in range(0, len(checked), EACH)]


def find_addresses(text: str) -> Found:
    """Return everything with an `@`; the API's check says whether it is a valid address."""
    seen: dict[str, str] = {}
    doubles = 0
    for part in _PARTS.split(text):
        word = part.removeprefix("mailto:").strip(_EDGES)
        if "@" not in word or len(word) < 2:
            continue
        doubles += word.casefold() in seen
        seen.setdefault(word.casefold(), word[:LONGEST])
    return Found(list(seen.values()), doubles)
