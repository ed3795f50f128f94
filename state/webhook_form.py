"""The form that makes a webhook endpoint, or changes one."""

from typing import Any

import reflex as rx

from backend.client import ApiProblem
from backend.webhooks.schemas import EventType
from state.api import Form
from state.given import id_of, one_of, texts
from state.webhook import WebhookState
from state.webhooks import Endpoint, SigningSecret, WebhooksState, endpoint_of


class EndpointForm(Form, rx.State):
    """The dialog that makes an endpoint (`row.id` is empty) or changes one."""

    is_open: bool = False
    row: Endpoint = Endpoint()
    every: bool = True
    chosen: list[str] = []

    @rx.event
    def show(self, is_open: bool):
        """Open it for a new endpoint, or close it."""
        self._done()
        self.is_open, self.row, self.every, self.chosen = bool(is_open), Endpoint(include_descendants=True), True, []

    @rx.event
    async def edit(self, id: str):
        """Open it for an endpoint as it is now."""
        try:
            row = endpoint_of(await self._api("GET", f"/orgs/{{org}}/webhooks/{id_of(id)}"))
        except ApiProblem as problem:
            await self._notify("It cannot be changed", problem.detail, "bad")
            return
        self._done()
        self.is_open, self.row, self.every = True, row, row.event_types == ["*"]
        self.chosen = [] if self.every else row.event_types

    @rx.event
    def ask(self, everything: bool):
        """Ask for every event, or for those that are ticked."""
        self.every, self.errors = bool(everything), {}

    @rx.event
    def toggle(self, event_type: str):
        """Take an event type in, or out."""
        if known := one_of(event_type, EventType):
            self._take({*self.chosen} ^ {known})

    @rx.event
    def toggle_group(self, group: str):
        """Take all types of a group in; or out, where all are in."""
        of = {str(t) for t in EventType if t.startswith(f"{group}.")}
        self._take({*self.chosen} - of if of <= {*self.chosen} else {*self.chosen} | of)

    def _take(self, kept: set[str]) -> None:
        self.chosen, self.errors = [str(t) for t in EventType if t in kept], {}

    @rx.event
    async def submit(self, data: dict[str, Any]):
        """Make it, or change it."""
        self._begin()
        yield
        if not self.every and not self.chosen:
            self.saving, self.errors = False, {"event_types": "Choose at least one event"}
            return
        given = texts(data)
        body = {
            "url": given.get("url", "").strip(),
            "description": given.get("description", "").strip() or None,
            "event_types": ["*"] if self.every else self.chosen,
            "include_descendants": "include_descendants" in given,
        }
        try:
            # Without an idempotency key: a replay could not carry the secret again.
            method, path = ("PATCH", f"/{self.row.id}") if self.row.id else ("POST", "")
            made = await self._api(method, f"/orgs/{{org}}/webhooks{path}", json=body)
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("url", "description", "event_types")
            return
        self._done()
        self.is_open = False
        if "secret" in made:
            (await self.get_state(SigningSecret))._tell(made)
        yield WebhookState.load if self.row.id else WebhooksState.reload
