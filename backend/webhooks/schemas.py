"""API schemas of webhook endpoints, deliveries and event types."""

import re
from enum import StrEnum
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit
from uuid import UUID

from pydantic import AfterValidator, BaseModel, Field, StringConstraints

from backend.core.fields import (
    Acceptance,
    Body,
    Changes,
    Flag,
    Moment,
    Record,
    Text,
    Timestamp,
    Whole,
    explained,
    never_null,
)
from backend.lists.schemas import RecordPage

EVERY = "*"
"""As the only event type of an endpoint: all events, including future types."""
NO_EVENT_TYPE = 'is not an event type; GET /webhooks/event-types lists them, and "*" is all of them'
ALONE = {"if": {"contains": {"const": EVERY}}, "then": {"maxItems": 1}}


class EventType(StrEnum):
    """Event types that an endpoint can receive."""

    ORGANIZATION_CREATED = "organization.created"
    ORGANIZATION_UPDATED = "organization.updated"
    ORGANIZATION_MOVED = "organization.moved"
    MEMBER_ADDED = "member.added"
    MEMBER_UPDATED = "member.updated"
    MEMBER_REMOVED = "member.removed"
    INVITATION_CREATED = "invitation.created"
    INVITATION_ACCEPTED = "invitation.accepted"
    INVITATION_REVOKED = "invitation.revoked"
    INVITATION_EXPIRED = "invitation.expired"
    ASSET_CREATED = "asset.created"
    ASSET_UPDATED = "asset.updated"
    ASSET_FAILED = "asset.failed"
    BRIDGE_SUBMITTING = "bridge.submitting"
    BRIDGE_CONFIRMED = "bridge.confirmed"
    BRIDGE_FAILED = "bridge.failed"
    BRIDGE_RETURNED = "bridge.returned"
    MARKET_PENDING_BRIDGE = "market.pending_bridge"
    MARKET_ACTIVE = "market.active"
    MARKET_HALTED = "market.halted"
    MARKET_FAILED = "market.failed"
    ORDER_PLACED = "order.placed"
    ORDER_PARTIALLY_FILLED = "order.partially_filled"
    ORDER_FILLED = "order.filled"
    ORDER_CANCELLED = "order.cancelled"
    ORDER_FAILED = "order.failed"
    TRADE_EXECUTED = "trade.executed"
    DISTRIBUTION_CREATED = "distribution.created"
    DISTRIBUTION_ACTIVATED = "distribution.activated"
    ISSUER_REGISTERED = "issuer.registered"
    ISSUER_FAILED = "issuer.failed"
    PARTY_VERIFIED = "party.verified"
    PARTY_REJECTED = "party.rejected"
    ATTESTATION_ACTIVE = "attestation.active"
    ATTESTATION_REVOKED = "attestation.revoked"
    ATTESTATION_EXPIRED = "attestation.expired"
    ATTESTATION_FAILED = "attestation.failed"
    TRANSFER_CONFIRMED = "transfer.confirmed"
    TRANSFER_FAILED = "transfer.failed"
    WALLET_CREATED = "wallet.created"
    API_KEY_CREATED = "api_key.created"
    API_KEY_REVOKED = "api_key.revoked"
    CHAIN_ENABLED = "chain.enabled"
    CHAIN_DISABLED = "chain.disabled"
    WEBHOOK_TEST = "webhook.test"


class EndpointStatus(StrEnum):
    """Whether an endpoint receives deliveries."""

    ENABLED = "enabled"
    DISABLED = "disabled"


class DisabledReason(StrEnum):
    """Why an endpoint is disabled: by a person, by its own 410, because all attempts failed for days, because the key
    or application that made it has ended, or because of too many events in a day. With the last reason, new events are
    not stored: enable it again the next day, or subscribe it to fewer events."""

    MANUAL = "manual"
    GONE = "gone"
    FAILING = "failing"
    MAKER_ENDED = "maker_ended"
    TOO_MANY_EVENTS = "too_many_events"


class DeliveryStatus(StrEnum):
    """Status of a delivery; `failed` is final unless the delivery is replayed."""

    PENDING = "pending"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


def _url(value: str) -> str:
    """Validate the form of a URL; `rules.check_url` and, at every send, `egress` check its target."""
    if not re.fullmatch(r"[\x21-\x7e]+", value) or "\\" in value:
        raise ValueError(
            "must be a URL in printable ASCII without spaces or backslashes (encode other characters in punycode)"
        )
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError as error:
        raise ValueError("is not a URL") from error
    if parts.scheme.lower() not in ("https", "http") or not parts.hostname:
        raise ValueError("must be an absolute URL such as https://example.com/webhooks")
    if "@" in parts.netloc:
        raise ValueError("has a user name or password; remove it, because the signature proves the sender")
    if "#" in value:
        raise ValueError("has a fragment, which is never sent; remove it")
    if port == 0:
        raise ValueError("has the port 0; use another one")
    return value


