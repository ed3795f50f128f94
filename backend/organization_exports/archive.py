"""The file of an export: a zip archive of JSON lines, documents and a manifest with a hash of each file."""

import hashlib
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from uuid import UUID

from pydantic import BaseModel

from backend.core.private_files import written_private

MANIFEST = "manifest.json"
FORMAT = 1


class ExportedFile(BaseModel):
    """A file of the archive; `size` in bytes. `rows` is the number of lines of a table, null for a document."""

    path: str
    sha256: str
    size: int
    rows: int | None


class ExportManifest(BaseModel):
    """What an export contains, and what it omits with the reason."""

    format: int = FORMAT
    signum_version: str
    revision: str
    """Of the database's schema."""
    created_at: datetime
    organization_id: UUID
    organization_name: str
    organizations: list[UUID]
    """Whose rows the archive has: the organization and, if wanted, those below it."""
    files: list[ExportedFile]
    omitted_tables: dict[str, str]
    omitted_columns: dict[str, str]


class Archive:
    """Files go in one after the other, one piece in memory."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._zip = archive
        self.files: list[ExportedFile] = []

    def add(self, path: str, pieces: Iterable[bytes], *, has_rows: bool) -> None:
        """Add a file, hashed while it is written. With `has_rows`, each piece is a row."""
        digest, size, count = hashlib.sha256(), 0, 0
        with self._zip.open(path, "w", force_zip64=True) as entry:
            for piece in pieces:
                entry.write(piece)
                digest.update(piece)
                size, count = size + len(piece), count + 1
        rows = count if has_rows else None
        self.files.append(ExportedFile(path=path, sha256=digest.hexdigest(), size=size, rows=rows))

    def end(self, manifest: ExportManifest) -> str:
        """Add the manifest; return its SHA-256, which covers every file."""
        text = manifest.model_dump_json(indent=2).encode() + b"\n"
        self._zip.writestr(MANIFEST, text)
        return hashlib.sha256(text).hexdigest()


@contextmanager
def written(path: Path) -> Iterator[Archive]:
    """Write an archive that only its owner can read. It has its name once it is whole and on the disk."""
    with written_private(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        yield Archive(archive)
