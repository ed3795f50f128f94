"""Webhook endpoints: the list, and a new secret that is shown once."""

from dataclasses import dataclass, field
from typing import Any

import reflex as rx

from state.paging import Pages

WHY_DISABLED = {
    "manual": "Disabled by a person",
    "gone": "It answered 410: nobody is there any more",
    "failing": "Every attempt of three days has failed",
    "maker_ended": "The API key or application that made it has ended",
}


@dataclass
class Endpoint:
    """An endpoint. `status` is enabled, failing or disabled; `reason` says why it is disabled, in words; `asks` what it
    asks for; `by_itself` whether it was disabled without anybody's doing."""

    id: str = ""
    url: str = ""
    description: str = ""
    event_types: list[str] = field(default_factory=list)
    asks: str = ""
    include_descendants: bool = False
    status: str = ""
    reason: str = ""
    by_itself: bool = False
    last_success_at: str = ""
    last_failure_at: str = ""
    disabled_at: str = ""
    old_secrets_until: str = ""
    created_at: str = ""


class WebhooksState(Pages, rx.State):
    """The list, by pages."""

    rows: list[Endpoint] = []

    @rx.var
    def stopped(self) -> int:
        """How many were disabled without anybody's doing."""
        return sum(row.by_itself for row in self.rows)

    async def _fetch(self, cursor: str) -> str | None:
        page = await self._api("GET", "/orgs/{org}/webhooks", params={"cursor": cursor})
        self.rows = [endpoint_of(row) for row in page["webhooks"]]
        next_cursor: str | None = page["nextCursor"]
        return next_cursor

    @rx.event
    async def load(self):
        """Read the first page."""
        await self._restart()


class SigningSecret(rx.State):
    """A new secret, until its dialog closes."""

    secret: str = ""
    url: str = ""

    @rx.event
    def show(self, is_open: bool):
        """Close the dialog; what was shown once is forgotten."""
        if not is_open:
            self.secret = ""

    def _tell(self, made: dict[str, Any]) -> None:
        self.secret, self.url = made["secret"] or "", made["url"]


def endpoint_of(row: dict[str, Any]) -> Endpoint:
    """An endpoint as the API shows it."""
    reason = row["disabled_reason"] or ""
    is_failing = (row["last_failure_at"] or "") > (row["last_success_at"] or "")
    return Endpoint(
        id=row["id"],
        url=row["url"],
        description=row["description"] or "",
        event_types=row["event_types"],
        asks=_asks(row["event_types"]),
        include_descendants=row["include_descendants"],
        status="failing" if row["status"] == "enabled" and is_failing else row["status"],
        reason=WHY_DISABLED.get(reason, ""),
        by_itself=reason not in ("", "manual"),
        last_success_at=row["last_success_at"] or "",
        last_failure_at=row["last_failure_at"] or "",
        disabled_at=row["disabled_at"] or "",
        old_secrets_until=row["old_secrets_until"] or "",
        created_at=row["created_at"],
    )


def _asks(event_types: list[str]) -> str:
    if event_types == ["*"]:
        return "Every event"
    return event_types[0] if len(event_types) == 1 else f"{len(event_types)} events"
