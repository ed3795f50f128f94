"""The root of an organization's hierarchy, for which limits and shares of a tenant count; and the origin of new roots.

Anyone who can add members can have many accounts, and each account can found roots. Daily limits therefore also count
new roots together, for the established organization that the accounts of their founders come from.
"""

import time
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession

from backend.core.runtime import runtime

MOST = 50_000
"""Organizations whose path is remembered: about 30 MB for paths of four organizations."""
LASTS = 60
"""Seconds for which a path is remembered. A move by another process does not end this earlier."""


@dataclass
class Known:
    """Paths to the root by organization, which begin with it, and when each was looked up. For sharing only: a moved
    organization counts for those formerly above it until the entry is too old."""

    paths: dict[UUID, tuple[tuple[str, ...], float]] = field(default_factory=dict)


def path_query(organization_id: UUID) -> sa.Select[Any]:
    """Return the query of the IDs of an organization and those above it, up to the root."""
    path: Any = sa.func.signum_path(organization_id).table_valued("id", "height")
    return sa.select(path.c.id).order_by(path.c.height)


def root_query(organization_id: UUID) -> sa.Select[Any]:
    """Return the query of the root's ID. As a scalar subquery it is also a value of a new row."""
    path: Any = sa.func.signum_path(organization_id).table_valued("id", "height")
    return sa.select(path.c.id).order_by(path.c.height.desc()).limit(1)


async def root_of(session: AsyncSession, organization_id: UUID) -> UUID:
    """Return the root of an organization: itself if nothing is above it, or if it does not exist."""
    found: UUID | None = (await session.scalars(root_query(organization_id))).first()
    return found or organization_id


async def origin_of(session: AsyncSession, organization_id: UUID) -> UUID | None:
    """Return the origin that a hierarchy counts for beside its root while it is new."""
    found: UUID | None = await session.scalar(sa.text("select signum_origin(:id)"), {"id": organization_id})
    return found


async def account_origin(session: AsyncSession, organization_id: UUID) -> UUID:
    """Return the origin of a new account whose person an organization invited."""
    found: UUID = (
        await session.execute(sa.text("select signum_account_origin(:id)"), {"id": organization_id})
    ).scalar_one()
    return found


async def join(session: AsyncSession, person_id: UUID, organization_id: UUID) -> None:
    """Make the organization the origin of a person who joins it before any other."""
    await session.execute(sa.text("select signum_joined(:person, :id)"), {"person": person_id, "id": organization_id})


async def founder_origin(session: AsyncSession, person_id: UUID) -> UUID | None:
    """Return the origin of roots that a person founds. None for an admin of the operator's organization."""
    found: UUID | None = await session.scalar(sa.text("select signum_founder_origin(:id)"), {"id": person_id})
    return found


def known(organization_id: UUID) -> tuple[str, ...] | None:
    """Return an organization and those above it, up to the root, if this process has looked them up within the last
    minute."""
    path, at = runtime.part(Known).paths.get(organization_id, (None, 0.0))
    return path if time.monotonic() - at < LASTS else None


async def learn(session: AsyncSession, organization_id: UUID) -> tuple[str, ...]:
    """Look up an organization's path to its root, and remember it. Only itself if it does not exist."""
    remembered = runtime.part(Known).paths
    ids = (await session.scalars(path_query(organization_id))).all()
    found = tuple(map(str, ids)) or (str(organization_id),)
    if len(remembered) >= MOST:
        remembered.clear()
    remembered[organization_id] = found, time.monotonic()
    return found
