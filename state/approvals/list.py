"""Actions waiting for a second person: the list, one of them with its effects, and the decision."""

from typing import Any, ClassVar

import reflex as rx

from backend.approvals.schemas import ApprovalCommentCreate, ApprovalDeny, ApprovalDetail
from backend.auth.scopes import Scope
from backend.client import ApiProblem, body
from backend.requests.schemas import Action, ApprovalStatus
from state.approvals.deciders import Deciders
from state.approvals.views import (
    ApprovalView,
    ArgumentView,
    CommentView,
    DocumentView,
    approval_view,
    argument_views,
    changed_since,
    comment_view,
    document_views,
)
from state.core.address import Addressed, Param, choice, opened
from state.core.api import Form
from state.core.arguments import id_of, one_of
from state.core.dates import stamp
from state.core.dry_run import Plan, Plans
from state.core.events import Events, Next, call
from state.core.paging import Pages
from state.core.session import Session
from state.notifications.bell import Bell
from state.requests.tracker import Tracker

VIEWS = ("for_me", "mine", *ApprovalStatus, "all")


class Approvals(Pages, rx.State):
    """The list of approvals; `view` selects whose, or a status."""

    rows: list[ApprovalView] = []
    _sorts: ClassVar[tuple[str, ...]] = ("created_at",)
    view: str = "for_me"
    _in_url: ClassVar[dict[str, Param]] = {"view": choice("view", VIEWS, "for_me")}

    async def _fetch(self, cursor: str) -> str | None:
        user_id = (await self.get_state(Session)).user_id
        page = await self._api.list_approvals(
            self._org_id(),
            can_decide=True if self.view == "for_me" else None,
            asked_by=(user_id or None) if self.view == "mine" else None,
            status=ApprovalStatus(self.view) if self.view in set(ApprovalStatus) else None,
            cursor=cursor or None,
            **self._order(),
        )
        self.rows = [approval_view(approval) for approval in page.approvals]
        return page.nextCursor

    @rx.event
    async def load(self) -> Events:
        """Read the first page; `?id=` opens an approval, `?view=` selects a view."""
        self._read_url()
        if not self._query("view") and Scope.ASSETS_WRITE not in (await self.get_state(Session)).org.scopes:
            self.view = ApprovalStatus.PENDING  # nothing waits for people who cannot approve
        (await self.get_state(OneApproval))._announce(id_of(self._query("id")))
        await self._restart()
        if self._query("id"):
            yield call(OneApproval.show, self._query("id"))

    @rx.event(supersedes=True)
    async def pick_view(self, view: str) -> None:
        """Show approvals for the user, requests of the user, one status, or all."""
        if known := one_of(view, VIEWS):
            self.view = known
            await self._restart()


