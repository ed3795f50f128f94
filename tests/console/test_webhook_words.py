"""What the console says about disabled endpoints and stored responses."""

from typing import Any

import pytest

from backend.core.db import new_id, now
from backend.webhooks.schemas import Delivery, DisabledReason, Webhook
from state.webhooks.deliveries import delivery_detail
from state.webhooks.list import FIX, WHY_DISABLED, endpoint_view


def endpoint(reason: DisabledReason) -> Webhook:
    """Return a disabled endpoint."""
    fields = dict.fromkeys(Webhook.model_fields)
    given: dict[str, Any] = {
        "url": "https://hooks.example.com", "event_types": ["*"], "include_descendants": False, "status": "disabled",
        "disabled_reason": reason, "api_version": "v1", "disabled_at": now(), "created_at": now(), "updated_at": now(),
    }  # fmt: skip
    return Webhook.model_validate({**fields, "id": new_id(), "organization_id": new_id(), **given})


def answered(status: int, failure: str | None) -> Delivery:
    """Return a delivery whose answer has no stored body."""
    fields = dict.fromkeys(Delivery.model_fields)
    given: dict[str, Any] = {
        "event_type": "webhook.test", "status": "pending", "attempt": 1, "attempts": [], "response_status": status,
        "failure": failure, "created_at": now(), "updated_at": now(),
        "payload": {"type": "webhook.test", "timestamp": now(), "data": {}},
    }  # fmt: skip
    ids = {name: new_id() for name in ("id", "organization_id", "webhook_id", "event_id")}
    return Delivery.model_validate({**fields, **ids, **given})


@pytest.mark.parametrize("reason", DisabledReason)
def test_reason_of_a_disabled_endpoint_is_shown(reason: DisabledReason) -> None:
    assert endpoint_view(endpoint(reason)).reason == WHY_DISABLED[reason]


def test_fix_of_an_endpoint_with_too_many_events_is_not_that_of_its_receiver() -> None:
    view = endpoint_view(endpoint(DisabledReason.TOO_MANY_EVENTS))
    assert view.is_automatic
    assert "tomorrow" in view.fix
    assert endpoint_view(endpoint(DisabledReason.FAILING)).fix == FIX


def test_missing_response_of_a_success_has_its_own_reason() -> None:
    assert "failed attempts" in delivery_detail(answered(200, None)).missing
    assert "on this machine" in delivery_detail(answered(500, "Answered 500")).missing
