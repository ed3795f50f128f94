"""Files that only this user can read: secrets of the installation."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


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


@contextmanager
def written_private(path: Path) -> Iterator[BinaryIO]:
    """Write a private file of any size. It has its name once it is whole and on the disk."""
    part = path.with_name(f"{path.name}.part")
    try:
        with open(os.open(part, os.O_CREAT | os.O_TRUNC | os.O_RDWR, 0o600), "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.rename(path)
    finally:
        part.unlink(missing_ok=True)
