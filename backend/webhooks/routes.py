"""`/v1/orgs/{orgId}/webhooks` and the public list of event types."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Response, status

from backend.auth.guard import Current, GuardedRoute, public, requires
from backend.auth.scopes import Scope
from backend.lists.pages import SHORT, Page
from backend.webhooks import catalogue, delivery_log, recovery, replays, service
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

# Declared at import.
router = APIRouter(tags=["Webhooks"], route_class=GuardedRoute)
ENDPOINTS = "/orgs/{orgId}/webhooks"
ENDPOINT = ENDPOINTS + "/{webhookId}"


@router.get("/webhooks/event-types")
@public
async def list_event_types(context: Current, page: Annotated[Page, Depends(SHORT.page)]) -> EventTypeList:
    """List the event types an endpoint can receive."""
    return EventTypeList(event_types=page.kept(catalogue.event_types()))


@router.get(ENDPOINTS)
@requires(Scope.ORGS_READ)
async def list_webhooks(
    context: Current,
    orgId: UUID,
    page: Annotated[Page, Depends(service.LIST.page)],
    status: EndpointStatus | None = None,
) -> WebhookList:
    """List endpoints, newest first, without their secrets."""
    return await service.page(context, page, status)


@router.post(ENDPOINTS, status_code=status.HTTP_201_CREATED)
@requires(Scope.ORGS_WRITE, fresh=True)
async def create_webhook(context: Current, orgId: UUID, body: WebhookCreate, response: Response) -> WebhookWithSecret:
    """Create an endpoint. `secret` is shown only in this response.

    The URL must be https and resolve to a public address; an installation with embedded chains also accepts
    `http://localhost:…`.
    """
    response.headers["Cache-Control"] = "no-store"
    return await service.create(context, body)


@router.get(ENDPOINT)
@requires(Scope.ORGS_READ)
async def get_webhook(context: Current, orgId: UUID, webhookId: UUID) -> Webhook:
    """Get an endpoint."""
    return await service.one(context, webhookId)


@router.patch(ENDPOINT)
@requires(Scope.ORGS_WRITE, fresh=True)
async def update_webhook(context: Current, orgId: UUID, webhookId: UUID, body: WebhookUpdate) -> Webhook:
    """Update an endpoint, disable it or enable it again. Missed deliveries are kept for 30 days: `recover` sends
    them."""
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
    """Rotate the secret; the new one is shown only in this response. For a day (or `overlap_seconds`) both sign every
    delivery."""
    response.headers["Cache-Control"] = "no-store"
    return await service.rotate(context, webhookId, body or SecretRotation())


@router.post(ENDPOINT + "/test", status_code=status.HTTP_201_CREATED)
@requires(Scope.ORGS_WRITE)
async def test_webhook(context: Current, orgId: UUID, webhookId: UUID, response: Response) -> Delivery:
    """Create a delivery of `webhook.test` to this endpoint; `Location` shows its result. 409 if it is disabled."""
    delivery = await replays.test(context, webhookId)
    response.headers["Location"] = f"/v1/orgs/{orgId}/webhooks/{webhookId}/deliveries/{delivery.id}"
    return delivery


@router.post(ENDPOINT + "/recover", status_code=status.HTTP_202_ACCEPTED)
@requires(Scope.ORGS_WRITE)
async def recover_webhook(
    context: Current, orgId: UUID, webhookId: UUID, body: Recovery, response: Response
) -> RecoveryAccepted:
    """Send again every failed delivery of events since a time, oldest first. 409 if the endpoint is disabled."""
    accepted, request = await recovery.recover(context, webhookId, body.since)
    response.headers["Location"] = f"/v1/orgs/{orgId}/requests/{request.id}"
    return accepted


@router.get(ENDPOINT + "/deliveries")
@requires(Scope.ORGS_READ)
async def list_deliveries(
    context: Current,
    orgId: UUID,
    webhookId: UUID,
    page: Annotated[Page, Depends(delivery_log.LIST.page)],
    status: DeliveryStatus | None = None,
    event_type: EventType | None = None,
) -> DeliveryList:
    """List deliveries of an endpoint in the last 30 days, newest event first, with the beginning of each response."""
    return await delivery_log.page(context, webhookId, page, status, event_type)


@router.get(ENDPOINT + "/deliveries/{deliveryId}")
@requires(Scope.ORGS_READ)
async def get_delivery(context: Current, orgId: UUID, webhookId: UUID, deliveryId: UUID) -> Delivery:
    """Get a delivery with its status and latest attempts."""
    return await delivery_log.one(context, webhookId, deliveryId)


@router.post(ENDPOINT + "/deliveries/{deliveryId}/replay")
@requires(Scope.ORGS_WRITE)
async def replay_delivery(context: Current, orgId: UUID, webhookId: UUID, deliveryId: UUID) -> Delivery:
    """Queue a delivery again now, under the same `webhook-id`, with ten more attempts: its status is `pending` until
    one succeeds or the last one fails. 409 if the endpoint is disabled."""
    return await replays.replay(context, webhookId, deliveryId)
