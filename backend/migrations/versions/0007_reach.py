"""Search and lists of many organizations: the number below each is kept, and the newest are found by an index."""

from backend.migrations.frozen import execute, execute_apart

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add the column and the index without blocking reads or writes; count, and let a trigger keep the number."""
    execute_apart("0007", "apart")
    execute("0007", "changes")
