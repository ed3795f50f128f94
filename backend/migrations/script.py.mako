"""${message}"""

from backend.migrations.frozen import execute

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}


def upgrade() -> None:
    """${message}"""
    execute(${repr(up_revision)}, "changes")
