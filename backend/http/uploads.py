"""Large request bodies, written to a file while they arrive, and processed a few at a time.

The file is in the data folder and never has a name, so the kernel removes it when it is closed or the process dies.
Only admitted principals upload: `backend.auth.guard` checks credential, scope and target before it reads a byte.
"""

import hashlib
import tempfile
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from backend.core import threads
from backend.core.errors import PayloadTooLarge, SignumError, TooManyRequests, Unavailable
from backend.core.fair_places import Places
from backend.core.threads import Work
from backend.http.middleware import MAX_DOCUMENT
from backend.limits.concurrency import Holder, Shares

PIECE = 65_536
"""Bytes buffered in memory before each write."""
SMALL, SMALL_EACH = 8, 2
"""Bodies up to the size of a document that are processed at a time: in all, and for each name of a caller.

A list needs about 9 times its size in memory.
"""
LARGE, LARGE_EACH = 2, 1
"""The same for larger bodies. They are processed for minutes, so small ones never wait for them."""
WAIT_SECONDS = 30.0
"""Seconds that a complete body waits for its turn before the response is a 503."""
FULL = "The server cannot store the file. Retry in 30 s."
RETRY_AFTER = {"Retry-After": "30"}


@dataclass(frozen=True)
class Upload:
    """A complete body in a file."""

    file: BinaryIO
    size: int
    digest: str
    """SHA-256 of the bytes, in hexadecimal digits."""

    def read(self) -> bytes:
        """Return all bytes."""
        self.file.seek(0)
        return self.file.read()


class Uploads:
    """The large bodies of a process.

    `each` bounds the bytes on disk of a key, a person and an address, half of `in_all` those of a root organization,
    and `in_all` those of all callers. Bytes count when they arrive: a slow sender holds no room for the rest.
    """

    def __init__(self, folder: Path, each: int, in_all: int) -> None:
        self.folder, self.room = folder, Shares(each, max(each, in_all // 2), in_all)
        self.small, self.large = Places(SMALL, WAIT_SECONDS, SMALL_EACH), Places(LARGE, WAIT_SECONDS, LARGE_EACH)

    @asynccontextmanager
    async def received(self, body: AsyncIterable[bytes], size: int, holder: Holder) -> AsyncIterator[Upload]:
        """Write a body of at most `size` bytes to a file, wait for its turn, and hold both until the block ends.

        Raises PayloadTooLarge, TooManyRequests (the caller or its root has too many bytes on disk) or Unavailable (all
        callers together have too many, the disk is full, or the wait times out).
        """
        self._check(size, holder)
        arrived = _Arrived(self.room, holder)
        try:
            with _file(self.folder) as file:
                upload = await _written(file, arrived.counted(body))
                async with self._processing(upload.size, holder):
                    yield upload
        finally:
            self.room.give_back(holder, arrived.count)

    def _check(self, size: int, holder: Holder) -> None:
        """Refuse a body that has no room now, before a byte of it is read."""
        if size > self.room.narrow.each:
            raise PayloadTooLarge(f"The file exceeds the {self.room.narrow.each} bytes that this server accepts.")
        if not self.room.has_room(holder, size):
            raise _refusal(self.room, size)

    @asynccontextmanager
    async def _processing(self, size: int, holder: Holder) -> AsyncIterator[None]:
        """Wait for a turn. The waiting caller with the fewest bodies in processing is next."""
        names, places = (*holder.names, *holder.roots), self.small if size <= MAX_DOCUMENT else self.large
        try:
            await places.take(*names)
        except Unavailable:
            raise Unavailable("The server is processing other files. Retry in 30 s.", headers=RETRY_AFTER) from None
        try:
            yield
        finally:
            places.give_back(*names)


@dataclass
class _Arrived:
    """Bytes of one body that have arrived and count for its caller."""

    room: Shares
    holder: Holder
    count: int = 0

    async def counted(self, body: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
        """Count each part before it is written. Raises the refusal where there is no room for it."""
        async for part in body:
            if not self.room.take(self.holder, len(part)):
                raise _refusal(self.room, len(part))
            self.count += len(part)
            yield part


def _refusal(room: Shares, size: int) -> SignumError:
    """Return why there is no room for `size` more bytes."""
    if room.narrow.is_full(size):
        return Unavailable("The server is receiving too many files. Retry in 30 s.", headers=RETRY_AFTER)
    text = f"Your concurrent uploads exceed {room.narrow.each} bytes, or those of your organizations {room.wide.each}."
    return TooManyRequests(30, f"{text} Retry in 30 s.")


def _file(folder: Path) -> BinaryIO:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryFile(dir=folder)
    except OSError as error:
        raise Unavailable(FULL, headers=RETRY_AFTER) from error


async def _written(file: BinaryIO, body: AsyncIterable[bytes]) -> Upload:
    """Write a body in pieces, in a thread: a slow disk delays no other request."""
    digest, size, piece = hashlib.sha256(), 0, bytearray()

    def write(part: bytes) -> None:
        digest.update(part)
        file.write(part)

    try:
        async for part in body:
            size += len(part)
            piece += part
            if len(piece) >= PIECE:
                await threads.run(Work.FILES, write, bytes(piece))
                piece.clear()
        await threads.run(Work.FILES, write, bytes(piece))
        await threads.run(Work.FILES, file.flush)
    except OSError as error:
        raise Unavailable(FULL, headers=RETRY_AFTER) from error
    file.seek(0)
    return Upload(file, size, digest.hexdigest())