class OneApproval(Form, Plans, Deciders, Addressed, rx.State):
    """The approval in the drawer, with its current effects."""

    _in_url: ClassVar[dict[str, Param]] = {"id": opened("row.id")}
    is_open: bool = False
    denying: bool = False
    loading: bool = False
    row: ApprovalView = ApprovalView()
    arguments: list[ArgumentView] = []
    recipients: str = ""
    """The path of a distribution's recipients, below the organization."""
    plan: Plan = Plan()
    obstacle: str = ""
    basis: list[dict[str, str]] = []
    """What the request itself says, for users who may not read its arguments: name and value."""
    planned_at: str = ""
    """When the plan at the request was made; empty where nothing can be compared."""
    changed: list[dict[str, str]] = []
    comments: list[CommentView] = []
    documents: list[DocumentView] = []
    can_comment: bool = False

    @rx.event
    async def show(self, id: str) -> Events:
        """Open an approval; an empty id closes the drawer."""
        wanted = id_of(id)
        self._announce(wanted)
        listed = next((row for row in (await self.get_state(Approvals)).rows if row.id == wanted), None)
        self.row, self.plan, self.obstacle = listed or self.row, Plan(), ""
        self.arguments, self.recipients, self.basis = [], "", []
        self.planned_at, self.changed, self.comments, self.documents, self.can_comment = "", [], [], [], False
        if wanted:
            self.loading = True
            yield
            await self._read(wanted)

    def _announce(self, id: str) -> None:
        """Open the drawer before the approval is read; an empty id closes it."""
        self._done()
        self.is_open, self.denying = bool(id), False
        if self.row.id != id:
            self.row = ApprovalView(id=id)

    async def _read(self, id: str) -> None:
        try:
            approval = await self._api.get_approval(self._org_id(), id)
            row = approval_view(approval)
            row.who = await self._who_decides(row)
            self.row, self.obstacle = row, approval.obstacle or ""
            self.basis = [] if approval.arguments else await self._basis(row.request_id)
            self.arguments = argument_views(approval, await self._zone())
            self.recipients = await self._recipients(approval)
            self.planned_at, self.changed = stamp(approval.planned_at), changed_since(approval)
            self.comments = [comment_view(one) for one in approval.comments]
            self.documents = document_views(approval)
            self.can_comment = approval.status is ApprovalStatus.PENDING and bool(approval.arguments)
            plan = await self._plan(approval.plan, approval.subject)
            plan.warnings = [one for one in plan.warnings if not self.row.cause or not one.startswith(self.row.cause)]
            self.plan = plan
        except ApiProblem as problem:
            self.form_problem = problem.detail or problem.title
        self.loading = False

    async def _basis(self, request_id: str) -> list[dict[str, str]]:
        """Return the chains and the reason of a request."""
        request = await self._api.get_request(self._org_id(), request_id)
        chains = ", ".join(dict.fromkeys(step.chain_name for step in request.steps if step.chain_name))
        said = {"Chain": chains, "Reason given": request.reason or ""}
        return [{"name": name, "value": value} for name, value in said.items() if value]

    async def _recipients(self, approval: ApprovalDetail) -> str:
        """Return the path of the recipients of a distribution to activate; empty if Signum does not know them."""
        if approval.action != Action.DISTRIBUTION_ACTIVATE:
            return ""
        ids = {one.name: str(one.value) for one in approval.arguments}
        if not {"assetId", "distId"} <= ids.keys():
            return ""
        found = await self._api.get_distribution(self._org_id(), ids["assetId"], ids["distId"])
        return f"/assets/{found.asset_id}/distributions/{found.id}/recipients" if found.has_recipients else ""

    @rx.event
    def leave(self) -> None:
        """Close the drawer."""
        self._announce("")

    @rx.event
    def show_denial(self, is_open: bool) -> None:
        """Open or close the dialog that denies."""
        self._done()
        self.denying = bool(is_open) and bool(self.row.id)

    def _leave(self) -> None:
        self.denying = False

    @rx.event
    async def approve(self) -> Events:
        """Approve the action."""
        self._begin()
        yield
        try:
            await self._api.approve_request(self._org_id(), self.row.id, idempotency_key=self._form_key)
        except ApiProblem as problem:
            self._refused(problem)
            await self._read(self.row.id)
            self.form_problem = problem.detail or problem.title
            return
        self._done()
        await self._accepted(f"Approved: {self.row.title}", self.row.request_id)
        yield await self._decided()

    @rx.event
    async def deny(self, data: dict[str, Any]) -> Events:
        """Deny the action, with a reason."""
        self._begin()
        yield
        try:
            denial = body(ApprovalDeny, {"reason": str(data.get("reason", ""))})
            await self._api.deny_request(self._org_id(), self.row.id, denial, idempotency_key=self._form_key)
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("reason")
            return
        self._done()
        self.denying = False
        await self._notify(f"Denied: {self.row.title}", denial.reason, "info")
        yield await self._decided()

    @rx.event
    async def comment(self, data: dict[str, Any]) -> Events:
        """Add a comment, which the requester and everyone who can decide sees."""
        self._begin()
        yield
        try:
            said = body(ApprovalCommentCreate, {"text": str(data.get("text", ""))})
            added = await self._api.comment_on_approval(
                self._org_id(), self.row.id, said, idempotency_key=self._form_key
            )
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("text")
            return
        self._done()
        self.comments = [*self.comments, comment_view(added)]

    async def _decided(self) -> Next:
        """Read the approval after its decision; return the events that update the rest of the page."""
        await self._read(self.row.id)
        return [Approvals.reload, Bell.look, Tracker.watch]
