"""Search by words: in any order, without accents, chains by name, and codes in their shortened form."""

from backend.migrations.frozen import execute, execute_apart

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Create the functions and, without blocking writes, the indexes; then the search that reads them. The old indexes
    are dropped last. Every statement can be repeated."""
    execute("0009", "words")
    execute_apart("0009", "indexes")
    execute("0009", "search")
    execute_apart("0009", "unused")
