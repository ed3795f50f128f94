"""Webhook endpoints and their deliveries."""

from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlmodel import Field

from backend.core.columns import (
    Row,
    filter_indexes,
    json_field,
    organization_field,
    sort_indexes,
    status_field,
    time_field,
)
from backend.webhooks.schemas import DeliveryStatus, EndpointStatus


class EndpointRow(Row, table=True):
    """A webhook endpoint of an organization. `secret` is encrypted; `old_secrets` are those that still sign:
    `[{"secret": sealed, "until": time}]`. It ends with the key (`parent_id`) or the application's grant (`grant_id`)
    that made it; `signum_maker_ended` says whether that has happened."""

    __tablename__ = "webhook_endpoints"
    __table_args__ = (
        *sort_indexes("webhook_endpoints", "created_at", "updated_at"),
        sa.Index("ix_webhook_endpoints_receivers", "organization_id", postgresql_where=sa.text("include_descendants")),
    )

    organization_id: UUID = organization_field()
    url: str
    event_types: list[str] = Field(sa_type=ARRAY(sa.Text))
    description: str | None = None
    include_descendants: bool = False
    status: EndpointStatus = status_field(EndpointStatus, EndpointStatus.ENABLED)
    disabled_reason: str | None = None
    disabled_at: datetime | None = time_field(nullable=True)
    disabled_by: UUID | None = Field(default=None, foreign_key="users.id")
    """The person, or the creator of the key, that disabled it; null if that was automatic."""
    secret: str
    old_secrets: list[dict[str, Any]] = json_field(list)
    parent_id: UUID | None = Field(default=None, foreign_key="api_keys.id", index=True)
    client_id: UUID | None = Field(default=None, foreign_key="oauth_clients.id", index=True)
    grant_id: UUID | None = None
    """The application's session. No foreign key, because sessions are deleted some time after they end."""
    made_by: UUID | None = Field(default=None, foreign_key="users.id")
    """The person who decided last where events go, or the creator of the key that did: their endpoints share slots."""
    last_success_at: datetime | None = time_field(nullable=True)
    last_failure_at: datetime | None = time_field(nullable=True)


class DeliveryRow(Row, table=True):
    """An event to deliver to an endpoint. It belongs to the endpoint's organization, and contains the exact text that
    is signed, so that it needs no row of the organization in which the event happened."""

    __tablename__ = "webhook_deliveries"
    __table_args__ = (
        *sort_indexes("webhook_deliveries", "created_at", by="endpoint_id"),
        *filter_indexes("webhook_deliveries", "status", by="endpoint_id"),
        sa.Index("ix_webhook_deliveries_due", "next_attempt_at", postgresql_where=sa.text("status = 'pending'")),
        sa.Index("ix_webhook_deliveries_age", "created_at"),
    )

    organization_id: UUID = organization_field()
    endpoint_id: UUID = Field(
        sa_column=sa.Column(
            sa.Uuid, sa.ForeignKey("webhook_endpoints.id", ondelete="CASCADE"), nullable=False, index=False
        )
    )
    event_id: UUID
    event_type: str
    payload: str
    status: DeliveryStatus = status_field(DeliveryStatus, DeliveryStatus.PENDING)
    run: int = 1
    """The ID of the one attempt that may be made next; every other attempt is outdated."""
    attempt: int = 0
    round_began_at: datetime = time_field()
    """When it was first sent, or last replayed."""
    response_status: int | None = None
    response_body: str | None = None
    failure: str | None = None
    attempted_at: datetime | None = time_field(nullable=True)
    next_attempt_at: datetime | None = time_field(nullable=True)
    attempts: list[dict[str, Any]] = json_field(list)
