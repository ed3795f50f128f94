"""Files that only this user can read: secrets of the installation."""

import os
import secrets
from contextlib import suppress
from pathlib import Path


def write_private(path: Path, text: str) -> None:
    """Write a private file atomically. An existing file is kept."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    with suppress(FileExistsError):
        os.link(draft, path)
    draft.unlink()
