"""Lists of organizations, the tree, and who has access. Paths are computed only for the rows of a page."""

from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth.principal import Context
from backend.auth.scopes import ROLE_SCOPES, Scope
from backend.core.errors import BadRequest, NotFound
from backend.core.pagination import read_as
from backend.core.recorded_time import recorded_now
from backend.lists.pages import Listing, Page
from backend.organizations import hierarchy
from backend.organizations.schemas import Access, AccessList, OrganizationList, OrganizationListed, Tree, TreeNode
from backend.requests.models import ApprovalRow, RequestRow

_ASKER = sa.bindparam("asker", type_=sa.Uuid())
LIST = Listing()
"""In the order of their functions, which also apply `q`."""
REACHED = "select * from signum_reach(:person, :search, :before, :before_id, :most, cast(:address as inet))"
LISTED = "select * from signum_listed(:org, :below, :search, :before, :before_id, :most, cast(:address as inet))"
CHILDREN = "select * from signum_children(:node, :search, :name, :last, :most, cast(:address as inet))"
ACCESS = """
select user_id, display_name, email, role, organization_id, organization_name, height,
       height > 0 as inherited, lower(coalesce(display_name, email, '')) as sort
from signum_access(:org) where role <> 'client' and (
  cast(:search as text) is null
  or strpos(lower(concat_ws(chr(31), display_name, email, role, organization_name)), lower(cast(:search as text))) > 0
  or length(cast(:search as text)) >= 4 and starts_with(cast(user_id as text), lower(cast(:search as text))))
"""
APPROVING = """
select *, case
  when user_id = :asker then 'requester'
  when not role = any(:roles) then 'role'
  else nullif(signum_second_person(user_id, :asker, :org, array[role], :asked_at), '') end as cannot_approve
"""
"""Of a page of people, because the function takes as long as reading the page."""
AFTER = "and (height, lower(coalesce(display_name, email, '')), user_id) > (:height, :sort, :user)"


async def reached(context: Context, page: Page) -> OrganizationList:
    """Return a page of the organizations that the caller reaches: for a key or application its own organization, for a
    person every organization at or below their roles. Organizations that do not allow the caller's address are omitted.
    """
    if context.home:
        await context.enter(context.home, Scope.ORGS_READ)
        return await _page(context, page, LISTED, org=context.organization_id, below=False)
    return await _page(context, page, REACHED, person=context.require_person().user_id)


async def below(context: Context, page: Page) -> OrganizationList:
    """Return a page of the organizations directly below the entered one."""
    return await _page(context, page, LISTED, org=context.organization_id, below=True)


async def _page(context: Context, page: Page, text: str, **values: Any) -> OrganizationList:
    time, last = page.position(2) if page.cursor else (None, None)
    known = {**values, "search": page.q or None, "address": context.ip_address}
    place = {
        "before": time and read_as(datetime, time),
        "before_id": last and read_as(UUID, last),
        "most": page.limit + 1,
    }
    rows = (await context.session.execute(sa.text(text), known | place)).all()
    shown, cursor = page.cut(rows)
    count = await page.counted(context.session, text, {**known, "before": None, "before_id": None})
    listed = [OrganizationListed.model_validate(r) for r in shown]
    return OrganizationList(organizations=listed, nextCursor=cursor, estimatedCount=count)


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
    cursor = page.following(shown[-1].sort, str(shown[-1].id)) if len(rows) > page.limit else None
    nodes = [_node(r, len(path)) for r in shown]
    if parent is None and page.cursor is None and not page.q:
        nodes.insert(0, _node(await _own(context, node), len(path) - 1))
    count = await page.counted(
        context.session, CHILDREN, {**_children_of(context, node, page), "name": None, "last": None}
    )
    return Tree(nodes=nodes, nextCursor=cursor, estimatedCount=count)


async def _own(context: Context, organization_id: UUID) -> Any:
    values = {"org": organization_id, "below": False, "search": None, "before": None, "before_id": None, "most": 1}
    return (await context.session.execute(sa.text(LISTED), values | {"address": context.ip_address})).one()


def _children_of(context: Context, node: UUID, page: Page) -> dict[str, Any]:
    return {"node": node, "search": page.q or None, "address": context.ip_address}


async def _children(context: Context, node: UUID, page: Page) -> Any:
    name, last = page.position(2) if page.cursor else (None, None)
    place = {"name": name, "last": _id(last) if last else None, "most": page.limit + 1}
    return (await context.session.execute(sa.text(CHILDREN), _children_of(context, node, page) | place)).all()


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


async def access(context: Context, page: Page, approval_id: UUID | None) -> AccessList:
    """Return a page of the people whose role reaches the entered organization, where each role is assigned, and who
    could approve an approval, or without one a new request of the caller. 404 where it is not of the organization."""
    asked = await _asked(context, approval_id)
    known = {"org": context.organization_id, "search": page.q or None}
    values: dict[str, Any] = known | {"most": page.limit + 1}
    if page.cursor:
        height, sort, user = page.position(3)
        values |= {"height": _height(height), "sort": sort, "user": _id(user)}
    listed = f"{ACCESS} {AFTER if page.cursor else ''} order by height, sort, user_id limit :most"
    text = sa.text(f"{APPROVING} from ({listed}) listed order by height, sort, user_id")
    rows = (await context.session.execute(text.bindparams(_ASKER), values | asked)).all()
    shown = rows[: page.limit]
    more = len(rows) > page.limit
    cursor = page.following(str(shown[-1].height), shown[-1].sort, str(shown[-1].user_id)) if more else None
    count = await page.counted(context.session, f"{ACCESS} limit :most", known)
    return AccessList(access=[Access.model_validate(r) for r in shown], nextCursor=cursor, estimatedCount=count)


async def _asked(context: Context, approval_id: UUID | None) -> dict[str, Any]:
    """Return who asked for what, and when: the parameters of `APPROVING`."""
    if approval_id is None:
        return {"asker": context.user_id, "asked_at": recorded_now(), "roles": [str(role) for role in ROLE_SCOPES]}
    query = (
        sa.select(col(ApprovalRow.asked_by), col(ApprovalRow.created_at), col(RequestRow.scope))
        .join(RequestRow, col(RequestRow.id) == col(ApprovalRow.request_id))
        .where(col(ApprovalRow.id) == approval_id, col(ApprovalRow.organization_id) == context.organization_id)
    )
    row = (await context.session.execute(query)).one_or_none()
    if row is None:
        raise NotFound("There is no approval with this ID in this organization.")
    roles = [str(role) for role, scopes in ROLE_SCOPES.items() if Scope(row.scope) in scopes]
    return {"asker": row.asked_by, "asked_at": row.created_at, "roles": roles}


def _id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise BadRequest("The cursor is not valid for this list. Start again without one.") from error


def _height(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 3:
        raise BadRequest("The cursor is not valid for this list. Start again without one.")
    return int(text)
