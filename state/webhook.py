"""One webhook endpoint: its log, one delivery in a drawer, and what can be done with both."""

import asyncio
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import reflex as rx

from backend.client import ApiProblem
from backend.webhooks.schemas import DeliveryStatus
from state.api import Api, Form, asks_for_proof
from state.given import id_of, one_of
from state.paging import Pages
from state.requests import Tracker
from state.webhooks import Endpoint, SigningSecret, WebhooksState, endpoint_of

SINCE = {"1": 1, "24": 24, "168": 24 * 7, "720": 24 * 30}
"""Hours back, for a recovery."""
LOOKS = 40
"""How often the log is looked at while something is on its way."""


@dataclass
class Try:
    """One attempt in words."""

    id: str = ""
    at: str = ""
    said: str = ""
    took: str = ""
    is_good: bool = False


@dataclass
class Delivery:
    """A row of the log. `status` is pending, retrying, delivered or failed."""

    id: str = ""
    event_id: str = ""
    event_type: str = ""
    status: str = ""
    said: str = ""
    attempt: int = 0
    next_attempt_at: str = ""
    created_at: str = ""


@dataclass
class Detail:
    """What the drawer shows beside the row."""

    payload: str = ""
    response: str = ""
    failure: str = ""
    tries: list[Try] = field(default_factory=list)
    missing: str = ""
    """Why there is no body of an answer to show."""


class WebhookState(Pages, rx.State):
    """The endpoint and its deliveries, by pages."""

    endpoint: Endpoint = Endpoint()
    rows: list[Delivery] = []
    status: str = ""
    testing: bool = False
    changing: bool = False
    _full: dict[str, dict[str, Any]] = {}

    def _path(self) -> str:
        return f"/orgs/{{org}}/webhooks/{id_of(getattr(self, 'webhook_id', ''))}"

    async def _fetch(self, cursor: str) -> str | None:
        self.endpoint = endpoint_of(await self._api("GET", self._path()))
        page = await self._api("GET", f"{self._path()}/deliveries", params={"status": self.status, "cursor": cursor})
        self._take(page)
        next_cursor: str | None = page["nextCursor"]
        return next_cursor

    def _take(self, page: dict[str, Any]) -> None:
        rows = [delivery_of(row) for row in page["deliveries"]]
        self._full = {row["id"]: row for row in page["deliveries"]}
        if rows != self.rows:
            self.rows = rows

    @rx.event
    async def load(self):
        """Read the endpoint and the first page of its log."""
        if self.endpoint.id != id_of(getattr(self, "webhook_id", "")):
            self.endpoint, self.rows, self.status = Endpoint(), [], ""
        await self._restart()

    @rx.event
    async def enter(self):
        """Begin without a question, whatever was open when the page was left, and load."""
        for question in (Disabling, Rotation, Removal, Recovery):
            (await self.get_state(question)).is_open = False
        return WebhookState.load

    @rx.event(supersedes=True)
    async def filter_status(self, status: str):
        """Show one status, or all."""
        self.status = one_of(status, DeliveryStatus)
        await self._restart()

    @rx.event
    async def test(self):
        """Send a test event, and watch what comes of it."""
        self.testing = True
        yield
        try:
            await self._api("POST", f"{self._path()}/test")
        except ApiProblem as problem:
            await self._notify("The test was not sent", problem.detail, "bad")
        self.testing, self.status = False, ""
        await self._restart()
        yield WebhookState.watch

    @rx.event
    async def enable(self):
        """Let it be sent to again."""
        self.changing = True
        yield
        try:
            await self._api("PATCH", self._path(), json={"status": "enabled"})
            await self._notify("Enabled", "What it missed is in the log and can be sent again.")
        except ApiProblem as problem:
            if not asks_for_proof(problem):  # the dialog asks for it, and repeats this
                await self._notify("It cannot be enabled", problem.detail, "bad")
        self.changing = False
        yield WebhookState.reload

    @rx.event(background=True, supersedes=True)
    async def watch(self):
        """Read the log until nothing is about to be sent, or the person goes elsewhere."""
        async with self:
            path, log = self.router.url.path, f"{self._path()}/deliveries"
        for _ in range(LOOKS):
            await asyncio.sleep(0.5)
            async with self:
                wanted = {"status": self.status, "cursor": self._cursor}
            try:
                page = await self._api("GET", log, params=wanted)
                endpoint = endpoint_of(await self._api("GET", log.removesuffix("/deliveries")))
            except ApiProblem:
                return
            async with self:
                if self.router.url.path != path:
                    return
                self._take(page)
                self.endpoint = endpoint
                (await self.get_state(DeliveryState))._renew(self.rows, self._full)
            if not any(_is_near(row) for row in page["deliveries"]):
                return


