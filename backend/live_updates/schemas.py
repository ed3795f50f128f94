"""Events of the streams."""

from typing import Annotated, Any

from pydantic import Field

from backend.core.fields import Record, Timestamp
from backend.webhooks.schemas import EventType


class OrganizationEvent(Record):
    """A change in an organization, as webhooks have it: IDs and status, no personal data. `id` is its number in the
    organization's log, and the `Last-Event-ID` with which a stream resumes after it."""

    id: Annotated[str, Field(examples=["4711"])]
    type: EventType
    timestamp: Timestamp
    data: dict[str, Any]
