"""Deliveries of a webhook endpoint, as its log and the drawer show them."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from backend.webhooks.schemas import Delivery, DeliveryStatus, Try
from state.core.dates import stamp


@dataclass
class AttemptView:
    """One attempt as text."""

    id: str = ""
    at: str = ""
    said: str = ""
    took: str = ""
    is_good: bool = False


@dataclass
class DeliveryView:
    """A row of the log. `status` is pending, retrying, delivered or failed."""

    id: str = ""
    event_id: str = ""
    event_type: str = ""
    status: str = ""
    said: str = ""
    has_response: bool = False
    attempt: int = 0
    next_attempt_at: str = ""
    created_at: str = ""


@dataclass
class DeliveryDetail:
    """A delivery's fields that only the drawer shows."""

    payload: str = ""
    response: str = ""
    failure: str = ""
    tries: list[AttemptView] = field(default_factory=list)
    missing: str = ""
    """Why there is no response body to show."""


def delivery_view(delivery: Delivery) -> DeliveryView:
    """Convert an API delivery to a row of the log."""
    return DeliveryView(
        id=str(delivery.id),
        event_id=str(delivery.event_id),
        event_type=delivery.event_type,
        status=_status(delivery),
        said=_response_words(delivery).partition(": ")[0],
        has_response=delivery.response_status is not None,
        attempt=delivery.attempt,
        next_attempt_at=stamp(delivery.next_attempt_at),
        created_at=stamp(delivery.created_at),
    )


def delivery_detail(delivery: Delivery) -> DeliveryDetail:
    """Return the payload, response and attempts of a delivery."""
    return DeliveryDetail(
        payload=json.dumps(delivery.payload.model_dump(mode="json"), indent=2, ensure_ascii=False),
        response=delivery.response_body or "",
        failure=delivery.failure or "",
        tries=[_attempt_view(attempt) for attempt in reversed(delivery.attempts)],
        missing=_missing(delivery),
    )


def _attempt_view(attempt: Try) -> AttemptView:
    at = stamp(attempt.at)
    said, _, _ = _response_words(attempt).partition(": ")  # the whole reason of the last one is above
    return AttemptView(at, at, said, f"{attempt.duration_ms:,} ms", attempt.failure is None)


def _missing(delivery: Delivery) -> str:
    """Return why no body is shown: that of a success is not stored, and that of a local receiver only if the operator
    allows it."""
    if delivery.response_body is not None:
        return "The receiver sent no body."
    if delivery.response_status is None:
        return "There was no response." if delivery.attempt else "The receiver has not answered yet."
    if delivery.failure is None:
        return "Not stored: only the responses of failed attempts are."
    return "Not stored: the receiver is on this machine. The setting SIGNUM_WEBHOOK_LOOPBACK=1 stores such responses."


def _status(delivery: Delivery) -> str:
    if delivery.status is DeliveryStatus.PENDING:
        return "retrying" if delivery.attempt else "pending"
    return "delivered" if delivery.status is DeliveryStatus.SUCCEEDED else "failed"


def _response_words(record: Delivery | Try) -> str:
    """Return the status of the response, or why there was none."""
    return str(record.response_status) if record.response_status else record.failure or ""


def changes_soon(delivery: Delivery) -> bool:
    """Return whether the delivery changes within seconds."""
    soon = datetime.now(UTC) + timedelta(seconds=8)
    return delivery.status is DeliveryStatus.PENDING and (delivery.next_attempt_at or soon) <= soon
