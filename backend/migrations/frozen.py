"""SQL of a revision: files that never change once the revision is released."""

from pathlib import Path

import sqlalchemy as sa
from alembic import op

VERSIONS = Path(__file__).resolve().parent / "versions"


def execute(revision: str, *names: str) -> None:
    """Execute files of a revision, `versions/v<revision>/<name>.sql`, in order."""
    for name in names:
        text = (VERSIONS / f"v{revision}" / f"{name}.sql").read_text().rstrip().removesuffix(";")
        op.execute(sa.text(text.replace(":", "\\:")))


def execute_apart(revision: str, name: str) -> None:
    """Execute the statements of a file one by one, each in a transaction of its own, as `create index concurrently`
    needs. They end in a semicolon and a line break, and can be repeated: an interrupted migration runs them again."""
    text = (VERSIONS / f"v{revision}" / f"{name}.sql").read_text()
    with op.get_context().autocommit_block():
        for statement in text.removesuffix(";\n").split(";\n"):
            op.execute(sa.text(statement.replace(":", "\\:")))
