"""Walks in the hierarchy, and the lock that keeps it a tree."""

from uuid import UUID

import sqlalchemy as sa

from backend.db import Write
from backend.errors import Conflict
from backend.members.schemas import Role
from backend.organizations.rules import Holder, Node, Place


async def path(session: Write, organization_id: UUID) -> list[Place]:
    """From the root to the organization; empty where there is none."""
    text = sa.text("select id, name from signum_path(:id) order by height desc")
    return [Place(r.id, r.name) for r in await session.execute(text, {"id": organization_id})]


async def subtree(session: Write, root: UUID, most: int) -> tuple[int, int, list[Node]]:
    """How many organizations lie below one, how many levels it and they are high beside itself, and the first of them,
    itself included."""
    text = sa.text("select * from signum_subtree(:id, :most)")
    row = (await session.execute(text, {"id": root, "most": most})).one()
    return row.descendants, row.deepest, [Node.of(n) for n in row.nodes or []]


async def holders(session: Write, organization_id: UUID) -> list[Holder]:
    """People whose role reaches an organization."""
    text = sa.text("select user_id, coalesce(display_name, email, '') as name, role, height from signum_access(:id)")
    rows = await session.execute(text, {"id": organization_id})
    return [Holder(r.user_id, r.name, Role(r.role), r.height) for r in rows]


async def lock(session: Write, *organization_ids: UUID, shared: bool = False) -> None:
    """Until the transaction ends, nobody else moves anything in the trees of these organizations. Locks are taken in
    one order. A 409 where one of them came into another tree while this waited: it would be the wrong lock."""
    roots = await _roots(session, organization_ids)
    kind = "pg_advisory_xact_lock_shared" if shared else "pg_advisory_xact_lock"
    text = sa.text(f"select {kind}(hashtextextended(:name, 0))")
    for root in sorted(roots):
        await session.execute(text, {"name": f"hierarchy {root}"})
    if await _roots(session, organization_ids) != roots:
        raise Conflict("The hierarchy was changed meanwhile; try again.")


async def _roots(session: Write, organization_ids: tuple[UUID, ...]) -> set[UUID]:
    return {(await path(session, i))[0].id for i in organization_ids}
