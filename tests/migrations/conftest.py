"""Databases for tests of migrations: empty ones and migrated ones."""

from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from backend.core import logins
from backend.migrations import migrate
from tests.support import schemas


@pytest.fixture
def empty(database_url: str) -> Iterator[str]:
    """The URL of an empty database of its own."""
    with schemas.database(database_url) as url:
        yield url


@pytest.fixture(scope="session")
def newest(database_url: str) -> Iterator[str]:
    """The name of a migrated database that no one uses, for copies."""
    with schemas.database(database_url) as url:
        migrate.migrate(url)
        yield str(sa.make_url(url).database)


@pytest.fixture
def migrated(database_url: str, newest: str) -> Iterator[str]:
    """The URL of a migrated database of its own."""
    with schemas.database(database_url, template=newest) as url:
        engine = sa.create_engine(logins.owner_url(url), poolclass=sa.NullPool)
        with engine.begin() as connection:
            logins.make(connection, url)
        yield url
