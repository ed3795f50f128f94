"""Whether the request of a record waits for a second person."""

from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from backend.requests.models import RequestRow
from backend.requests.schemas import RequestStatus


def awaits_sql(table: str) -> str:
    """Return SQL for whether the request of a table's row (`request_id`) waits for a second person."""
    waits = f"r.status = '{RequestStatus.AWAITING_APPROVAL}'"
    return f"exists (select from requests r where r.id = {table}.request_id and {waits})"


def awaits_approval(table: sa.FromClause) -> sa.ColumnElement[Any]:
    """Return the column `awaits_approval` of a list's query."""
    return sa.literal_column(awaits_sql(str(table)), sa.Boolean()).label("awaits_approval")


def accepted_status(request: RequestRow, status: StrEnum) -> StrEnum:
    """Return the status of an acceptance: the record's, or that its request waits for a second person."""
    return request.status if request.status is RequestStatus.AWAITING_APPROVAL else status
