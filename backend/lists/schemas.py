"""Schemas that every list shares."""

from enum import StrEnum
from typing import TypedDict

from pydantic import BaseModel, Field


class SortOrder(StrEnum):
    """The direction of a sort."""

    ASC = "asc"
    DESC = "desc"


class RecordPage(BaseModel):
    """A page of a list. `estimatedCount` (on request, `count=estimated`) is the number of records that match."""

    estimatedCount: int | None = Field(default=None, ge=0, exclude_if=lambda count: count is None)


class Paging(TypedDict):
    """The fields of a page beside its records."""

    nextCursor: str | None
    estimatedCount: int | None
