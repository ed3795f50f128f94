"""A zip archive sent while it is written: one piece in memory, and a hash of every file in its manifest."""

import hashlib
import io
import zipfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime

CHUNK = 65_536
"""Bytes collected before they are sent."""


class _Outlet(io.RawIOBase):
    """The output file of zipfile: it buffers what has not been sent, and cannot seek."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.waiting = 0

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        """Buffer a piece."""
        self._parts.append(bytes(data))
        self.waiting += len(data)
        return len(data)

    def take(self) -> bytes:
        """Return what was written since the last call."""
        taken, self._parts, self.waiting = b"".join(self._parts), [], 0
        return taken


@dataclass(frozen=True)
class File:
    """A file of the archive, as the manifest names it; `size` in bytes."""

    path: str
    sha256: str
    size: int


class Archive:
    """Files go in one after the other; the bytes to send come out."""

    def __init__(self, made_at: datetime) -> None:
        self.made_at = made_at
        self.files: list[File] = []
        self._outlet = _Outlet()
        self._zip = zipfile.ZipFile(self._outlet, "w", zipfile.ZIP_DEFLATED)

    async def add(self, path: str, pieces: AsyncIterator[str]) -> AsyncIterator[bytes]:
        """Add a file, and hash it."""
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
        """Return the directory at the archive's end."""
        self._zip.close()
        return self._outlet.take()
