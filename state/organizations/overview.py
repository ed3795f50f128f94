"""The overview: counts, tasks and chains. The tracker provides the newest requests."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

import reflex as rx

from backend.client import ApiProblem
from backend.invitations.schemas import InvitationStatus
from backend.organizations.schemas import Attention, Summary
from backend.parties.schemas import Party
from backend.requests.schemas import RequestStatus
from backend.webhooks.schemas import DisabledReason, EndpointStatus
from state.core.api import Loads, asks_for_proof
from state.core.arguments import one_of
from state.core.events import Events
from state.organizations.counts import Counts, EnabledChainView, counts_of, enabled_chain_view
from state.organizations.getting_started import GettingStarted
from state.organizations.inbox import KINDS, Inbox, TaskView
from state.parties.detail import WAITING
from state.requests.tracker import Tracker
from state.requests.views import request_view

P = TypeVar("P")
SHOWN = 5
NAMED = 3


class OverviewState(Loads, rx.State):
    """The page's numbers and lists, read on every visit."""

    counts: Counts = Counts()
    waiting: list[TaskView] = []
    kind: str = ""
    chains: list[EnabledChainView] = []
    chains_problem: str = ""
    retrying: str = ""
    reading: bool = False

    @rx.var
    def shown(self) -> list[TaskView]:
        """Return the tasks of the selected kind."""
        return [entry for entry in self.waiting if self.kind in ("", entry.kind)]

    @rx.var
    def kinds(self) -> dict[str, int]:
        """Count the tasks of each kind."""
        return {kind: sum(e.kind == kind for e in self.waiting) for kind in KINDS}

    @rx.event
    async def load(self) -> Events:
        """Read everything concurrently."""
        self.reading = True
        yield
        try:
            setup = await self.get_state(GettingStarted)
            summary, _ = await asyncio.gather(self._api.get_summary(self._org_id()), setup._read())
            await self._read(summary)
            self._loaded()
            yield GettingStarted.watch
        except ApiProblem as problem:
            self._failed(problem)
        self.reading = False

    async def _read(self, summary: Summary) -> None:
        missing: dict[str, str] = {}
        self.counts = counts_of(summary)
        page, self.waiting = await asyncio.gather(
            self._found(missing, "chain", self._api.list_organization_chains(self._org_id())),
            self._tasks(missing, summary.attention),
        )
        chains = page.chains if page else []
        self.chains_problem = missing.get("chain", "")
        self.chains = [enabled_chain_view(chain) for chain in chains if chain.enabled]

    async def _tasks(self, missing: dict[str, str], counts: Attention) -> list[TaskView]:
        """Read the tasks, kind by kind. Kinds that the summary counts as 0 are not read."""
        inbox = Inbox(f"/o/{self._org_id()}/")
        kinds = await asyncio.gather(
            self._approvals(inbox, missing, counts.approvals_waiting),
            self._failed_requests(inbox, missing, counts.failed_requests),
            self._parties(inbox, missing, counts.parties_waiting),
            self._attestations(inbox, missing, counts.attestations_expiring),
            self._invitations(inbox, missing, counts.pending_invitations),
            self._webhooks(inbox, missing),
        )
        known = [task for tasks in kinds for task in tasks]
        return inbox.with_unread(known, {kind: why for kind, why in missing.items() if kind in KINDS})

    async def _approvals(self, inbox: Inbox, missing: dict[str, str], count: int) -> list[TaskView]:
        listed = self._api.list_approvals(self._org_id(), can_decide=True, limit=SHOWN)
        page = await self._found(missing, "approval", listed, count)
        return [inbox.approval(approval) for approval in page.approvals] if page else []

    async def _failed_requests(self, inbox: Inbox, missing: dict[str, str], count: int) -> list[TaskView]:
        listed = self._api.list_requests(self._org_id(), status=RequestStatus.FAILED, limit=SHOWN)
        page = await self._found(missing, "request", listed, count)
        requests = [inbox.failed_request(request_view(request)) for request in page.requests] if page else []
        return requests if "request" in missing else [*requests, *inbox.more_failed_requests(count - len(requests))]

    async def _parties(self, inbox: Inbox, missing: dict[str, str], count: int) -> list[TaskView]:
        """Read the first parties to review, one status after the other until there are enough."""
        found: list[Party] = []
        for status in WAITING:
            if len(found) < min(NAMED, count):
                listed = self._api.list_parties(organization_id=self._org_id(), status=status, limit=NAMED)
                page = await self._found(missing, "party", listed)
                found += page.parties if page else []
        return inbox.parties(count, found[:NAMED])

    async def _attestations(self, inbox: Inbox, missing: dict[str, str], count: int) -> list[TaskView]:
        listed = self._api.list_attestations(self._org_id(), expiring_days=30, limit=NAMED)
        page = await self._found(missing, "attestation", listed, count)
        return inbox.attestations(count, page.attestations if page else [])

    async def _invitations(self, inbox: Inbox, missing: dict[str, str], count: int) -> list[TaskView]:
        listed = self._api.list_invitations(self._org_id(), status=InvitationStatus.PENDING, limit=NAMED)
        page = await self._found(missing, "invitation", listed, count)
        return inbox.invitations(count, page.invitations if page else [])

    async def _webhooks(self, inbox: Inbox, missing: dict[str, str]) -> list[TaskView]:
        listed = self._api.list_webhooks(self._org_id(), status=EndpointStatus.DISABLED)
        page = await self._found(missing, "webhook", listed)
        webhooks = page.webhooks if page else []
        return [inbox.webhook(one) for one in webhooks if one.disabled_reason is not DisabledReason.MANUAL]

    async def _found(self, missing: dict[str, str], kind: str, listed: Awaitable[P], count: int = 1) -> P | None:
        """Return a part's page. With a count of 0 it is not read.

        Forbidden parts (403) are omitted; other failures are stored in `missing`.
        """
        if not count:
            return None
        try:
            return await listed
        except ApiProblem as problem:
            if problem.status != 403:
                missing[kind] = problem.detail or problem.title
            return None

    @rx.event
    def show(self, kind: str) -> None:
        """Show tasks of one kind, or all."""
        self.kind = one_of(kind, self.kinds)

    @rx.event
    async def retry(self, request_id: str) -> Events:
        """Retry a failed request."""
        if not any(entry.request_id == str(request_id) for entry in self.waiting):
            return
        self.retrying = str(request_id)
        yield
        try:
            await self._api.retry_request(self._org_id(), str(request_id))
            await self._accepted("Retrying", str(request_id))
        except ApiProblem as problem:
            if not asks_for_proof(problem):  # the dialog asks for it, and repeats this
                await self._notify("It cannot be retried", problem.detail, "bad")
        self.retrying = ""
        yield [OverviewState.load, Tracker.watch]
