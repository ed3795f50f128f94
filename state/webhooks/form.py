"""The form that creates or changes a webhook endpoint."""

from typing import Any

import reflex as rx

from backend.client import ApiProblem, body
from backend.webhooks.schemas import EventType, Webhook, WebhookCreate, WebhookUpdate, WebhookWithSecret
from state.core.arguments import id_of, one_of, texts
from state.core.dialogs import Dialog
from state.core.edits import Edits
from state.core.events import Events, Next
from state.webhooks.detail import WebhookState
from state.webhooks.list import EndpointView, SigningSecret, WebhooksState, endpoint_view


class EndpointForm(Edits, Dialog, rx.State):
    """The dialog that creates an endpoint (`row.id` is empty) or changes one."""

    row: EndpointView = EndpointView()
    every: bool = True
    chosen: list[str] = []

    @rx.event
    def show(self, is_open: bool) -> None:
        """Open the dialog for a new endpoint, or close it."""
        self._done()
        self.is_open, self.row = bool(is_open), EndpointView(include_descendants=True)
        self.every, self.chosen = True, []

    @rx.event
    async def edit(self, id: str) -> None:
        """Open the dialog for an endpoint, with its current values."""
        try:
            with self._api.response_headers() as headers:
                row = endpoint_view(await self._api.get_webhook(self._org_id(), id_of(id)))
        except ApiProblem as problem:
            await self._notify("It cannot be changed", problem.detail, "bad")
            return
        self._done()
        self.is_open, self.row, self.every = True, row, row.event_types == ["*"]
        self._version, self._known = headers["etag"], _values(row)
        self.chosen = [] if self.every else row.event_types

    async def _current(self) -> dict[str, str]:
        return _values(endpoint_view(await self._api.get_webhook(self._org_id(), self.row.id)))

    @rx.event
    def ask(self, everything: bool) -> None:
        """Subscribe to every event, or to the selected ones."""
        self.every, self.errors = bool(everything), {}

    @rx.event
    def toggle(self, event_type: str) -> None:
        """Select or deselect an event type."""
        if known := one_of(event_type, EventType):
            self._take({*self.chosen} ^ {known})

    @rx.event
    def toggle_group(self, group: str) -> None:
        """Select all types of a group; if all are selected, deselect them."""
        of = {str(t) for t in EventType if t.startswith(f"{group}.")}
        self._take({*self.chosen} - of if of <= {*self.chosen} else {*self.chosen} | of)

    def _take(self, kept: set[str]) -> None:
        self.chosen, self.errors = [str(t) for t in EventType if t in kept], {}

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Create or change the endpoint."""
        self._begin()
        yield
        if not self.every and not self.chosen:
            self.saving, self.errors = False, {"event_types": "Choose at least one event"}
            return
        given = texts(data)
        fields = {
            "url": given.get("url", "").strip(),
            "description": given.get("description", "").strip() or None,
            "event_types": ["*"] if self.every else self.chosen,
            "include_descendants": "include_descendants" in given,
        }
        try:
            made = await self._write(fields)
        except ApiProblem as problem:
            await self._reject(problem, "url", "description", "event_types")
            return
        if isinstance(made, WebhookWithSecret):
            (await self.get_state(SigningSecret))._reveal(made)
        else:
            await self._report(endpoint_view(made))
        self._close()
        yield WebhookState.load if self.row.id else WebhooksState.reload

    async def _report(self, saved: EndpointView) -> None:
        """Report the change; a new description can be undone."""
        known = {"org": self._org_id(), "id": saved.id, "was": self.row.description, "now": saved.description}
        if [name for name, text in _values(saved).items() if text != _values(self.row)[name]] == ["Description"]:
            await self._notify_undoable("The description is saved", known)
        else:
            await self._notify("The endpoint is saved")

    async def _undo(self, facts: dict[str, str]) -> Next:
        known = facts["org"], facts["id"]
        with self._api.response_headers() as headers:
            current = await self._api.get_webhook(*known)
        if (current.description or "") != facts["now"]:
            await self._notify("This cannot be undone", "The description has changed since.", "bad")
            return WebhookState.reload
        earlier = WebhookUpdate(description=facts["was"] or None)
        await self._api.update_webhook(*known, earlier, if_match=headers["etag"])
        await self._notify("The endpoint has its earlier description again")
        return WebhookState.reload

    async def _write(self, fields: dict[str, str | bool | list[str] | None]) -> Webhook:
        """Create the endpoint, or change the fields that differ.

        The form's idempotency key is not sent: a repeated attempt would get the first response without its secret.
        """
        if self.row.id:
            row = self.row
            given: dict[str, str | bool | list[str] | None] = {
                "url": row.url,
                "description": row.description or None,
                "event_types": list(row.event_types),
                "include_descendants": row.include_descendants,
            }
            change = body(WebhookUpdate, {name: value for name, value in fields.items() if value != given[name]})
            return await self._api.update_webhook(self._org_id(), self.row.id, change, if_match=self._version)
        return await self._api.create_webhook(self._org_id(), body(WebhookCreate, fields))


def _values(row: EndpointView) -> dict[str, str]:
    """Return what people decide about an endpoint, by its names on the page."""
    return {
        "URL": row.url,
        "Description": row.description,
        "Events": ", ".join(row.event_types),
        "Organizations below": "yes" if row.include_descendants else "no",
        "Status": "disabled" if row.status == "disabled" else "enabled",
    }