class DeliveryState(Api, rx.State):
    """The delivery in the drawer."""

    delivery: Delivery = Delivery()
    detail: Detail = Detail()
    sending: bool = False

    @rx.event
    async def show(self, delivery_id: str):
        """Open a row's story."""
        log = await self.get_state(WebhookState)
        self.delivery = next((row for row in log.rows if row.id == delivery_id), Delivery())
        self._renew(log.rows, log._full)

    def _renew(self, rows: list[Delivery], full: dict[str, dict[str, Any]]) -> None:
        """Take over what the log has of it now."""
        self.delivery = next((row for row in rows if row.id == self.delivery.id), self.delivery)
        if self.delivery.id in full:
            self.detail = detail_of(full[self.delivery.id])

    @rx.event
    def hide(self):
        """Close the drawer."""
        self.delivery, self.detail = Delivery(), Detail()

    @rx.event
    async def send_again(self):
        """Send it again now."""
        self.sending = True
        yield
        log = await self.get_state(WebhookState)
        try:
            await self._api("POST", f"{log._path()}/deliveries/{id_of(self.delivery.id)}/replay")
            await log._page()
            self._renew(log.rows, log._full)
        except ApiProblem as problem:
            await self._notify("It was not sent again", problem.detail, "bad")
        self.sending = False
        yield WebhookState.watch


class Asking(Form, mixin=True):
    """Mixin of a question about the page's endpoint: `is_open`, and what to do when it is confirmed."""

    is_open: bool = False

    @rx.event
    def show(self, is_open: bool):
        """Open or close it."""
        self._done()
        self.is_open = bool(is_open)

    async def _ask(self, method: str, path: str = "", json: Any = None) -> Any:
        """Call the endpoint's operation and close; None where it was refused."""
        log = await self.get_state(WebhookState)
        try:
            answer = await self._api(method, log._path() + path, json=json)
        except ApiProblem as problem:
            self._refused(problem)
            self.form_problem = problem.detail or problem.title
            return None
        self._done()
        self.is_open = False
        return answer or {}


class Disabling(Asking, rx.State):
    """The question before an endpoint is disabled."""

    @rx.event
    async def confirm(self):
        """Disable it."""
        self._begin()
        yield
        if await self._ask("PATCH", json={"status": "disabled"}) is not None:
            await self._notify("Disabled", "Nothing is sent to it until it is enabled again.")
        yield WebhookState.reload


class Rotation(Asking, rx.State):
    """The question before a secret is rotated."""

    at_once: bool = False

    @rx.event
    def hurry(self, at_once: bool):
        """Whether the secret before ends at once."""
        self.at_once = bool(at_once)

    @rx.event
    async def confirm(self):
        """Rotate, and show the new one once."""
        self._begin()
        yield
        made = await self._ask("POST", "/rotate-secret", {"overlap_seconds": 0 if self.at_once else 86_400})
        if made is not None:
            (await self.get_state(SigningSecret))._tell(made)
            self.at_once = False
        yield WebhookState.reload


class Removal(Asking, rx.State):
    """The question before an endpoint is deleted."""

    @rx.event
    async def confirm(self):
        """Delete it, and go back to the list."""
        self._begin()
        yield
        if await self._ask("DELETE") is None:
            return
        await self._notify("Deleted", "Nothing more is sent to it.")
        yield [WebhooksState.load, rx.redirect(f"/o/{self._org_id()}/webhooks")]


class Recovery(Asking, rx.State):
    """The question from when on failed deliveries are sent again."""

    @rx.event
    async def submit(self, data: dict[str, Any]):
        """Let them be sent again."""
        self._begin()
        yield
        hours = SINCE[one_of(data.get("since"), SINCE, "24")]
        since = datetime.now(UTC) - timedelta(hours=hours)
        accepted = await self._ask("POST", "/recover", {"since": since.isoformat()})
        if accepted is None:
            return
        await self._accepted("Failed deliveries are being sent again", accepted["requestId"])
        yield [Tracker.watch, WebhookState.watch]


def delivery_of(row: dict[str, Any]) -> Delivery:
    """A row of the log."""
    return Delivery(
        id=row["id"],
        event_id=row["event_id"],
        event_type=row["event_type"],
        status=_status(row),
        said=_said(row),
        attempt=row["attempt"],
        next_attempt_at=row["next_attempt_at"] or "",
        created_at=row["created_at"],
    )


def detail_of(row: dict[str, Any]) -> Detail:
    """What was sent and answered."""
    tries = [
        Try(t["at"], t["at"], _said(t), f"{t['duration_ms']:,} ms", t["failure"] is None)
        for t in reversed(row["attempts"])
    ]
    payload = json.dumps(row["payload"], indent=2, ensure_ascii=False)
    return Detail(payload, row["response_body"] or "", row["failure"] or "", tries, _missing(row))


def _missing(row: dict[str, Any]) -> str:
    """Why no body is shown: a receiver on this machine has its answers kept only where the operator allows it."""
    if row["response_body"] is not None:
        return "The receiver sent no body."
    if row["response_status"] is None:
        return "The receiver has not answered yet."
    return "Not kept: the receiver is on this machine. The setting SIGNUM_WEBHOOK_LOOPBACK=1 keeps such answers."


def _status(row: dict[str, Any]) -> str:
    if row["status"] == "pending":
        return "retrying" if row["attempt"] else "pending"
    return "delivered" if row["status"] == "succeeded" else "failed"


def _said(row: dict[str, Any]) -> str:
    """What was answered, or why nothing was."""
    return str(row["response_status"]) if row["response_status"] else row["failure"] or ""


def _is_near(row: dict[str, Any]) -> bool:
    """Whether something happens to it within seconds."""
    soon = (datetime.now(UTC) + timedelta(seconds=8)).isoformat()
    return row["status"] == "pending" and (row["next_attempt_at"] or "") < soon
