"""Files that only this user can read: the keystore's password and what is sealed with it."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from backend.core.settings import settings


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


def private_folder(folder: Path) -> None:
    """Create a folder that only this user can open."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)


def keystore_password() -> str:
    """Return the keystore's password: the setting, else a file created on first start."""
    chosen = settings().keystore_password
    if chosen is not None:
        return chosen
    folder = settings().keystore
    private_folder(folder)
    path = folder / "password"
    if not path.exists():
        write_private(path, secrets.token_urlsafe(32))
    return path.read_text().strip()
