"""Erasure of personal data from the audit log."""

from backend.migrations.frozen import execute

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the column that names an erasure, and the rule of what it may change."""
    execute("0005", "changes")
