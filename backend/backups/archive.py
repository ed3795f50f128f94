"""The file of a backup: a tar archive of a manifest, the database, embedded chains and, if wanted, the secret key."""

import os
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ValidationError

from backend.core.errors import CannotStart
from backend.core.private_files import written_private

MANIFEST, DATABASE, SECRET_KEY = "manifest.json", "database.dump", "secret.key"
FORMAT = 1


class Manifest(BaseModel):
    """What a backup contains."""

    format: int = FORMAT
    created_at: datetime
    revision: str
    """Of the database's schema."""
    secret_key_fingerprint: str | None
    has_secret_key: bool
    chains: list[int]
    """Endpoint ids of the embedded chains in it."""


def chain_file(eid: int) -> str:
    """Return the name of a chain's state in the archive."""
    return f"chains/{eid}.json"


@contextmanager
def written(path: Path) -> Iterator[tarfile.TarFile]:
    """Write an archive that only its owner can read. It has its name once it is whole and on the disk."""
    with written_private(path) as file, tarfile.open(fileobj=file, mode="w") as archive:
        yield archive


@contextmanager
def opened(path: Path) -> Iterator[tuple[tarfile.TarFile, Manifest]]:
    """Open an archive. Raises CannotStart where the file is not one, or is of a later version."""
    try:
        with tarfile.open(path) as archive:
            member = archive.extractfile(MANIFEST)
            manifest = Manifest.model_validate_json(member.read() if member else b"")
            if manifest.format > FORMAT:
                raise CannotStart(
                    f"{path} was made by a later version of Signum. Restore it with that one or a newer one."
                )
            yield archive, manifest
    except OSError as error:
        raise CannotStart(f"{path} cannot be read: {error.strerror or error}.") from error
    except (tarfile.TarError, KeyError, ValidationError) as error:
        raise CannotStart(f"{path} is not a whole backup of Signum.") from error


def extract(archive: tarfile.TarFile, name: str, to: Path) -> None:
    """Write a member to a private file."""
    member = archive.extractfile(name)
    if member is None:
        raise KeyError(name)
    with member, open(os.open(to, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as file:
        while part := member.read(1 << 20):
            file.write(part)
