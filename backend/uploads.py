"""Large request bodies. They are written to a file while they arrive, and processed a few at a time.

The file lies in the data folder and never has a name, so the kernel removes it when it is closed or the process dies.
Only admitted principals upload: `backend.auth.route` checks credential, scope and target before it reads a byte.
"""

import asyncio
import hashlib
import tempfile
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from backend.errors import PayloadTooLarge, TooManyRequests, Unavailable
from backend.quota import Quota

PIECE = 65_536
"""Bytes that are kept in memory before they are written."""
PROCESSED = 134_217_728
"""Bytes of all bodies that are processed at once; the others wait. A list needs about 9 times its size in memory."""
WAIT_SECONDS = 30.0
"""How long a complete body waits for its turn before the answer is a 503."""
FULL = "The server cannot store the file now. Try again in 30 s."
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
    """The large bodies of a process. `each` and `in_all` bound the bytes on disk: of a principal, of an address, and
    of everybody."""

    def __init__(self, folder: Path, each: int, in_all: int) -> None:
        self.folder, self.quota = folder, Quota(each, in_all)
        self._turn, self._freed = asyncio.Lock(), asyncio.Event()
        self._processed = 0

    @asynccontextmanager
    async def received(
        self, body: AsyncIterable[bytes], size: int, principal: str, address: str
    ) -> AsyncIterator[Upload]:
        """Write a body of at most `size` bytes to a file, wait for its turn, and hold both until the block ends.

        Raises PayloadTooLarge, TooManyRequests (the principal or address has too many bytes on disk) or Unavailable
        (everybody together has, the disk is full, or the turn does not come).
        """
        names = (principal, f"address:{address}")
        self._admit(size, names)
        try:
            with _file(self.folder) as file:
                upload = await _written(file, body)
                async with self._processing(upload.size):
                    yield upload
        finally:
            self.quota.give_back(*names, count=size)

    def _admit(self, size: int, names: tuple[str, ...]) -> None:
        if size > self.quota.each:
            raise PayloadTooLarge(f"A file has at most {self.quota.each} bytes on this server.")
        if self.quota.take(*names, count=size):
            return
        if self.quota.is_full(size):
            raise Unavailable("The server is receiving too many files. Try again in 30 s.", headers=RETRY_AFTER)
        raise TooManyRequests(30, f"Your files exceed {self.quota.each} bytes at once. Try again in 30 s.")

    @asynccontextmanager
    async def _processing(self, size: int) -> AsyncIterator[None]:
        """Wait until the bodies that are processed leave room for this one, first come first served."""
        size = min(size, PROCESSED)
        try:
            async with asyncio.timeout(WAIT_SECONDS), self._turn:
                while self._processed + size > PROCESSED:
                    self._freed.clear()
                    await self._freed.wait()
                self._processed += size
        except TimeoutError:
            raise Unavailable("The server is processing other files. Try again in 30 s.", headers=RETRY_AFTER) from None
        try:
            yield
        finally:
            self._processed -= size
            self._freed.set()


def _file(folder: Path) -> BinaryIO:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryFile(dir=folder)
    except OSError as error:
        raise Unavailable(FULL, headers=RETRY_AFTER) from error


async def _written(file: BinaryIO, body: AsyncIterable[bytes]) -> Upload:
    """Write a body in pieces, on a thread: a slow disk delays no other request."""
    digest, size, piece = hashlib.sha256(), 0, bytearray()

    def write(part: bytes) -> None:
        digest.update(part)
        file.write(part)

    try:
        async for part in body:
            size += len(part)
            piece += part
            if len(piece) >= PIECE:
                await asyncio.to_thread(write, bytes(piece))
                piece.clear()
        await asyncio.to_thread(write, bytes(piece))
        await asyncio.to_thread(file.flush)
    except OSError as error:
        raise Unavailable(FULL, headers=RETRY_AFTER) from error
    file.seek(0)
    return Upload(file, size, digest.hexdigest())
