"""Row-level security: every table has it, or docs/security.md gives the reason."""

import re
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import ProgrammingError

from backend.auth.secrets import digest, token
from backend.core import db
from backend.core.db import now
from backend.models import OAuthConsentRow, OneTimeSecretRow, RefreshTokenRow
from tests.conftest import Actor, World
from tests.support.firm import Firm

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "security.md"
TABLES = """
  select case n.nspname when 'public' then '' else n.nspname || '.' end || c.relname, c.relrowsecurity
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast') and c.relkind in ('r', 'p')
"""


async def tables(*, closed: bool) -> set[str]:
    async with db.worker() as session:
        return {name for name, is_closed in await session.execute(sa.text(TABLES)) if is_closed is closed}


def explained() -> set[str]:
    """Return the tables that the guide lists as open, each with a reason."""
    section = GUIDE.read_text().split("### Tables without row-level security")[1].split("\n#")[0]
    rows = re.findall(r"^\| (`[^|]+) \| ([^|]+) \|$", section, re.M)
    assert all(len(reason.split()) > 3 for _, reason in rows)
    return {name for names, _ in rows for name in re.findall(r"`([^`]+)`", names)}


async def test_tables_have_row_level_security_or_a_documented_reason(api: Any) -> None:
    assert await tables(closed=False) == explained(), "say in docs/security.md why a table is open, or give it policies"


async def test_web_role_writes_to_no_open_table_but_those_of_the_engine(api: Any) -> None:
    query = f"""
      select name from ({TABLES}) t (name, is_closed) where not is_closed
        and (has_any_column_privilege('signum_app', name, 'insert, update') or
             has_table_privilege('signum_app', name, 'delete, truncate, trigger'))
    """
    async with db.worker() as session:
        open_ = set(await session.scalars(sa.text(query)))
    assert open_ == {name for name in explained() if name.startswith("dbos.")} - {"dbos.dbos_migrations"}


@pytest.mark.parametrize("change", ["update chain_contracts set address = ''", "delete from cursors"])
async def test_web_role_cannot_change_what_every_tenant_relies_on(api: Any, change: str) -> None:
    with pytest.raises(ProgrammingError, match="permission denied"):
        async with db.transaction() as session:
            await session.execute(sa.text(change))


async def test_rows_are_invisible_without_an_identity(world: World) -> None:
    firm = await Firm.found(world)
    await filled(firm.admin, firm)
    for name in sorted(await tables(closed=True)):
        async with db.transaction() as session:
            if await session.scalar(sa.text("select has_any_column_privilege(:t, 'select')"), {"t": name}):
                assert await session.scalar(sa.text(f"select count(*) from {name}")) == 0, name


async def filled(person: Actor, firm: Firm) -> str:
    """Insert a person's row into each credential table; return the secret of a refresh token."""
    secret = token()
    application = await firm.post(
        "/oauth-clients", {"name": "Books", "redirect_uris": ["https://books.example/back"], "scopes": ["openid"]}
    )
    await person.call("POST", f"{firm.base}/wallets", json={"label": "Kept"}, headers={"idempotency-key": token()})
    async with db.worker() as session:
        own = await session.scalar(
            sa.text("select id from sessions where user_id = :u limit 1").columns(sa.column("id", sa.Uuid())),
            {"u": person.user_id},
        )
        session.add(RefreshTokenRow(session_id=own, token_hash=digest(secret), expires_at=now()))
        session.add(
            OneTimeSecretRow(purpose="password", secret_hash=digest(token()), user_id=person.user_id, expires_at=now())
        )
        session.add(OAuthConsentRow(user_id=person.user_id, client_id=UUID(application["id"]), scopes=["openid"]))
    return secret


async def owners(name: str, *organizations: UUID, oneself: UUID | None = None) -> set[UUID]:
    """Return the owners of the rows of a table that a request sees."""
    column = "session_id" if name == "refresh_tokens" else "user_id"
    whose = f"select {column} from {name}"
    if name == "refresh_tokens":
        whose = "select s.user_id from refresh_tokens r join sessions s on s.id = r.session_id"
    async with db.transaction(*organizations) as session:
        if oneself is not None:
            await db.see_oneself(session, oneself)
        return set(await session.scalars(sa.text(whose).columns(sa.column(column, sa.Uuid()))))


@pytest.mark.parametrize("name", ["sessions", "refresh_tokens", "one_time_secrets", "oauth_consents"])
async def test_person_sees_only_own_rows(world: World, name: str) -> None:
    firm, other = await Firm.found(world), await Firm.found(world)
    await filled(firm.admin, firm)
    await filled(other.admin, other)
    assert await owners(name, oneself=firm.admin.user_id) == {firm.admin.user_id}
    # An organization sees only what its own applications were granted.
    assert other.admin.user_id not in await owners(name, firm.id, oneself=firm.admin.user_id)


async def test_secret_opens_only_its_own_row(world: World) -> None:
    firm, other = await Firm.found(world), await Firm.found(world)
    secret = await filled(firm.admin, firm)
    await filled(other.admin, other)
    async with db.transaction() as session:
        await db.prove(session, digest(secret))
        assert await session.scalar(sa.text("select token_hash from refresh_tokens")) == digest(secret)
        async with db.paused(session):
            pass
        assert await session.scalar(sa.text("select count(*) from refresh_tokens")) == 1, "a pause keeps the proof"
    async with db.transaction() as session:
        assert await session.scalar(sa.text("select count(*) from refresh_tokens")) == 0, "its end does not"


async def test_stored_responses_are_visible_to_their_caller_only(world: World) -> None:
    firm, other = await Firm.found(world), await Firm.found(world)
    await filled(firm.admin, firm)
    await filled(other.admin, other)
    async with db.worker() as session:
        names = set(await session.scalars(sa.text("select distinct principal from idempotency_keys")))
    assert len(names) > 1
    async with db.transaction(firm.id, other.id) as session:
        query = sa.text("select distinct principal from idempotency_keys")
        assert set(await session.scalars(query)) == set()
        for name in names:
            await session.execute(sa.text("select set_config('app.principal', :n, true)"), {"n": name})
            assert set(await session.scalars(query)) == {name}


async def test_signing_keys_are_closed_to_requests(api: Any) -> None:
    with pytest.raises(ProgrammingError, match="permission denied"):
        async with db.transaction() as session:
            await session.execute(sa.text("select sealed from signing_keys"))