def _event_types(values: list[str]) -> list[str]:
    if len(set(values)) != len(values):
        raise ValueError("contains duplicates")
    if EVERY in values and len(values) > 1:
        raise ValueError('has "*" and other values; "*" alone means every event')
    return values


Url = Annotated[
    str,
    StringConstraints(min_length=1, max_length=2_000),
    AfterValidator(_url),
    Field(json_schema_extra={"format": "uri"}, examples=["https://example.com/webhooks/signum"]),
]


EventTypes = Annotated[
    list[Annotated[EventType | Literal["*"], explained(NO_EVENT_TYPE)]],
    Field(min_length=1, max_length=len(EventType), json_schema_extra={"uniqueItems": True, **ALONE}),
    AfterValidator(_event_types),
]


class WebhookCreate(Body):
    """A new endpoint. `include_descendants`: also events in the organizations below this one that the caller's role
    reaches; only a person can set it."""

    url: Url
    event_types: EventTypes = ["*"]
    description: Text | None = None
    include_descendants: Flag = False


class WebhookUpdate(Changes):
    """A change of an endpoint (JSON merge patch). Enabling it again does not send missed deliveries: `recover` does."""

    url: Annotated[Url | None, Field(json_schema_extra=never_null)] = None
    event_types: Annotated[EventTypes | None, Field(json_schema_extra=never_null)] = None
    description: Text | None = None
    include_descendants: Annotated[Flag | None, Field(json_schema_extra=never_null)] = None
    status: Annotated[EndpointStatus | None, Field(json_schema_extra=never_null)] = None


class Webhook(Record):
    """An endpoint without its secret. `old_secrets_until` is when the last rotated secret ends, null if only one signs.
    `parent_id` is the key, and `client_id` the application, that created it, or last changed its URL or enabled it: it
    is disabled when that ends. Both are null if a person did so. `disabled_by_name` is the person who disabled it, for
    an API key its creator; null if that was automatic."""

    id: UUID
    organization_id: UUID
    url: str
    event_types: list[str]
    description: str | None
    include_descendants: bool
    status: EndpointStatus
    disabled_reason: DisabledReason | None
    disabled_at: Timestamp | None
    disabled_by_name: str | None = None
    parent_id: UUID | None = None
    client_id: UUID | None = None
    api_version: Literal["v1"]
    last_success_at: Timestamp | None
    last_failure_at: Timestamp | None
    old_secrets_until: Timestamp | None
    created_at: Timestamp
    updated_at: Timestamp


class WebhookWithSecret(Webhook):
    """The only response that contains a new secret (`whsec_…`)."""

    secret: str | None


class WebhookList(RecordPage):
    """A page of endpoints."""

    webhooks: list[Webhook]
    nextCursor: str | None


class SecretRotation(Body):
    """How long the previous secret still signs in addition to the new one: a day, unless it has leaked."""

    overlap_seconds: Annotated[Whole, Field(ge=0, le=86_400)] = 86_400


class Try(Record):
    """One attempt. `response_status` is null without a response; `failure` explains why."""

    at: Timestamp
    response_status: int | None
    failure: str | None
    duration_ms: int


class Payload(Record):
    """The body sent to an endpoint: IDs and status, no personal data."""

    type: EventType
    timestamp: Timestamp
    data: dict[str, Any]


class Delivery(Record):
    """One event to deliver to one endpoint. `attempt` counts since it was first sent or last replayed; `attempts` are
    the latest tries, oldest first. `event_id` is the `webhook-id` of every try."""

    id: UUID
    organization_id: UUID
    webhook_id: UUID
    event_id: UUID
    event_type: EventType
    status: DeliveryStatus
    attempt: int
    response_status: int | None
    response_body: str | None
    failure: str | None
    attempted_at: Timestamp | None
    next_attempt_at: Timestamp | None
    attempts: list[Try]
    payload: Payload
    created_at: Timestamp
    updated_at: Timestamp


class DeliveryList(RecordPage):
    """A page of an endpoint's deliveries."""

    deliveries: list[Delivery]
    nextCursor: str | None


class Recovery(Body):
    """The time from which failed deliveries are sent again."""

    since: Moment


class RecoveryAccepted(Acceptance):
    """The recovery was accepted; its request says how many deliveries are sent again."""

    webhookId: UUID


class EventTypeInfo(Record):
    """Description of an event type. `group` is the kind of its subject."""

    type: EventType
    group: str
    description: str


class EventTypeList(BaseModel):
    """Every event type."""

    event_types: list[EventTypeInfo]
    nextCursor: None = None
