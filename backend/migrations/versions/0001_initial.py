"""Tables, roles, row-level security and the functions that bypass it."""

from pathlib import Path

from alembic import op
from sqlmodel import SQLModel

import backend.models  # noqa: F401  (fills the metadata)

revision = "0001"
down_revision = None

SQL = Path(__file__).resolve().parent.parent / "sql"


def upgrade() -> None:
    """Create the schema. Until the first release the tables are those of the models; later they are written out."""
    connection = op.get_bind()
    SQLModel.metadata.create_all(connection)
    for name in ("roles", "policies", "functions", "people", "audit", "live_updates", "investors"):
        connection.exec_driver_sql((SQL / f"{name}.sql").read_text().replace("%", "%%"))


def downgrade() -> None:
    """Drop everything that upgrade created."""
    connection = op.get_bind()
    SQLModel.metadata.drop_all(connection)
