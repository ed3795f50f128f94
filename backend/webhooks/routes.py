"""`/v1/orgs/{orgId}/webhooks` and the public list of event types."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Response, status

from backend.auth.route import Current, GuardedRoute, public, requires
from backend.auth.scopes import Scope
from backend.keyset import Page
from backend.webhooks import catalogue, log, service
from backend.webhooks.schemas import (
    Delivery,
    DeliveryList,
    DeliveryStatus,
    EndpointStatus,
    EventType,
    EventTypeList,
    Recovery,
    RecoveryAccepted,
    SecretRotation,
    Webhook,
    WebhookCreate,
    WebhookList,
    WebhookUpdate,
    WebhookWithSecret,
)

router = APIRouter(tags=["Webhooks"], route_class=GuardedRoute)
ENDPOINTS = "/orgs/{orgId}/webhooks"
ENDPOINT = ENDPOINTS + "/{webhookId}"


@router.get("/webhooks/event-types")
@public
async def list_event_types(context: Current) -> EventTypeList:
    """Everything an endpoint can be told of."""
    return EventTypeList(event_types=catalogue.event_types())


@router.get(ENDPOINTS)
@requires(Scope.ORGS_READ)
async def list_webhooks(
    context: Current, orgId: UUID, page: Annotated[Page, Depends()], status: EndpointStatus | None = None
) -> WebhookList:
    """Endpoints, newest first; never their secrets."""
    return await service.page(context, page, status)


@router.post(ENDPOINTS, status_code=status.HTTP_201_CREATED)
@requires(Scope.ORGS_WRITE, fresh=True)
async def create_webhook(context: Current, orgId: UUID, body: WebhookCreate, response: Response) -> WebhookWithSecret:
    """Make an endpoint. `secret` is shown in this answer only.

    The URL is https and leads to a public address; an installation with embedded chains takes `http://localhost:…` too.
    """
    response.headers["Cache-Control"] = "no-store"
    return await service.create(context, body)


@router.get(ENDPOINT)
@requires(Scope.ORGS_READ)
async def get_webhook(context: Current, orgId: UUID, webhookId: UUID) -> Webhook:
    """One endpoint."""
    return await service.one(context, webhookId)


@router.patch(ENDPOINT)
@requires(Scope.ORGS_WRITE, fresh=True)
async def update_webhook(context: Current, orgId: UUID, webhookId: UUID, body: WebhookUpdate) -> Webhook:
    """Change an endpoint, disable it or enable it again. What it missed is kept for 30 days: `recover` sends it."""
    return await service.update(context, webhookId, body)


@router.delete(ENDPOINT, status_code=status.HTTP_204_NO_CONTENT)
@requires(Scope.ORGS_WRITE)
async def delete_webhook(context: Current, orgId: UUID, webhookId: UUID) -> None:
    """Delete an endpoint with its log; nothing more is sent to it."""
    await service.delete(context, webhookId)


@router.post(ENDPOINT + "/rotate-secret")
@requires(Scope.ORGS_WRITE, fresh=True)
async def rotate_webhook_secret(
    context: Current, orgId: UUID, webhookId: UUID, response: Response, body: SecretRotation | None = None
) -> WebhookWithSecret:
    """Make a new secret, shown in this answer only. For a day (or `overlap_seconds`) both sign every delivery."""
    response.headers["Cache-Control"] = "no-store"
    return await service.rotate(context, webhookId, body or SecretRotation())


@router.post(ENDPOINT + "/test", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ORGS_WRITE)
async def test_webhook(context: Current, orgId: UUID, webhookId: UUID, response: Response) -> Delivery:
    """Send `webhook.test` to this endpoint; what came of it is in the log at `Location`. Disabled: 409."""
    response.headers["Location"] = _log_of(orgId, webhookId)
    return await log.test(context, webhookId)


@router.post(ENDPOINT + "/recover", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ORGS_WRITE)
async def recover_webhook(
    context: Current, orgId: UUID, webhookId: UUID, body: Recovery, response: Response
) -> RecoveryAccepted:
    """Send again every delivery of an event since a time that has failed, oldest first. Disabled: 409."""
    accepted, request = await log.recover(context, webhookId, body.since)
    response.headers["Location"] = f"/v1/orgs/{orgId}/requests/{request.id}"
    return accepted


@router.get(ENDPOINT + "/deliveries")
@requires(Scope.ORGS_READ)
async def list_deliveries(
    context: Current,
    orgId: UUID,
    webhookId: UUID,
    page: Annotated[Page, Depends()],
    status: DeliveryStatus | None = None,
    event_type: EventType | None = None,
) -> DeliveryList:
    """What was sent to an endpoint in the last 30 days, newest event first, with the beginning of its answers."""
    return await log.page(context, webhookId, page, status, event_type)


@router.post(ENDPOINT + "/deliveries/{deliveryId}/replay", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ORGS_WRITE)
async def replay_delivery(
    context: Current, orgId: UUID, webhookId: UUID, deliveryId: UUID, response: Response
) -> Delivery:
    """Send a delivery again now, under the same `webhook-id`, with ten attempts more. Disabled: 409."""
    response.headers["Location"] = _log_of(orgId, webhookId)
    return await log.replay(context, webhookId, deliveryId)


def _log_of(organization_id: UUID, webhook_id: UUID) -> str:
    return f"/v1/orgs/{organization_id}/webhooks/{webhook_id}/deliveries"
