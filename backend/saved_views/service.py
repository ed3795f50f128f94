"""Saved views of the signed-in person in the entered organization."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa

from backend.auth.principal import Context
from backend.core.errors import Conflict, NotFound
from backend.lists.pages import Listing, Page
from backend.organizations import quotas
from backend.saved_views.models import SavedViewRow
from backend.saved_views.schemas import SavedView, SavedViewCreate, SavedViewList

VIEWS = sa.inspect(SavedViewRow).local_table
LIST = Listing.of(VIEWS.c, "created_at", names=(VIEWS.c.name,))
MOST = 50
"""Views of one person in one organization."""


async def page(context: Context, page: Page, of: str | None) -> SavedViewList:
    """Return a page of the person's views, of one list or all."""
    query = sa.select(VIEWS).where(*_own(context))
    shown, paging = await page.read(context.session, query.where(VIEWS.c.page == of) if of else query)
    return SavedViewList(saved_views=[SavedView.model_validate(row) for row in shown], **paging)


async def create(context: Context, body: SavedViewCreate) -> SavedView:
    """Save a view; 409 where the person has one of this name for the list, or the most that they can have."""
    await quotas.queue(context.session, context.organization_id)
    own = sa.select(sa.func.count()).select_from(VIEWS).where(*_own(context))
    if await context.session.scalar(own.where(VIEWS.c.page == body.page, VIEWS.c.name == body.name)):
        raise Conflict("You have a view of this name for this list. Delete it, or choose another name.")
    if (await context.session.scalar(own) or 0) >= MOST:
        raise Conflict(f"You have {MOST} views in this organization, the most that one person can have. Delete one.")
    person = context.require_person().user_id
    row = SavedViewRow(organization_id=context.organization_id, user_id=person, **body.model_dump())
    context.session.add(row)
    await context.session.flush()
    return SavedView.model_validate(row)


async def delete(context: Context, view_id: UUID) -> None:
    """Delete a view; 404 where the person has none with this ID."""
    gone = sa.delete(SavedViewRow).where(*_own(context), VIEWS.c.id == view_id).returning(VIEWS.c.id)
    if await context.session.scalar(gone) is None:
        raise NotFound("You have no view with this ID in this organization.")


def _own(context: Context) -> tuple[sa.ColumnElement[bool], ...]:
    person: Any = context.require_person().user_id
    return VIEWS.c.organization_id == context.organization_id, VIEWS.c.user_id == person
