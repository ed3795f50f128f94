"""One webhook endpoint: its deliveries, one of them in a drawer, and the actions on both."""

from collections.abc import Awaitable
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, TypeVar

import reflex as rx

from backend.client import ApiProblem
from backend.webhooks.schemas import (
    Delivery,
    DeliveryList,
    DeliveryStatus,
    EndpointStatus,
    Recovery,
    SecretRotation,
    WebhookUpdate,
)
from state.core.address import Addressed, Param, opened
from state.core.api import PASSING, asks_for_proof
from state.core.arguments import chosen, id_of, one_of
from state.core.dialogs import Dialog
from state.core.edits import RELOADED
from state.core.events import Events, Next
from state.core.paging import ByStatus
from state.requests.tracker import Tracker
from state.webhooks.deliveries import DeliveryDetail, DeliveryView, changes_soon, delivery_detail, delivery_view
from state.webhooks.list import EndpointView, SigningSecret, WebhooksState, endpoint_view

R = TypeVar("R")
SINCE = {"1": 1, "24": 24, "168": 24 * 7, "720": 24 * 30}
"""Periods of a replay, in hours."""


class WebhookState(ByStatus, rx.State):
    """The endpoint and its deliveries, in keyset pages."""

    endpoint: EndpointView = EndpointView()
    rows: list[DeliveryView] = []
    _sorts: ClassVar[tuple[str, ...]] = ("created_at",)
    _statuses = DeliveryStatus
    testing: bool = False
    changing: bool = False
    _version: str = ""
    _records: dict[str, Delivery] = {}

    def _ids(self) -> tuple[str, str]:
        """Return the organization and the endpoint in the page's URL."""
        return self._org_id(), id_of(self._in_path("webhook_id"))

    async def _fetch(self, cursor: str) -> str | None:
        await self._read_endpoint()
        order = self._order()
        page = await self._api.list_deliveries(*self._ids(), status=self._wanted(), cursor=cursor or None, **order)
        self._take(page)
        return page.nextCursor

    async def _read_endpoint(self) -> None:
        with self._api.response_headers() as headers:
            self.endpoint = endpoint_view(await self._api.get_webhook(*self._ids()))
        self._version = headers["etag"]

    def _wanted(self) -> DeliveryStatus | None:
        return chosen(DeliveryStatus, self.status)

    def _take(self, page: DeliveryList) -> None:
        rows = [delivery_view(delivery) for delivery in page.deliveries]
        self._records = {str(delivery.id): delivery for delivery in page.deliveries}
        if rows != self.rows:
            self.rows = rows

    @rx.event
    async def load(self) -> None:
        """Read the endpoint and the first page of its log."""
        self._read_url()
        if self.endpoint.id != id_of(self._in_path("webhook_id")):
            self.endpoint, self.rows = EndpointView(), []
        await self._restart()

    @rx.event
    async def enter(self) -> Next:
        """Close every dialog, which may be open from the last visit, and follow pending deliveries."""
        for dialog in (Disablement, Rotation, Removal, Replay):
            (await self.get_state(dialog)).is_open = False
        return WebhookState.watch

    @rx.event
    async def test(self) -> Events:
        """Send a test event, and follow its delivery."""
        self.testing = True
        yield
        try:
            await self._api.test_webhook(*self._ids())
        except ApiProblem as problem:
            await self._notify("The test was not sent", problem.detail, "bad")
        self.testing, self.status = False, ""
        await self._restart()
        yield WebhookState.watch

    @rx.event
    async def enable(self) -> Events:
        """Enable the endpoint again."""
        self.changing = True
        yield
        try:
            await self._api.update_webhook(
                *self._ids(), WebhookUpdate(status=EndpointStatus.ENABLED), if_match=self._version
            )
            await self._notify("Enabled", "Failed deliveries are in the log and can be replayed.")
        except ApiProblem as problem:
            if not asks_for_proof(problem):  # the dialog asks for it, and repeats this
                said = RELOADED if problem.status == 412 else problem.detail
                await self._notify("It cannot be enabled", said, "bad")
        self.changing = False
        yield WebhookState.reload

    @rx.event(background=True, supersedes=True)
    async def watch(self) -> None:
        """Read the log after each attempt, until none is expected soon, or the user leaves the page."""
        async with self:
            path, (org_id, webhook_id) = self.router.url.path, self._ids()
        async with self._api.changes(org_id, deliveries_of=webhook_id) as changes:
            while await self._looked(path):
                await changes.wait(0.5)

    async def _looked(self, path: str) -> bool:
        """Read the log; return whether a delivery changes soon, on this page."""
        async with self:
            if self.router.url.path != path:
                return False
            ids, wanted, cursor, order = self._ids(), self._wanted(), self._cursor or None, self._order()
        try:
            page = await self._api.list_deliveries(*ids, status=wanted, cursor=cursor, **order)
        except ApiProblem as problem:
            return problem.status in PASSING
        async with self:
            if self.router.url.path != path:
                return False
            self._take(page)
            try:
                await self._read_endpoint()
            except ApiProblem as problem:
                return problem.status in PASSING
            (await self.get_state(DeliveryState))._renew(self)
        return any(changes_soon(delivery) for delivery in page.deliveries)


