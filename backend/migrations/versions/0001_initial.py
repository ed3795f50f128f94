"""Tables, roles, row-level security and the functions that bypass it."""

from backend.migrations.frozen import execute

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the schema of the first release."""
    execute("0001", "tables", "roles", "policies", "functions", "people", "audit", "live_updates", "investors")
