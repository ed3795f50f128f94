"""URLs of the embedded PostgreSQL server."""

from pathlib import Path
from urllib.parse import quote

DATABASE = "signum"


def outside_url(home: Path) -> str:
    """Return the owner's URL of the server that another process started on a data folder."""
    return url_at(home / "pg", DATABASE)


def url_at(folder: Path, database: str) -> str:
    """Return the owner's URL of a database of the server whose socket is in a folder."""
    return f"postgresql://postgres@/{database}?host={quote(str(folder))}"
