"""Lists of organizations, the tree, and who has access. Paths are computed only for the rows of a page."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa

from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.core.errors import BadRequest, NotFound
from backend.core.pagination import Page, decode, decode_parts, encode_parts
from backend.organizations import hierarchy
from backend.organizations.schemas import Access, AccessList, OrganizationList, OrganizationListed, Tree, TreeNode

ACCESS = """
select user_id, display_name, email, role, organization_id, organization_name, height,
       height > 0 as inherited, lower(coalesce(display_name, email, '')) as sort
from signum_access(:org) where role <> 'client'
"""
AFTER = "and (height, lower(coalesce(display_name, email, '')), user_id) > (:height, :sort, :user)"


async def reached(context: Context, page: Page, search: str | None) -> OrganizationList:
    """Return a page of the organizations that the caller reaches: for a key or application its own organization, for a
    person every organization at or below their roles. Organizations that do not allow the caller's address are omitted.
    """
    if context.home:
        await context.enter(context.home, Scope.ORGS_READ)
        rows = await _listed(context, context.organization_id, below=False, page=page)
        return _page(page, [r for r in rows if not search or search.lower() in r.name.lower()])
    person = context.require_person()
    text = sa.text(
        "select * from signum_reach(:person, :search, :before, :before_id, :most, cast(:address as inet))"
    ).bindparams(sa.bindparam("before", type_=sa.DateTime(timezone=True)), sa.bindparam("before_id", type_=sa.Uuid()))
    values = {"person": person.user_id, "search": search or None, "address": context.ip_address, **_before(page)}
    return _page(page, (await context.session.execute(text, values)).all())


async def below(context: Context, page: Page) -> OrganizationList:
    """Return a page of the organizations directly below the entered one."""
    return _page(page, await _listed(context, context.organization_id, below=True, page=page))


async def _listed(context: Context, organization_id: UUID, *, below: bool, page: Page) -> Any:
    text = sa.text("select * from signum_listed(:org, :below, :before, :before_id, :most, cast(:address as inet))")
    values = {"org": organization_id, "below": below, "address": context.ip_address, **_before(page)}
    return (await context.session.execute(text, values)).all()


def _before(page: Page) -> dict[str, Any]:
    time, last = decode(page.cursor) if page.cursor else (None, None)
    return {"before": time, "before_id": last, "most": page.limit + 1}


def _page(page: Page, rows: Any) -> OrganizationList:
    shown, cursor = page.cut(rows)
    return OrganizationList(organizations=[OrganizationListed.model_validate(r) for r in shown], nextCursor=cursor)


async def tree(context: Context, page: Page, parent: UUID | None) -> Tree:
    """Return a page of a node's children by name; without `parent`, the first page starts with the entered
    organization. 404 if the node is not at or below the entered organization."""
    node = parent or context.organization_id
    path = await hierarchy.path(context.session, node)
    if not any(p.id == context.organization_id for p in path):
        raise NotFound("There is no organization with this ID at or below this one.")
    await context.check_address(node)
    rows = await _children(context, node, page)
    shown = rows[: page.limit]
    cursor = encode_parts(shown[-1].sort, str(shown[-1].id)) if len(rows) > page.limit else None
    nodes = [_node(r, len(path)) for r in shown]
    if parent is None and page.cursor is None:
        own = (await _listed(context, node, below=False, page=page))[0]
        nodes.insert(0, _node(own, len(path) - 1))
    return Tree(nodes=nodes, nextCursor=cursor)


async def _children(context: Context, node: UUID, page: Page) -> Any:
    name, last = decode_parts(page.cursor, 2) if page.cursor else (None, None)
    values = {"node": node, "name": name, "last": _id(last) if last else None, "most": page.limit + 1}
    values["address"] = context.ip_address
    text = sa.text("select * from signum_children(:node, :name, :last, :most, cast(:address as inet))")
    return (await context.session.execute(text, values)).all()


def _node(row: Any, depth: int) -> TreeNode:
    return TreeNode(
        id=row.id,
        name=row.name,
        status=row.status,
        parent_id=row.parent_id,
        depth=depth,
        has_children=row.child_count > 0,
        child_count=row.child_count,
    )


async def access(context: Context, page: Page) -> AccessList:
    """Return a page of the people whose role reaches the entered organization, and where each role is assigned."""
    values: dict[str, Any] = {"org": context.organization_id, "most": page.limit + 1}
    if page.cursor:
        height, sort, user = decode_parts(page.cursor, 3)
        values |= {"height": _height(height), "sort": sort, "user": _id(user)}
    text = f"{ACCESS} {AFTER if page.cursor else ''} order by height, sort, user_id limit :most"
    rows = (await context.session.execute(sa.text(text), values)).all()
    shown = rows[: page.limit]
    more = len(rows) > page.limit
    cursor = encode_parts(str(shown[-1].height), shown[-1].sort, str(shown[-1].user_id)) if more else None
    return AccessList(access=[Access.model_validate(r) for r in shown], nextCursor=cursor)


def _id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise BadRequest("The cursor is not valid for this list. Start again without one.") from error


def _height(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 3:
        raise BadRequest("The cursor is not valid for this list. Start again without one.")
    return int(text)
