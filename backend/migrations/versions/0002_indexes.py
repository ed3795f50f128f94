"""Indexes: search by the marks of names and codes instead of every row, and attestations by expiry."""

from backend.migrations.frozen import execute, execute_apart

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create the marks, the indexes without blocking writes, and then the search that reads them."""
    execute("0002", "marks")
    execute_apart("0002", "indexes")
    execute("0002", "search")
