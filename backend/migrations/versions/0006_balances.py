"""Balances of tokens, kept as transfers are read, and indexes of filters."""

from backend.migrations.frozen import execute, execute_apart

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Create the indexes without blocking writes; create the table, fill it, and let triggers keep it."""
    execute_apart("0006", "indexes")
    execute("0006", "changes")
