"""Bring a database to the newest schema: ours by Alembic, the workflow engine's by DBOS."""

from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from sqlalchemy.engine import make_url

LOCK = 0x5167_6E75
"""Key of the advisory lock under which migrations run, so that two starts do not race."""


def owner_url(url: str) -> str:
    """The owner's URL for psycopg 3, the one driver."""
    return make_url(url).set(drivername="postgresql+psycopg").render_as_string(hide_password=False)


def migrate(url: str) -> None:
    """Upgrade to head. Safe to repeat and to run twice at once."""
    from dbos import DBOS

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).resolve().parent))
    engine = sa.create_engine(owner_url(url), poolclass=sa.pool.NullPool)
    with engine.connect() as connection:
        connection.execute(sa.text("select pg_advisory_lock(:key)"), {"key": LOCK})
        connection.commit()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        connection.commit()
        # The worker's role too: what it notices, such as an attestation's end, may have to be delivered.
        for role in ("signum_app", "signum_worker"):
            DBOS.migrate(owner_url(url), application_role=role)
        connection.execute(sa.text("select pg_advisory_unlock(:key)"), {"key": LOCK})
        connection.commit()
    engine.dispose()
