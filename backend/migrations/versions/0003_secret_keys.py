"""Data keys and the keys of server wallets, encrypted in the database."""

from backend.migrations.frozen import execute

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the tables of keys."""
    execute("0003", "changes")
