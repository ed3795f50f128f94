"""The parts all tests share: one PostgreSQL, its schema, one running API. Real in every part."""

import os
import secrets
import time

from tests.scratch import scratch

HOME = scratch("tests")
os.environ["SIGNUM_HOME"] = str(HOME)
os.environ["SIGNUM_DEMO"] = "0"
os.environ["SIGNUM_RATE_LIMITS"] = "off"
os.environ.pop("DATABASE_URL", None)

from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio
import sqlalchemy as sa
from limits.aio.storage import memory
from sqlmodel import col

from backend import db, logs, runtime
from backend.api import create_api
from backend.auth import rate_limit
from backend.auth.credentials import cookie_name
from backend.auth.limiter import Limiter
from backend.auth.scopes import Scope
from backend.auth.secrets import api_key, digest, hash_password
from backend.auth.service import open_browser_session, open_session
from backend.chain import devnet
from backend.client import SignumClient
from backend.members.schemas import Role
from backend.migrations.migrate import migrate
from backend.models import ApiKeyRow, MemberRow, OrganizationRow, OutboxRow, UserRow
from backend.postgres import EmbeddedPostgres
from backend.settings import settings
from tests.audited import Audited, audit_faults
from tests.documented import Documented
from tests.held import watched

logs.configure()

PASSWORD = "correct horse battery"
_PASSWORD_HASH = hash_password(PASSWORD)


@pytest.fixture(scope="session")
def database_url() -> Iterator[str]:
    """A migrated database on an embedded server of the tests' own."""
    server = EmbeddedPostgres(HOME / "pg")
    url = server.start()
    migrate(url)
    yield url
    server.stop()


@pytest.fixture(scope="session")
def chains() -> Iterator[None]:
    """The embedded chains, of the tests' own."""
    devnet.start(HOME)
    yield
    devnet.stop()


@pytest_asyncio.fixture(scope="session")
async def api(database_url: str, chains: None) -> AsyncIterator[Any]:
    """The running API: database, workflow engine, embedded chains."""
    runtime.use_database(database_url)
    app = create_api()
    faults: dict[str, None] = {}
    successes: dict[str, list[str]] = defaultdict(list)
    app.add_middleware(Documented, document=app.openapi(), faults=faults)
    app.add_middleware(Audited, document=app.openapi(), successes=successes)
    held: dict[str, None] = {}
    async with runtime.running(settings()):
        await runtime.until_ready()
        with watched(held):
            yield app
        silent = await audit_faults(successes)
    assert list(faults) == [], "what the OpenAPI document does not say"
    assert silent == [], "what the audit log does not say"
    assert not held, "\n".join(["these ask a chain while holding a connection:", *held])


@pytest.fixture(scope="session")
def client(api: Any) -> SignumClient:
    """A client of the API in this process; sign in by `cookie=`, `token=` or `headers={"x-api-key": …}`."""
    return SignumClient(transport=runtime.local_transport(api))


@dataclass
class Actor:
    """A person with a role somewhere, and a client that acts as them."""

    user_id: UUID
    email: str
    cookie: str
    client: SignumClient

    async def call(self, method: str, path: str, **options: Any) -> Any:
        """A call as this person."""
        return await self.client.call(method, path, cookie=self.cookie, **options)


class World:
    """Makes organizations, people and keys directly in the database, for tests of everything else."""

    def __init__(self, client: SignumClient) -> None:
        self.client = client

    async def organization(self, name: str = "Acme", parent: UUID | None = None) -> UUID:
        """An organization; its id."""
        async with db.worker() as session:
            row = OrganizationRow(name=name, parent_id=parent)
            session.add(row)
        return row.id

    async def person(self, organization: UUID, role: Role = Role.ADMIN, email: str | None = None) -> Actor:
        """A signed-in person with a role in an organization."""
        email = email or f"p{secrets.token_hex(4)}@example.com"
        async with db.worker() as session:
            user = UserRow(email=email, display_name=email.split("@")[0].title(), password_hash=_PASSWORD_HASH)
            session.add(user)
            await session.flush()
            session.add(MemberRow(organization_id=organization, user_id=user.id, role=role))
            # Without the password, which takes longer than most of what is then done.
            row, secret = await open_session(session, user, "browser", "tests", "127.0.0.1", timedelta(days=1))
            # A module's people may act for longer than a sign-in counts as proof.
            row.proven_at = db.now() + timedelta(days=1)
        return Actor(user.id, email, f"{cookie_name()}={secret}", self.client)

    async def sign_in(self, email: str, password: str = PASSWORD) -> str:
        """The cookie header of a fresh browser session."""
        async with db.transaction() as session:
            secret = await open_browser_session(session, email, password, "tests", "127.0.0.1")
        return f"{cookie_name()}={secret}"

    async def letter(self, organization: UUID) -> str:
        """The text of the newest mail of an organization, which nobody gets by the API."""
        query = sa.select(col(OutboxRow.body)).where(col(OutboxRow.organization_id) == organization)
        async with db.worker() as session:
            return (await session.scalars(query.order_by(col(OutboxRow.created_at).desc()).limit(1))).one()

    async def key(self, organization: UUID, *scopes: Scope, created_by: UUID | None = None) -> dict[str, str]:
        """The headers of an API key with some scopes (all, where none is named)."""
        key = api_key()
        async with db.worker() as session:
            session.add(
                ApiKeyRow(
                    organization_id=organization,
                    name="test",
                    scopes=[str(s) for s in scopes or tuple(Scope)],
                    key_hash=digest(key),
                    prefix=key[:8],
                    last_four=key[-4:],
                    created_by=created_by,
                )
            )
        return {"x-api-key": key}


@pytest.fixture
def world(client: SignumClient) -> World:
    """Organizations, people and keys on demand."""
    return World(client)


@pytest.fixture
def one_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that are counted in memory see one moment only: no window of theirs ends under a test."""
    now = time.time()
    monkeypatch.setattr(memory, "time", SimpleNamespace(time=lambda: now))


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch, one_moment: None) -> None:
    """Rate limits, which tests work without, from zero."""
    monkeypatch.setattr(rate_limit, "is_on", lambda: True)
    monkeypatch.setattr(rate_limit, "_limiter", Limiter())
