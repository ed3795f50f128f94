"""Detection of passwords that are easy to guess: common ones, patterns, and the owner's name or address. Offline.

The list has the passwords most often found in data breaches, as shipped by Django (common_passwords.LICENSE).
"""

import gzip
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

LIST = Path(__file__).with_name("common_passwords.txt.gz")
COMMON = "This password appears in known data breaches. Choose another one."
PATTERN = "This password is a repetition or a keyboard sequence. Choose another one."
OWN = "This password is too similar to your name or email address. Choose another one."
TAIL = 6
"""Extra characters that do not make a common password strong: `password2026!`."""
SHORTEST = 4
"""Minimum letters of a word that is searched for."""
ROWS = ("1234567890", "qwertyuiop", "qwertzuiop", "azertyuiop", "asdfghjkl", "zxcvbnm", "abcdefghijklmnopqrstuvwxyz")
LEET = str.maketrans("0134578@$!", "oieastbasi")
EVERYWHERE = ("signum",)


def weakness(password: str, own: Sequence[str] = ()) -> str | None:
    """Return why a password is easy to guess; None where it is not. `own` is the person's address and name."""
    text = password.casefold()
    if any(form in _common() for form in _forms(text)):
        return COMMON
    if _is_pattern(text):
        return PATTERN
    return OWN if _is_own(text, own) else None


@lru_cache(maxsize=1)
def _common() -> frozenset[str]:
    with gzip.open(LIST, "rt", encoding="utf-8") as lines:
        return frozenset(line.strip().casefold() for line in lines)


def _forms(text: str) -> Iterator[str]:
    """Yield the password, and its core without spaces, surrounding digits and signs, and leetspeak."""
    bare = "".join(text.split())
    yield from (text, bare, bare.translate(LEET))
    core = bare.strip("0123456789!\"#$%&'()*+,-./:;<=>?@[]^_`{|}~")
    if len(core) >= SHORTEST and len(bare) - len(core) <= TAIL:
        yield from (core, core.translate(LEET))


def _is_pattern(text: str) -> bool:
    bare = "".join(text.split())
    return len(set(bare)) <= 2 or _is_repeated(bare) or any(_is_along(bare, row) for row in ROWS)


def _is_repeated(text: str) -> bool:
    """Return whether a text repeats a short or common piece."""
    for length in range(1, len(text) // 2 + 1):
        piece = text[:length]
        if (piece * (len(text) // length + 1))[: len(text)] == text:
            return length <= SHORTEST or any(form in _common() for form in _forms(piece))
    return False


def _is_along(text: str, row: str) -> bool:
    """Return whether a text follows a row of keys, forwards or backwards, with wrap-around."""
    keys = row * (len(text) // len(row) + 2)
    return text in keys or text in keys[::-1]


def _is_own(text: str, own: Sequence[str]) -> bool:
    rest = "".join(c for c in text if c.isalnum())
    for word in sorted({*EVERYWHERE, *(w for given in own for w in _words(given))}, key=len, reverse=True):
        rest = rest.replace(word, "")
    return len(rest) < TAIL


def _words(given: str) -> Iterator[str]:
    """Yield the words of an address or a name: each part, and each side of an address as a whole."""
    for side in given.casefold().split("@"):
        parts = "".join(c if c.isalnum() else " " for c in side).split()
        yield from (word for word in (*parts, "".join(parts)) if len(word) >= SHORTEST)
