"""Operator commands on a database: create the first organization and its admin, or a new signing key."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from pydantic import TypeAdapter, ValidationError

from backend.auth import tokens
from backend.cli.database import outside
from backend.core.changes import publish, shown
from backend.core.errors import CannotStart
from backend.core.fields import Email, Name
from backend.core.problems.validation_words import said
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
    organization, name = _checked(Name, organization, "organization"), _checked(Name, name, "name of the admin")
    email = _checked(Email, email, "email")
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


def _checked(kind: Any, text: str, what: str) -> str:
    """Return a text as the API would store it. Raises CannotStart."""
    try:
        return str(TypeAdapter(kind).validate_python(text))
    except ValidationError as error:
        raise CannotStart(f"{text!r} cannot be used as the {what}: {said(error.errors()[0])}") from None


async def rotate(settings: Settings) -> str:
    """Create a new signing key; return its id."""
    async with outside(settings) as session:
        return await tokens.rotate(session)
