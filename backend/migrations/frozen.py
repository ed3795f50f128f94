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
