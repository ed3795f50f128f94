"""Balances of tokens, kept as transfers are read."""

from backend.migrations.frozen import execute

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Create the table, fill it from the transfers, and let triggers keep it."""
    execute("0006", "changes")
