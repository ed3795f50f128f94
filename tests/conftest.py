"""Fixtures that all tests share: one PostgreSQL, its schema, one running API. Every part is real."""

import os
import secrets
import time

from tests.support.night import NIGHT
from tests.support.scratch import scratch

HOME = scratch("tests")
os.environ["SIGNUM_HOME"] = str(HOME)
os.environ["SIGNUM_DEMO"] = "0"
os.environ["SIGNUM_RATE_LIMITS"] = "off"
os.environ |= NIGHT
os.environ.pop("DATABASE_URL", None)

from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import orjson
import pytest
import pytest_asyncio
import sqlalchemy as sa
from limits.aio.storage import memory
from sqlmodel import col

from backend.api import create_api
from backend.auth.credentials import cookie_name
from backend.auth.scopes import Scope
from backend.auth.secrets import api_key, digest, hash_password
from backend.chain.devnet import anvil
from backend.client import SignumClient
from backend.core import db
from backend.core.logs import output
from backend.core.runtime import runtime as process
from backend.core.settings import settings
from backend.limits import rate_limits
from backend.limits.moving_windows import Limiter
from backend.migrations.migrate import migrate
from backend.models import ApiKeyRow, MemberRow, OrganizationRow, OutboxRow, UserRow
from backend.server import runtime
from backend.server.postgres import EmbeddedPostgres
from backend.sign_in.service import check_password, open_browser, open_session
from backend.users.schemas import Role
from tests.support.audit_guard import WHOLE_RUN, Audited, audit_faults
from tests.support.connection_guard import watched
from tests.support.openapi_guard import Documented

output.configure()

DOCUMENT = Path(__file__).parents[1] / "backend" / "openapi.json"
PASSWORD = "correct horse battery"
_PASSWORD_HASH = hash_password(PASSWORD)


@pytest.fixture(scope="session")
def database_url() -> Iterator[str]:
    """A migrated database on a separate embedded server."""
    server = EmbeddedPostgres(HOME / "pg")
    url = server.start()
    migrate(url)
    yield url
    server.stop()


@pytest.fixture(scope="session")
def chains() -> Iterator[None]:
    """Separate embedded chains."""
    anvil.start(HOME)
    yield
    anvil.stop()


@pytest_asyncio.fixture(scope="session")
async def api(database_url: str, chains: None) -> AsyncIterator[Any]:
    """The running API: database, workflow engine, embedded chains."""
    runtime.use_database(database_url)
    app = create_api()
    faults: dict[str, None] = {}
    successes: dict[str, list[str]] = defaultdict(list)
    # The committed document, which is read sooner than written again; a test compares the two.
    document = orjson.loads(DOCUMENT.read_bytes())
    app.add_middleware(Documented, document=document, faults=faults)
    app.add_middleware(Audited, document=document, successes=successes)
    held: dict[str, None] = {}
    async with runtime.running(settings()):
        await runtime.until_ready()
        with watched(held):
            yield app
        silent = await audit_faults(successes, is_whole_run=WHOLE_RUN in os.environ)
    assert list(faults) == [], "missing in the OpenAPI document"
    assert silent == [], "missing in the audit log"
    assert not held, "\n".join(["these ask a chain while holding a connection:", *held])


@pytest.fixture(scope="session")
def client(api: Any) -> SignumClient:
    """A client of the API in this process; sign in by `cookie=`, `token=` or `headers={"x-api-key": …}`."""
    return SignumClient(transport=runtime.local_transport(api))


@dataclass
class Actor:
    """A person with a role in an organization, and a client that acts as them."""

    user_id: UUID
    email: str
    cookie: str
    client: SignumClient

    async def call(self, method: str, path: str, **options: Any) -> Any:
        """Call the API as this person."""
        return await self.client.call(method, path, cookie=self.cookie, **options)


class World:
    """Creates organizations, people and keys directly in the database, for tests of other features."""

    def __init__(self, client: SignumClient) -> None:
        self.client = client

    async def organization(self, name: str = "Acme", parent: UUID | None = None) -> UUID:
        """Create an organization and return its id."""
        async with db.worker() as session:
            row = OrganizationRow(name=name, parent_id=parent)
            session.add(row)
        return row.id

    async def operator(self) -> UUID:
        """Return the operator's organization: the first root of the installation."""
        async with db.worker() as session:
            first: UUID | None = await session.scalar(sa.text("select signum_operator()"))
        return first or await self.organization("Operator")

    async def person(self, organization: UUID, role: Role = Role.ADMIN, email: str | None = None) -> Actor:
        """Create a signed-in person with a role in an organization."""
        email = email or f"p{secrets.token_hex(4)}@example.com"
        async with db.worker() as session:
            user = UserRow(email=email, display_name=email.split("@")[0].title(), password_hash=_PASSWORD_HASH)
            session.add(user)
            await session.flush()
            session.add(MemberRow(organization_id=organization, user_id=user.id, role=role))
            # Without the password, whose hash takes longer than most tests' work.
            row, secret = await open_session(session, user, "browser", "tests", "127.0.0.1", timedelta(days=1))
            # People of a module can act for longer than a sign-in counts as proof.
            row.proven_at = db.now() + timedelta(days=1)
        return Actor(user.id, email, f"{cookie_name()}={secret}", self.client)

    async def sign_in(self, email: str, password: str = PASSWORD) -> str:
        """Return the cookie header of a fresh browser session."""
        async with db.transaction() as session:
            user = await check_password(session, email, password, "127.0.0.1")
            secret = await open_browser(session, user, "tests", "127.0.0.1")
        return f"{cookie_name()}={secret}"

    async def letter(self, organization: UUID) -> str:
        """Return the text of the newest email of an organization, which the API shows to no one."""
        query = sa.select(col(OutboxRow.body)).where(col(OutboxRow.organization_id) == organization)
        async with db.worker() as session:
            return (await session.scalars(query.order_by(col(OutboxRow.created_at).desc()).limit(1))).one()

    async def key(self, organization: UUID, *scopes: Scope, created_by: UUID | None = None) -> dict[str, str]:
        """Return the headers of an API key with some scopes, by default all."""
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
def frozen_limit_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that are counted in memory see a single moment: no window ends during a test."""
    now = time.time()
    monkeypatch.setattr(memory, "time", SimpleNamespace(time=lambda: now))


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch, frozen_limit_clock: None) -> None:
    """Rate limits, which other tests disable, starting from zero."""
    monkeypatch.setattr(rate_limits, "is_on", lambda: True)
    monkeypatch.setattr(process.part(rate_limits.Counts), "limiter", Limiter())
