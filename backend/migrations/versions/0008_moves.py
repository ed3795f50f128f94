"""Moves: what is known below an organization is found from the few rows that say it."""

from backend.migrations.frozen import execute, execute_apart

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Create the indexes without blocking reads or writes, and the functions."""
    execute_apart("0008", "apart")
    execute("0008", "changes")
