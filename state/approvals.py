"""What waits for a second person: the list, one of them with what it would do, and the decision."""

from dataclasses import dataclass
from typing import Any

import reflex as rx
from pydantic import ValidationError

from backend.approvals.schemas import ApprovalDeny
from backend.client import ApiProblem
from backend.requests.schemas import ApprovalStatus
from state.api import Api, Form
from state.approval_plan import Plan, Plans
from state.fields import findings
from state.given import id_of, one_of
from state.paging import Pages
from state.requests import Tracker
from state.session import Session

VIEWS = ("for_me", "mine", *ApprovalStatus, "all")


@dataclass
class ApprovalRow:
    """One approval; empty strings where the API has null."""

    id: str = ""
    request_id: str = ""
    action: str = ""
    title: str = ""
    status: str = ""
    subject_type: str = ""
    subject_id: str = ""
    asked_by: str = ""
    created_at: str = ""
    expires_at: str = ""
    decided_by: str = ""
    decided_at: str = ""
    reason: str = ""
    cause: str = ""
    can_decide: bool = False


class ApprovalCount(Api, rx.State):
    """How many wait for the person, beside the page's name in the sidebar; a question mark where that is not known."""

    waiting: str = ""

    @rx.event
    async def look(self):
        """Count them, 100 at most. Every page asks, so this notices when the organization refuses the address that it
        allowed before."""
        try:
            page = await self._api("GET", "/orgs/{org}/approvals", params={"can_decide": "true", "limit": 100})
            many = len(page["approvals"])
            self.waiting = f"{many}+" if page["nextCursor"] else str(many or "")
        except ApiProblem as problem:
            self.waiting = "" if problem.status == 403 else "?"
            if problem.rule == "ip_address":
                (await self.get_state(Session))._shut_out(problem)


class Approvals(Pages, rx.State):
    """The list; `view` is whose, or a status."""

    rows: list[ApprovalRow] = []
    view: str = "for_me"

    async def _fetch(self, cursor: str) -> str | None:
        session = await self.get_state(Session)
        whose = {
            "for_me": {"can_decide": "true"},
            "mine": {"asked_by": session._user_id},
            "all": {},
        }.get(self.view, {"status": self.view})
        page = await self._api("GET", "/orgs/{org}/approvals", params={**whose, "cursor": cursor})
        self.rows = [_row(row) for row in page["approvals"]]
        next_cursor: str | None = page["nextCursor"]
        return next_cursor

    @rx.event
    async def load(self):
        """Read the first page; `?id=` opens one, `?view=` picks a view."""
        self.view = one_of(self._query("view"), VIEWS, "for_me")
        await self._restart()
        yield OneApproval.show(self._query("id"))

    @rx.event(supersedes=True)
    async def pick_view(self, view: str):
        """Show what waits for the person, what they asked for, one status, or all."""
        if known := one_of(view, VIEWS):
            self.view = known
            await self._restart()


class OneApproval(Form, Plans, rx.State):
    """The approval in the drawer, with what it would do now."""

    is_open: bool = False
    denying: bool = False
    loading: bool = False
    row: ApprovalRow = ApprovalRow()
    plan: Plan = Plan()
    obstacle: str = ""

    @rx.event
    async def show(self, id: str):
        """Open one; an empty id closes the drawer."""
        wanted = id_of(id)
        self._done()
        self.is_open, self.denying = bool(wanted), False
        listed = next((row for row in (await self.get_state(Approvals)).rows if row.id == wanted), None)
        self.row, self.plan, self.obstacle = listed or ApprovalRow(), Plan(), ""
        if wanted:
            self.loading = True
            yield
            await self._read(wanted)

    async def _read(self, id: str) -> None:
        try:
            told = await self._api("GET", f"/orgs/{{org}}/approvals/{id}")
            self.row, self.obstacle = _row(told), told["obstacle"] or ""
            plan = await self._plan(told["plan"], told["subject"])
            plan.warnings = [one for one in plan.warnings if not self.row.cause or not one.startswith(self.row.cause)]
            self.plan = plan
        except ApiProblem as problem:
            self.form_problem = problem.detail or problem.title
        self.loading = False

    @rx.event
    def leave(self):
        """Close the drawer."""
        self.is_open, self.row = False, ApprovalRow()

    @rx.event
    def show_denial(self, is_open: bool):
        """Open or close the dialog that denies."""
        self._done()
        self.denying = bool(is_open) and bool(self.row.id)

    @rx.event
    async def approve(self):
        """Agree to it."""
        self._begin()
        yield
        try:
            await self._api("POST", f"/orgs/{{org}}/approvals/{self.row.id}/approve", key=self._form_key)
        except ApiProblem as problem:
            self._refused(problem)
            await self._read(self.row.id)
            self.form_problem = problem.detail or problem.title
            return
        self._done()
        await self._accepted(f"Approved: {self.row.title}", self.row.request_id)
        yield await self._decided()

    @rx.event
    async def deny(self, data: dict[str, Any]):
        """Refuse it, with the reason."""
        self._begin()
        yield
        try:
            body = ApprovalDeny.model_validate({"reason": str(data.get("reason", ""))})
            path = f"/orgs/{{org}}/approvals/{self.row.id}/deny"
            await self._api("POST", path, json=body.model_dump(), key=self._form_key)
        except ValidationError as problem:
            self.errors, self.saving = findings(problem), False
            return
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("reason")
            return
        self._done()
        self.denying = False
        await self._notify(f"Denied: {self.row.title}", body.reason, "info")
        yield await self._decided()

    async def _decided(self) -> list[Any]:
        await self._read(self.row.id)
        return [Approvals.reload, ApprovalCount.look, Tracker.watch]


def _row(told: dict[str, Any]) -> ApprovalRow:
    names = (
        "id",
        "request_id",
        "action",
        "title",
        "status",
        "created_at",
        "expires_at",
        "decided_at",
        "reason",
        "cause",
    )
    asked_with = f" with {told['asked_with']}" if told["asked_with"] else ""
    return ApprovalRow(
        **{name: told[name] or "" for name in names},
        subject_type=told["subject"]["type"],
        subject_id=told["subject"]["id"],
        asked_by=(told["asked_by_name"] or "Somebody") + asked_with,
        decided_by=told["decided_by_name"] or "",
        can_decide=told["can_decide"],
    )
