"""The schema that the revisions create is the one that models and current SQL describe."""

import hashlib
from pathlib import Path

import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlmodel import SQLModel

from backend import migrations, models
from backend.core import logins
from backend.migrations import catalog
from tests.support import schemas

assert models
SQL = Path(migrations.__file__).parent / "sql"
CURRENT = (
    *("roles", "policies", "balances", "hierarchy", "search", "functions", "people", "audit", "live_updates"),
    "investors",
)
RELEASED = {
    "0001": "467ca04182d6bf3c",
    "0002": "09800b88374c03f7",
    "0003": "5a3d03ca91ed9fb0",
    "0004": "8279973b8eec32f7",
    "0005": "e652256b365df460",
    "0006": "472cab7bfef0f911",
    "0007": "1ebbfcc0dac74599",
    "0008": "1613d612569c99ea",
    "0009": "91bb4f9659139f59",
}
"""Digest of each revision's module and SQL files."""


def test_revisions_create_what_models_and_current_sql_describe(empty: str, database_url: str) -> None:
    assert {f"{name}.sql" for name in CURRENT} == {path.name for path in SQL.iterdir()}
    engine = sa.create_engine(logins.owner_url(empty), poolclass=sa.NullPool)
    with engine.begin() as connection:
        SQLModel.metadata.create_all(connection)
    schemas.execute(empty, "create table schema_version (version_num text)")
    schemas.execute(empty, *((SQL / f"{name}.sql").read_text() for name in CURRENT))
    assert catalog.differences(schemas.objects(empty), schemas.objects(database_url)) == []


def test_autogeneration_of_a_revision_finds_nothing_to_change(database_url: str) -> None:
    engine = sa.create_engine(logins.owner_url(database_url), poolclass=sa.NullPool)
    with engine.connect() as connection:
        names = {
            "include_name": lambda name, kind, parents: (
                not (kind == "table" and name in catalog.OWN) and not (kind == "index" and name.startswith("marks_"))
            )
        }  # those of search.sql call a function
        context = MigrationContext.configure(connection, opts={"compare_type": True, **names})
        assert compare_metadata(context, SQLModel.metadata) == []


def test_released_revisions_do_not_change() -> None:
    versions = SQL.parent / "versions"
    for revision, expected in RELEASED.items():
        files = [*versions.glob(f"{revision}_*.py"), *sorted((versions / f"v{revision}").iterdir())]
        assert hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16] == expected, revision
    assert set(RELEASED) == {path.name[:4] for path in versions.glob("*.py")}
