"""The version before the newest revision of the schema, from the repository's history."""

import io
import subprocess
import tarfile
from pathlib import Path

from tests.cluster.findings import Differs

ROOT = Path(__file__).resolve().parents[2]
VERSIONS = "backend/migrations/versions"


def commit() -> str:
    """Return the commit before the one that added the newest revision."""
    newest = max((ROOT / VERSIONS).glob("[0-9]*.py")).name
    added = _git("log", "--diff-filter=A", "--format=%H", "-1", "--", f"{VERSIONS}/{newest}").decode().strip()
    if not added:
        raise Differs(f"the history does not say when {newest} was added: clone the whole repository")
    return _git("rev-parse", "--short", f"{added}^").decode().strip()


def unpack(revision: str, folder: Path) -> Path:
    """Write the files of a commit into a folder, and return it."""
    with tarfile.open(fileobj=io.BytesIO(_git("archive", "--format=tar", revision))) as files:
        files.extractall(folder, filter="data")
    return folder


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True).stdout
