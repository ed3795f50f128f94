"""Request and response bodies of saved views."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from backend.core.fields import Body, Name, Record
from backend.lists.schemas import RecordPage

PageName = Annotated[
    str, StringConstraints(pattern=r"^[a-z][a-z-]{0,39}$"), Field(json_schema_extra={"examples": ["attestations"]})
]
"""The page of a list, as its path ends in the console."""
Query = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_.~%+=&-]*$", max_length=2_000),
    Field(json_schema_extra={"examples": ["show=expiring"]}),
]
"""Parameters of a page's URL: filters, search and sort, without the question mark."""


class SavedViewCreate(Body):
    """A view to save."""

    page: PageName
    name: Name
    query: Query


class SavedView(Record):
    """A view of the signed-in person."""

    id: UUID
    page: PageName
    name: Name
    query: Query
    created_at: datetime


class SavedViewList(RecordPage):
    """A page of the signed-in person's views in an organization."""

    saved_views: list[SavedView]
    nextCursor: str | None
