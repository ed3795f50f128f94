"""The person whom an investor can contact."""

from backend.migrations.frozen import execute

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Create the function that names them."""
    execute("0004", "changes")
