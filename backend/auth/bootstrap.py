"""What an operator does to a database from outside: the first organization and its admin, a new signing key."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

import sqlalchemy as sa

import backend.listeners
import backend.models  # noqa: F401  (rows refer to each other's tables)
from backend import db
from backend.auth import tokens
from backend.auth.accounts import create_account
from backend.changes import shown, tell
from backend.errors import CannotStart, SignumError
from backend.members.models import MemberRow
from backend.members.schemas import Role
from backend.organizations.models import OrganizationRow
from backend.organizations.schemas import Organization
from backend.postgres import outside_url
from backend.settings import Settings


async def found(settings: Settings, organization: str, email: str, name: str, password: str) -> UUID:
    """Make them; refuses where an organization exists. The id of the organization."""
    async with outside(settings) as session:
        if await session.scalar(sa.select(sa.exists(sa.select(OrganizationRow)))):
            raise CannotStart("This database has organizations already; invite people in the console.")
        user = await create_account(session, email, name, password)
        row = OrganizationRow(name=organization)
        session.add(row)
        await session.flush()
        session.add(MemberRow(organization_id=row.id, user_id=user.id, role=Role.ADMIN))
        await tell(session, row.id, "organization.created", ("organization", row.id), None, shown(Organization, row))
        return row.id


async def rotate(settings: Settings) -> str:
    """Let a new key sign; its id."""
    async with outside(settings) as session:
        return await tokens.rotate(session)


@asynccontextmanager
async def outside(settings: Settings) -> AsyncIterator[db.Write]:
    """A transaction of the worker's role, without a server; what fails says why in one line."""
    db.start(settings.outside_database or outside_url(settings.home))
    try:
        async with db.worker() as session:
            yield session
    except sa.exc.OperationalError as error:
        raise CannotStart("The database does not answer. Start `signum serve` first, or set DATABASE_URL.") from error
    except SignumError as error:
        raise CannotStart(error.detail) from error
    finally:
        await db.stop()
