"""Migration of a database to the newest schema: Signum's with Alembic, the workflow engine's with DBOS."""

from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory

from backend.core import logins
from backend.core.errors import CannotStart
from backend.core.locks import MIGRATION
from backend.core.logins import owner_url

# The engine itself would grant all rights, so that a role could plant a trigger for the owner's next migration to run.
# The worker's role has these rights too: changes that it detects, such as an attestation's expiry, may need deliveries.
RIGHTS = (
    "revoke all on all tables in schema dbos from signum_app, signum_worker",
    "grant usage on schema dbos to signum_app, signum_worker",
    "grant select, insert, update, delete on all tables in schema dbos to signum_app, signum_worker",
    "revoke insert, update, delete on dbos.dbos_migrations from signum_app, signum_worker",
    "grant usage, select on all sequences in schema dbos to signum_app, signum_worker",
    "grant execute on all functions in schema dbos to signum_app, signum_worker",
)


def migrate(url: str) -> None:
    """Upgrade to head. Safe to repeat and to run concurrently."""
    from dbos import DBOS

    config = _config()
    engine = sa.create_engine(owner_url(url), poolclass=sa.pool.NullPool, hide_parameters=True)
    with engine.connect() as connection:
        connection.execute(sa.text("select pg_advisory_lock(:key)"), {"key": MIGRATION})
        connection.commit()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        connection.commit()
        DBOS.migrate(owner_url(url))
        for statement in RIGHTS:
            connection.execute(sa.text(statement))
        logins.make(connection, url)
        connection.commit()
        connection.execute(sa.text("select pg_advisory_unlock(:key)"), {"key": MIGRATION})
        connection.commit()
    engine.dispose()


def check(url: str) -> None:
    """Raise CannotStart where the schema is not the current one. Needs no owner's rights."""
    engine = sa.create_engine(logins.role_url(url, logins.WEB), poolclass=sa.pool.NullPool, hide_parameters=True)
    head = ScriptDirectory.from_config(_config()).get_current_head()
    try:
        with engine.connect() as connection:
            found = connection.scalar(sa.text("select version_num from schema_version"))
    except sa.exc.ProgrammingError:
        found = None
    if found != head:
        raise CannotStart(
            f"The database's schema is {found or 'missing'}, not {head}. Run `signum migrate` as its owner."
        )


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).resolve().parent))
    return config
