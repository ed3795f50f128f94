"""`/v1/orgs/{orgId}/events` and `/v1/orgs/{orgId}/requests/{requestId}/events`."""

from functools import partial
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Header, Request, Response

from backend.auth.guard import Current, GuardedRoute, requires
from backend.auth.principal import Context
from backend.auth.scopes import READS, Scope
from backend.live_updates import callers, feeds, organization_log, progress
from backend.live_updates.schemas import OrganizationEvent
from backend.live_updates.streams import Admission, EventStream, OpenFeed
from backend.requests import listing
from backend.requests.schemas import Request as RequestRecord

# Declared at import.
router = APIRouter(prefix="/orgs/{orgId}", route_class=GuardedRoute)
READABLE = tuple(sorted(READS))
LastEventId = Annotated[
    str | None,
    Header(
        alias="Last-Event-ID",
        max_length=64,
        description="The ID of the last event that was received, to resume after it.",
    ),
]


def _documented(record: type[Any], more: str) -> dict[int | str, dict[str, Any]]:
    """Return the description of a stream whose events are records."""
    words = f"A stream of Server-Sent Events; the schema is that of each. {more}"
    return {200: {"model": record, "description": words, "content": {"text/event-stream": {}}}}


@router.get(
    "/events",
    tags=["Organizations"],
    response_class=EventStream,
    status_code=200,
    responses={**_documented(OrganizationEvent, "The stream has no end."), 410: {}},
)
@requires(*READABLE)
async def stream_events(context: Current, request: Request, orgId: UUID, last_event_id: LastEventId = None) -> Response:
    """Stream the organization's events as they happen: the event types of webhooks, without an endpoint.

    Events are in the order of their numbers; a caller receives those whose subject it may read. With Last-Event-ID the
    stream resumes after that event, without loss and duplicates (410 after more than 100,000 changes). An event named
    `problem` is the last one where the caller loses access.
    """
    position = await organization_log.resumed(context.session, orgId, last_event_id)
    return await _stream(context, request, READABLE, partial(feeds.organization_feed, position=position))


@router.get(
    "/requests/{requestId}/events",
    tags=["Requests"],
    response_class=EventStream,
    status_code=200,
    responses={
        **_documented(RequestRecord, "It ends after the final status."),
        204: {"description": "The request has ended, and the client has received its final state."},
    },
)
@requires(Scope.ORGS_READ)
async def stream_request_events(
    context: Current, request: Request, orgId: UUID, requestId: UUID, last_event_id: LastEventId = None
) -> Response:
    """Stream a request: its current state, then its state after each change of its status or of a step.

    Changes within a moment may be one event. The stream ends after the final status. With Last-Event-ID it continues
    after that state. An event named `problem` is the last one where the caller loses access.
    """
    state = progress.state_of(await listing.one(context, requestId))
    if state.is_final and state.id == last_event_id:
        return Response(status_code=204)
    feed = partial(feeds.request_feed, request_id=requestId, first=state, seen=last_event_id)
    return await _stream(context, request, (Scope.ORGS_READ,), feed)


async def _stream(context: Context, request: Request, needed: tuple[Scope, ...], feed: OpenFeed) -> Response:
    holder = await callers.holder(context)
    organization_id, scopes = context.organization_id, context.scopes
    return EventStream(
        Admission(request, holder, lambda wake: callers.enter(request, organization_id, needed, scopes, wake)), feed
    )
