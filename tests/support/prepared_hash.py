"""Texts with a chosen value of PostgreSQL's `hashtextextended`, which is no cryptographic hash: its steps (Jenkins'
lookup3) can be inverted."""

import random
import struct

WORD = 0xFFFFFFFF
_Words = tuple[int, int, int]
_MIX = ((0, 2, 4, 1), (1, 0, 6, 2), (2, 1, 8, 0), (0, 2, 16, 1), (1, 0, 19, 2), (2, 1, 4, 0))
"""Steps of `mix`: the word that changes, the one it is combined with, the rotation, and the word added to that one."""
_FINAL = ((2, 1, 14), (0, 2, 11), (1, 0, 25), (2, 1, 16), (0, 2, 4), (1, 0, 14), (2, 1, 24))
"""Steps of `final`: the word that changes, the one it is combined with, and the rotation."""


def text_with_hash_of(target: str, prefix: str) -> str:
    """Return printable ASCII that, behind the prefix, has the hash of the target."""
    high, low = _hash(target.encode())
    start = prefix.encode()
    body = start + b"k" * (-len(start) % 12)
    before = _absorbed(body, len(body) + 12)
    while True:
        after = _unmixed(_unfinished((random.getrandbits(32), high, low)))
        last = struct.pack("<III", *((x - y) & WORD for x, y in zip(after, before, strict=True)))
        if all(0x21 <= byte <= 0x7E for byte in last):
            return (body + last)[len(start) :].decode()


def _hash(text: bytes) -> tuple[int, int]:
    """Return both halves of the hash of a text."""
    whole = len(text) // 12 * 12
    words = list(_absorbed(text[:whole], len(text)))
    for place, byte in enumerate(text[whole:]):
        # The lowest byte of the third word is reserved for the length.
        words[place // 4] += byte << 8 * (place % 4 + (place >= 8))
    _, high, low = _finished((words[0] & WORD, words[1] & WORD, words[2] & WORD))
    return high, low


def _absorbed(text: bytes, length: int) -> _Words:
    """Return the state after whole blocks of 12 bytes; the last block of a text of whole blocks is mixed too."""
    words = ((0x9E3779B9 + length + 3923095) & WORD,) * 3
    for block in struct.iter_unpack("<III", text):
        a, b, c = ((x + y) & WORD for x, y in zip(words, block, strict=True))
        words = _mixed((a, b, c))
    return words


def _rotated(word: int, by: int) -> int:
    return (word << by | word >> (32 - by)) & WORD


def _mixed(words: _Words) -> _Words:
    w = list(words)
    for one, other, by, added in _MIX:
        w[one] = (w[one] - w[other] & WORD) ^ _rotated(w[other], by)
        w[other] = w[other] + w[added] & WORD
    return w[0], w[1], w[2]


def _unmixed(words: _Words) -> _Words:
    w = list(words)
    for one, other, by, added in reversed(_MIX):
        w[other] = w[other] - w[added] & WORD
        w[one] = (w[one] ^ _rotated(w[other], by)) + w[other] & WORD
    return w[0], w[1], w[2]


def _finished(words: _Words) -> _Words:
    w = list(words)
    for one, other, by in _FINAL:
        w[one] = (w[one] ^ w[other]) - _rotated(w[other], by) & WORD
    return w[0], w[1], w[2]


def _unfinished(words: _Words) -> _Words:
    w = list(words)
    for one, other, by in reversed(_FINAL):
        w[one] = (w[one] + _rotated(w[other], by) & WORD) ^ w[other]
    return w[0], w[1], w[2]
