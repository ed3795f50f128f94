"""A zip that is sent while it is written: one piece in memory, and a hash of every file in its manifest."""

import hashlib
import io
import zipfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime

CHUNK = 65_536
"""Bytes that are gathered before they are sent."""


class _Outlet(io.RawIOBase):
    """What zipfile writes into: it keeps what has not been taken yet, and cannot go back."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.waiting = 0

    def writable(self) -> bool:
        """It is written to."""
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        """Keep a piece."""
        self._parts.append(bytes(data))
        self.waiting += len(data)
        return len(data)

    def take(self) -> bytes:
        """What has been written since the last time."""
        taken, self._parts, self.waiting = b"".join(self._parts), [], 0
        return taken


@dataclass(frozen=True)
class File:
    """A file of the archive, as the manifest names it; `size` in bytes."""

    path: str
    sha256: str
    size: int


class Archive:
    """Files go in one after the other; what comes out are the bytes to send."""

    def __init__(self, made_at: datetime) -> None:
        self.made_at = made_at
        self.files: list[File] = []
        self._outlet = _Outlet()
        self._zip = zipfile.ZipFile(self._outlet, "w", zipfile.ZIP_DEFLATED)

    async def add(self, path: str, pieces: AsyncIterator[str]) -> AsyncIterator[bytes]:
        """Put a file in, and hash it."""
        info = zipfile.ZipInfo(path, self.made_at.timetuple()[:6])
        info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
        digest, size = hashlib.sha256(), 0
        with self._zip.open(info, "w") as entry:
            async for piece in pieces:
                data = piece.encode()
                digest.update(data)
                size += len(data)
                entry.write(data)
                if self._outlet.waiting > CHUNK:
                    yield self._outlet.take()
        self.files.append(File(path, digest.hexdigest(), size))
        yield self._outlet.take()

    def end(self) -> bytes:
        """The directory at the archive's end."""
        self._zip.close()
        return self._outlet.take()
