"""Webhook endpoints: the list, and a new secret that is shown once."""

from dataclasses import dataclass, field
from typing import ClassVar

import reflex as rx

from backend.webhooks.schemas import EndpointStatus, Webhook, WebhookWithSecret
from state.core.dates import stamp
from state.core.paging import Pages

WHY_DISABLED = {
    "manual": "Disabled by a person",
    "gone": "The receiver answered 410 (gone)",
    "failing": "Every attempt has failed for 3 days",
    "maker_ended": "The API key or application that created it no longer works",
    "too_many_events": "It received too many events in a day",
}
FIX = "Fix the receiver, re-enable the endpoint, then replay missed deliveries."
FIXES = {
    "too_many_events": "New events are not stored. Re-enable the endpoint tomorrow, or choose fewer event types, then "
    "replay failed deliveries. The audit log has the other changes.",
}
"""What to do after an automatic reason, where it is not `FIX`."""


@dataclass
class EndpointView:
    """An endpoint. `status` is enabled, failing or disabled; `reason` says why it is disabled, `fix` what to do about
    it; `events` are its event types as text; `is_automatic`: it was disabled automatically."""

    id: str = ""
    url: str = ""
    description: str = ""
    event_types: list[str] = field(default_factory=list)
    events: str = ""
    include_descendants: bool = False
    status: str = ""
    reason: str = ""
    fix: str = ""
    is_automatic: bool = False
    disabled_at: str = ""
    last_success_at: str = ""
    last_failure_at: str = ""
    old_secrets_until: str = ""
    created_at: str = ""


class WebhooksState(Pages, rx.State):
    """The list of endpoints, in keyset pages."""

    rows: list[EndpointView] = []
    _sorts: ClassVar[tuple[str, ...]] = ("created_at",)

    @rx.var
    def stopped(self) -> int:
        """Count the endpoints that were disabled automatically."""
        return sum(row.is_automatic for row in self.rows)

    async def _fetch(self, cursor: str) -> str | None:
        page = await self._api.list_webhooks(self._org_id(), cursor=cursor or None, **self._order())
        self.rows = [endpoint_view(webhook) for webhook in page.webhooks]
        return page.nextCursor


class SigningSecret(rx.State):
    """A new secret, until its dialog closes."""

    secret: str = ""
    url: str = ""

    @rx.event
    def show(self, is_open: bool) -> None:
        """Close the dialog; the secret is forgotten."""
        if not is_open:
            self.secret = ""

    def _reveal(self, webhook: WebhookWithSecret) -> None:
        self.secret, self.url = webhook.secret or "", webhook.url


def endpoint_view(webhook: Webhook) -> EndpointView:
    """Convert the API's endpoint."""
    reason = webhook.disabled_reason or ""
    is_failing = stamp(webhook.last_failure_at) > stamp(webhook.last_success_at)
    return EndpointView(
        id=str(webhook.id),
        url=webhook.url,
        description=webhook.description or "",
        event_types=webhook.event_types,
        events=_events(webhook.event_types),
        include_descendants=webhook.include_descendants,
        status="failing" if webhook.status is EndpointStatus.ENABLED and is_failing else webhook.status,
        reason=_why(webhook),
        fix=FIXES.get(reason, FIX),
        is_automatic=reason not in ("", "manual"),
        disabled_at=stamp(webhook.disabled_at),
        last_success_at=stamp(webhook.last_success_at),
        last_failure_at=stamp(webhook.last_failure_at),
        old_secrets_until=stamp(webhook.old_secrets_until),
        created_at=stamp(webhook.created_at),
    )


def _why(webhook: Webhook) -> str:
    if webhook.disabled_by_name:
        return f"Disabled by {webhook.disabled_by_name}"
    return WHY_DISABLED.get(webhook.disabled_reason or "", "")


def _events(event_types: list[str]) -> str:
    if event_types == ["*"]:
        return "Every event"
    return event_types[0] if len(event_types) == 1 else f"{len(event_types)} events"
