"""Operator commands on a database: create the first organization and its admin, or a new signing key."""

from uuid import UUID

import sqlalchemy as sa

from backend.auth import tokens
from backend.cli.database import outside
from backend.core.changes import publish, shown
from backend.core.errors import CannotStart
from backend.core.settings import Settings
from backend.organizations.models import OrganizationRow
from backend.organizations.schemas import Organization
from backend.sign_in.accounts import create_account
from backend.users.models import MemberRow
from backend.users.schemas import Role


async def found(settings: Settings, organization: str, email: str, name: str, password: str) -> UUID:
    """Create the first organization and its admin; refuses where an organization exists.

    Returns the organization's id.
    """
    async with outside(settings) as session:
        if await session.scalar(sa.select(sa.exists(sa.select(OrganizationRow)))):
            raise CannotStart("This database already has organizations. Invite people in the console.")
        user = await create_account(session, email, name, password)
        row = OrganizationRow(name=organization)
        session.add(row)
        await session.flush()
        session.add(MemberRow(organization_id=row.id, user_id=user.id, role=Role.ADMIN))
        await publish(session, row.id, "organization.created", ("organization", row.id), None, shown(Organization, row))
        return row.id


async def rotate(settings: Settings) -> str:
    """Create a new signing key; return its id."""
    async with outside(settings) as session:
        return await tokens.rotate(session)
