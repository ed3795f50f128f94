"""Hierarchy queries, and the lock that keeps the hierarchy a tree."""

from uuid import UUID

import sqlalchemy as sa

from backend.core import locks
from backend.core.db import Write
from backend.core.errors import Conflict
from backend.core.locks import Purpose
from backend.organizations.rules import Holder, Node, Place
from backend.users.schemas import Role


async def path(session: Write, organization_id: UUID) -> list[Place]:
    """Return the path from the root to the organization; empty if it does not exist."""
    text = sa.text("select id, name from signum_path(:id) order by height desc")
    return [Place(r.id, r.name) for r in await session.execute(text, {"id": organization_id})]


async def subtree(session: Write, root: UUID, most: int) -> tuple[int, list[Node]]:
    """Return the number of organizations below one, and the subtree's first organizations, itself included."""
    text = sa.text("select descendants, nodes from signum_subtree(:id, :most)")
    row = (await session.execute(text, {"id": root, "most": most})).one()
    return row.descendants, [Node.of(n) for n in row.nodes or []]


async def height(session: Write, root: UUID) -> int:
    """Return the number of levels below an organization."""
    return int(await session.scalar(sa.text("select signum_height(:id)"), {"id": root}) or 0)


async def holders(session: Write, organization_id: UUID) -> list[Holder]:
    """Return the people whose role reaches an organization."""
    text = sa.text("select user_id, coalesce(display_name, email, '') as name, role, height from signum_access(:id)")
    rows = await session.execute(text, {"id": organization_id})
    return [Holder(r.user_id, r.name, Role(r.role), r.height) for r in rows]


async def lock(session: Write, *organization_ids: UUID, shared: bool = False) -> None:
    """Lock the trees of these organizations until the transaction ends. Locks are taken in a fixed order. Raises 409 if
    an organization moved to another tree while this waited, because the lock would be the wrong one."""
    roots = await _roots(session, organization_ids)
    wait = locks.wait_shared if shared else locks.wait
    for root in sorted(roots):
        await wait(session, Purpose.HIERARCHY, root)
    if await _roots(session, organization_ids) != roots:
        raise Conflict("The hierarchy changed during this request. Send it again.")


async def _roots(session: Write, organization_ids: tuple[UUID, ...]) -> set[UUID]:
    return {(await path(session, i))[0].id for i in organization_ids}