class DeliveryState(Addressed, rx.State):
    """The delivery in the drawer."""

    delivery: DeliveryView = DeliveryView()
    detail: DeliveryDetail = DeliveryDetail()
    sending: bool = False
    _in_url: ClassVar[dict[str, Param]] = {"id": opened("delivery.id")}

    @rx.event
    async def load(self) -> None:
        """Open the delivery of `?id=`."""
        if wanted := id_of(self._query("id")):
            await self._open(wanted)

    @rx.event
    async def show(self, delivery_id: str) -> None:
        """Open a delivery."""
        await self._open(id_of(delivery_id))

    async def _open(self, delivery_id: str) -> None:
        log = await self.get_state(WebhookState)
        try:
            record = log._records.get(delivery_id) or await self._api.get_delivery(*log._ids(), delivery_id)
        except ApiProblem as problem:
            await self._notify("This delivery cannot be shown", problem.detail or problem.title, "bad")
            return
        self.delivery, self.detail = delivery_view(record), delivery_detail(record)

    def _renew(self, log: WebhookState) -> None:
        """Update the delivery from the log."""
        self.delivery = next((row for row in log.rows if row.id == self.delivery.id), self.delivery)
        if record := log._records.get(self.delivery.id):
            self.detail = delivery_detail(record)

    @rx.event
    def hide(self) -> None:
        """Close the drawer."""
        self.delivery, self.detail = DeliveryView(), DeliveryDetail()

    @rx.event
    async def send_again(self) -> Events:
        """Resend the delivery now."""
        self.sending = True
        yield
        log = await self.get_state(WebhookState)
        try:
            await self._api.replay_delivery(*log._ids(), id_of(self.delivery.id))
            await log._page()
            self._renew(log)
        except ApiProblem as problem:
            await self._notify("The delivery was not resent", problem.detail, "bad")
        self.sending = False
        yield WebhookState.watch


class Confirmation(Dialog, mixin=True):
    """Mixin of a confirmation about the page's endpoint."""

    async def _ids(self) -> tuple[str, str]:
        """Return the organization and the endpoint in the page's URL."""
        return (await self.get_state(WebhookState))._ids()

    async def _shown(self) -> str:
        """Return the version of the endpoint that the page shows."""
        return (await self.get_state(WebhookState))._version

    async def _confirmed(self, call: Awaitable[R]) -> R | ApiProblem:
        """Make a call and close the dialog; return its response, or the problem, which the dialog shows."""
        try:
            response = await call
        except ApiProblem as problem:
            self._refused(problem)
            self.form_problem = RELOADED if problem.status == 412 else problem.detail or problem.title
            return problem
        self._close()
        return response


class Disablement(Confirmation, rx.State):
    """The confirmation before an endpoint is disabled."""

    @rx.event
    async def confirm(self) -> Events:
        """Disable the endpoint."""
        self._begin()
        yield
        change = WebhookUpdate(status=EndpointStatus.DISABLED)
        webhook = await self._confirmed(
            self._api.update_webhook(*await self._ids(), change, if_match=await self._shown())
        )
        if not isinstance(webhook, ApiProblem):
            known = dict(zip(("org", "id"), await self._ids(), strict=True))
            await self._notify_undoable("Disabled", known, "Nothing is sent to it until it is enabled again.")
        yield WebhookState.reload

    async def _undo(self, facts: dict[str, str]) -> Next:
        known = facts["org"], facts["id"]
        with self._api.response_headers() as headers:
            await self._api.get_webhook(*known)
        enabled = WebhookUpdate(status=EndpointStatus.ENABLED)
        await self._api.update_webhook(*known, enabled, if_match=headers["etag"])
        await self._notify("Enabled again", "Failed deliveries are in the log and can be replayed.")
        return WebhookState.reload


class Rotation(Confirmation, rx.State):
    """The confirmation before a secret is rotated."""

    revokes_now: bool = False

    @rx.event
    def hurry(self, revokes_now: bool) -> None:
        """Set whether the previous secret is revoked immediately."""
        self.revokes_now = bool(revokes_now)

    @rx.event
    async def confirm(self) -> Events:
        """Rotate the secret, and show the new one once."""
        self._begin()
        yield
        rotation = SecretRotation(overlap_seconds=0 if self.revokes_now else 86_400)
        webhook = await self._confirmed(
            self._api.rotate_webhook_secret(*await self._ids(), rotation, if_match=await self._shown())
        )
        if not isinstance(webhook, ApiProblem):
            (await self.get_state(SigningSecret))._reveal(webhook)
            self.revokes_now = False
        yield WebhookState.reload


class Removal(Confirmation, rx.State):
    """The confirmation before an endpoint is deleted."""

    @rx.event
    async def confirm(self) -> Events:
        """Delete the endpoint, and go back to the list."""
        self._begin()
        yield
        removal = self._api.delete_webhook(*await self._ids(), if_match=await self._shown())
        if await self._confirmed(removal) is not None:
            yield WebhookState.reload
            return
        await self._notify("Deleted", "It receives no further deliveries.")
        yield [WebhooksState.load, rx.redirect(f"/o/{self._org_id()}/webhooks")]


class Replay(Confirmation, rx.State):
    """The dialog that selects the period of a replay."""

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Replay the failed deliveries."""
        self._begin()
        yield
        hours = SINCE[one_of(data.get("since"), SINCE, "24")]
        since = datetime.now(UTC) - timedelta(hours=hours)
        accepted = await self._confirmed(self._api.recover_webhook(*await self._ids(), Recovery(since=since)))
        if isinstance(accepted, ApiProblem):
            return
        await self._accepted("Replaying failed deliveries", accepted.request_id)
        yield [Tracker.watch, WebhookState.watch]
