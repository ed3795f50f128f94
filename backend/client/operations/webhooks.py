"""Webhooks. Made by `make client` from backend/openapi.json."""

from backend.client.connection import Connection, Id, path
from backend.client.content import Download
from backend.client.pages import Pages
from backend.client.repeating import new_key
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


class WebhooksOperations(Connection):
    """Webhooks."""

    async def list_event_types(self) -> EventTypeList:
        """Everything an endpoint can be told of."""
        return await self._send(EventTypeList, "GET", "/webhooks/event-types")

    def list_webhooks(
        self, org_id: Id, *, status: EndpointStatus | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Pages[WebhookList, Webhook]:
        """Endpoints, newest first; never their secrets.

        Scope: `orgs:read`.
        """
        return self._pages(
            WebhookList,
            "webhooks",
            path("/orgs/{}/webhooks", org_id),
            {"status": status, "limit": limit, "cursor": cursor},
        )

    async def create_webhook(
        self, org_id: Id, body: WebhookCreate, *, idempotency_key: str | None = None
    ) -> WebhookWithSecret:
        """Make an endpoint. `secret` is shown in this answer only.

        The URL is https and leads to a public address; an installation with embedded chains takes
        `http://localhost:…` too.

        Scope: `orgs:write`.
        """
        return await self._send(
            WebhookWithSecret, "POST", path("/orgs/{}/webhooks", org_id), body=body, key=idempotency_key or new_key()
        )

    async def get_webhook(self, org_id: Id, webhook_id: Id) -> Webhook:
        """One endpoint.

        Scope: `orgs:read`.
        """
        return await self._send(Webhook, "GET", path("/orgs/{}/webhooks/{}", org_id, webhook_id))

    async def update_webhook(
        self, org_id: Id, webhook_id: Id, body: WebhookUpdate, *, idempotency_key: str | None = None
    ) -> Webhook:
        """Change an endpoint, disable it or enable it again. What it missed is kept for 30 days: `recover` sends
        it.

        Scope: `orgs:write`.
        """
        return await self._send(
            Webhook,
            "PATCH",
            path("/orgs/{}/webhooks/{}", org_id, webhook_id),
            body=body,
            key=idempotency_key or new_key(),
        )

    async def delete_webhook(self, org_id: Id, webhook_id: Id) -> None:
        """Delete an endpoint with its log; nothing more is sent to it.

        Scope: `orgs:write`.
        """
        await self._do("DELETE", path("/orgs/{}/webhooks/{}", org_id, webhook_id))

    async def rotate_webhook_secret(
        self, org_id: Id, webhook_id: Id, body: SecretRotation | None = None, *, idempotency_key: str | None = None
    ) -> WebhookWithSecret:
        """Make a new secret, shown in this answer only. For a day (or `overlap_seconds`) both sign every delivery.

        Scope: `orgs:write`.
        """
        return await self._send(
            WebhookWithSecret,
            "POST",
            path("/orgs/{}/webhooks/{}/rotate-secret", org_id, webhook_id),
            body=body,
            key=idempotency_key or new_key(),
        )

    async def test_webhook(self, org_id: Id, webhook_id: Id, *, idempotency_key: str | None = None) -> Delivery:
        """Send `webhook.test` to this endpoint; what came of it is in the log at `Location`. Disabled: 409.

        Scope: `orgs:write`.
        """
        return await self._send(
            Delivery, "POST", path("/orgs/{}/webhooks/{}/test", org_id, webhook_id), key=idempotency_key or new_key()
        )

    async def recover_webhook(
        self, org_id: Id, webhook_id: Id, body: Recovery, *, idempotency_key: str | None = None
    ) -> RecoveryAccepted:
        """Send again every delivery of an event since a time that has failed, oldest first. Disabled: 409.

        Scope: `orgs:write`.
        """
        return await self._send(
            RecoveryAccepted,
            "POST",
            path("/orgs/{}/webhooks/{}/recover", org_id, webhook_id),
            body=body,
            key=idempotency_key or new_key(),
        )

    def list_deliveries(
        self,
        org_id: Id,
        webhook_id: Id,
        *,
        status: DeliveryStatus | None = None,
        event_type: EventType | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Pages[DeliveryList, Delivery]:
        """What was sent to an endpoint in the last 30 days, newest event first, with the beginning of its answers.

        Scope: `orgs:read`.
        """
        return self._pages(
            DeliveryList,
            "deliveries",
            path("/orgs/{}/webhooks/{}/deliveries", org_id, webhook_id),
            {"status": status, "event_type": event_type, "limit": limit, "cursor": cursor},
        )

    async def replay_delivery(
        self, org_id: Id, webhook_id: Id, delivery_id: Id, *, idempotency_key: str | None = None
    ) -> Delivery:
        """Send a delivery again now, under the same `webhook-id`, with ten attempts more. Disabled: 409.

        Scope: `orgs:write`.
        """
        return await self._send(
            Delivery,
            "POST",
            path("/orgs/{}/webhooks/{}/deliveries/{}/replay", org_id, webhook_id, delivery_id),
            key=idempotency_key or new_key(),
        )

    def list_event_types_csv(self) -> Download:
        """`/webhooks/event-types` as CSV: every record that its filters leave, in one stream."""
        return self._download("/webhooks/event-types.csv")

    def list_webhooks_csv(self, org_id: Id, *, status: EndpointStatus | None = None) -> Download:
        """`/orgs/{orgId}/webhooks` as CSV: every record that its filters leave, in one stream.

        Scope: `orgs:read`.
        """
        return self._download(path("/orgs/{}/webhooks.csv", org_id), query={"status": status})

    def list_deliveries_csv(
        self, org_id: Id, webhook_id: Id, *, status: DeliveryStatus | None = None, event_type: EventType | None = None
    ) -> Download:
        """`/orgs/{orgId}/webhooks/{webhookId}/deliveries` as CSV: every record that its filters leave, in one
        stream.

        Scope: `orgs:read`.
        """
        return self._download(
            path("/orgs/{}/webhooks/{}/deliveries.csv", org_id, webhook_id),
            query={"status": status, "event_type": event_type},
        )
