"""Facts about an organization and all below it, for trees of thousands: they are those that a plain walk finds."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from backend.core import logins
from backend.core.db import new_id
from backend.migrations import migrate
from backend.models import DailyLimitRow, DeploymentRow, EndpointRow, IssuerWalletRow, OrganizationRow
from tests.support import schemas
from tests.support.many_organizations import cost

BELOW = 3_000
INNER = 100
"""The organizations that can have others below them."""
MARKED = {"none": 0.0, "few": 0.004, "many": 0.6}
"""The share of organizations with each mark; more than 1,000 have one only with `many`."""
FACTS = ("signum_requiring_approval", "signum_known_chains", "signum_most_receivers", "signum_height")
EIDS = (40161, 40245, 40362)


class Forest:
    """A root with thousands below it, below another root; what each has; and a second, smaller tree with the same."""

    def __init__(self, seed: int, marked: float) -> None:
        self.random = random.Random(seed)
        self.marked = marked
        self.top, self.root, self.other = (self._id() for _ in range(3))
        self.parents: dict[UUID, UUID | None] = {self.top: None, self.root: self.top, self.other: None}
        inner = [self.root]
        for number in range(BELOW):
            added = self._id()
            self.parents[added] = self.random.choice(inner if number >= INNER else inner[-8:])
            inner += [added] if number < INNER else []
        for _ in range(20):
            self.parents[self._id()] = self.other
        self.inner = inner
        self.approving, self.limiting = self._some(), self._some()
        self.receivers = {place: self.random.randint(1, 3) for place in self._some()}
        self.issuers = {place: self.random.choice(EIDS) for place in self._some()}
        self.tokens = {place: self.random.choice(EIDS) for place in self._some()}

    def _id(self) -> UUID:
        return UUID(int=self.random.getrandbits(128))

    def _some(self) -> set[UUID]:
        return {place for place in self.parents if self.random.random() < self.marked}

    def rows(self) -> Iterator[Any]:
        """Yield the rows of all tables."""
        for place, parent in self.parents.items():
            approvals = ["token.pause"] if place in self.approving else []
            yield OrganizationRow(id=place, name="One", parent_id=parent, approvals=approvals)
        for place in self.limiting:
            yield DailyLimitRow(organization_id=place, asset_id=new_id(), amount=1)
        for place, count in self.receivers.items():
            for number in range(count + 1):
                said = {"url": "https://hooks.example.com", "event_types": ["*"], "secret": "s"}
                yield EndpointRow(organization_id=place, include_descendants=number > 0, **said)
        for place, eid in self.issuers.items():
            yield IssuerWalletRow(organization_id=place, issuer_id=new_id(), chain_eid=eid, address="0x")
        for place, eid in self.tokens.items():
            yield DeploymentRow(organization_id=place, asset_id=new_id(), chain_eid=eid)

    def path(self, place: UUID) -> list[UUID]:
        """Return an organization and those above it."""
        parent = self.parents[place]
        return [place, *(self.path(parent) if parent else [])]

    def facts(self, root: UUID) -> dict[str, Any]:
        """Return what the functions should return, from the path of every organization."""
        paths = [path for path in map(self.path, self.parents) if root in path]
        heights = {path[0]: path.index(root) for path in paths}
        requiring = sorted((height, place) for place, height in heights.items() if self._requires(place))
        known = {owners[place] for owners in (self.issuers, self.tokens) for place in heights if place in owners}
        return {
            "signum_requiring_approval": [place for _, place in requiring],
            "signum_known_chains": sorted(known),
            "signum_most_receivers": [max(sum(self.receivers.get(place, 0) for place in path) for path in paths)],
            "signum_height": [max(heights.values())],
        }

    def _requires(self, place: UUID) -> bool:
        return place in self.approving or place in self.limiting


@pytest.fixture(scope="module")
def own(database_url: str) -> Iterator[str]:
    """The URL of a database in which no other organization has a mark."""
    with schemas.database(database_url) as url:
        migrate.migrate(url)
        yield url


@contextmanager
def stored(url: str, forest: Forest) -> Iterator[sa.Connection]:
    """Yield a connection of the role of requests that sees the forest; nothing stays."""
    engine = sa.create_engine(logins.owner_url(url), poolclass=sa.NullPool)
    with engine.connect() as connection, connection.begin() as transaction:
        connection.execute(sa.text("set local session_replication_role = replica"))
        with Session(connection, join_transaction_mode="create_savepoint") as session:
            session.add_all(forest.rows())
            session.commit()
        connection.execute(sa.text("analyze organizations"))
        connection.execute(sa.text("set local role signum_app"))
        yield connection
        transaction.rollback()


def found(connection: sa.Connection, root: UUID, entered: UUID) -> dict[str, Any]:
    """Return what each function returns in a transaction that has entered an organization."""
    connection.execute(sa.text("select set_config('app.organization_ids', :id, true)"), {"id": str(entered)})
    answers = {
        name: list(connection.scalars(sa.text(f"select * from {name}(:root)"), {"root": root})) for name in FACTS
    }
    return answers | {"signum_known_chains": sorted(answers["signum_known_chains"])}


@pytest.mark.parametrize("marked", ["none", "few", pytest.param("many", marks=pytest.mark.long)])
def test_facts_of_a_subtree_are_those_of_a_plain_walk(own: str, marked: str) -> None:
    forest = Forest(1, MARKED[marked])
    with stored(own, forest) as connection:
        some = [forest.root, forest.other, *forest.inner[1:3], *forest.random.sample(list(forest.parents), 4)]
        for root in some:
            entered = forest.random.choice(forest.path(root))
            assert found(connection, root, entered) == forest.facts(root), root


def test_facts_of_a_subtree_that_was_not_entered_are_hidden(own: str) -> None:
    forest = Forest(3, MARKED["few"])
    hidden = {
        "signum_requiring_approval": [],
        "signum_known_chains": [],
        "signum_most_receivers": [0],
        "signum_height": [0],
    }
    with stored(own, forest) as connection:
        for entered in (forest.other, forest.inner[-1]):
            assert found(connection, forest.root, entered) == hidden


def test_facts_of_a_large_subtree_with_few_marks_do_not_read_all_of_it(own: str) -> None:
    forest = Forest(4, MARKED["few"])
    with stored(own, forest) as connection:
        found(connection, forest.root, forest.root)
        for name in FACTS:
            read, _ = cost(
                connection.connection.driver_connection,  # type: ignore[arg-type]
                f"select * from {name}(%(root)s)",
                {"root": forest.root},
            )
            assert read < BELOW, name
