"""Secrets of the demo: passwords and keys, in a file of mode 0600 that finally becomes demo.json."""

import json
import os
import secrets
from pathlib import Path
from typing import Any


class Notebook:
    """`demo.unfinished.json` while the demo is created; `finish` writes `demo.json`."""

    def __init__(self, home: Path) -> None:
        self.final = home / "demo.json"
        self._path = home / "demo.unfinished.json"
        self._notes: dict[str, str] = json.loads(self._path.read_text()) if self._path.exists() else {}

    @property
    def is_begun(self) -> bool:
        """Return whether a demo was started and not finished."""
        return bool(self._notes)

    @property
    def is_finished(self) -> bool:
        """Return whether the demo has been created."""
        return self.final.exists()

    def get(self, name: str) -> str | None:
        """Return a value."""
        return self._notes.get(name)

    def keep(self, name: str, value: str) -> str:
        """Store a value before it is used."""
        self._notes[name] = value
        _write(self._path, self._notes)
        return value

    def password(self, email: str) -> str:
        """Return the person's password, created on first use."""
        name = f"password:{email}"
        return self._notes.get(name) or self.keep(name, secrets.token_urlsafe(12))

    def refresh(self, changes: dict[str, Any]) -> None:
        """Update demo.json."""
        content = json.loads(self.final.read_text())
        if content != (changed := content | changes):
            _write(self.final, changed)

    def finish(self, content: dict[str, Any]) -> None:
        """Write demo.json."""
        _write(self.final, content)
        self._path.unlink(missing_ok=True)


def _write(path: Path, content: dict[str, Any]) -> None:
    """Write atomically, readable only by the owner."""
    part = path.with_suffix(".part")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump(content, file, indent=2, ensure_ascii=False)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
