"""A migrated database of a test, and machines that use it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from backend.migrations import migrate
from tests.secret_keys.processes import Machine
from tests.support import schemas


@pytest.fixture
def url(database_url: str) -> Iterator[str]:
    """The URL of a migrated database of its own."""
    with schemas.database(database_url) as made:
        migrate.migrate(made)
        yield made


@pytest.fixture
def machine(tmp_path: Path, url: str) -> Callable[[str], Machine]:
    """Makes machines by name, each with a data folder."""

    def make(name: str) -> Machine:
        (tmp_path / name).mkdir(exist_ok=True)
        return Machine(tmp_path / name, url)

    return make
