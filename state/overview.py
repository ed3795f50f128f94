"""The overview: counts, what waits for a person, chains. The newest requests are the tracker's."""

import asyncio
from dataclasses import dataclass
from typing import Any

import reflex as rx

from backend.client import ApiProblem
from state.api import Loads, asks_for_proof
from state.given import one_of
from state.inbox import KINDS, Inbox, Waiting
from state.party import WAITING
from state.requests import Tracker, request_of

ASSETS = ("active", "deploying", "updating", "draft", "failed", "archived")
SHOWN = 5
NAMED = 3


@dataclass
class Counts:
    """The summary; `updating` are assets that a request is changing or deploying."""

    staff: int = 0
    clients: int = 0
    members: int = 0
    wallets: int = 0
    assets: int = 0
    active: int = 0
    updating: int = 0
    draft: int = 0
    failed_assets: int = 0
    archived: int = 0
    live_keys: int = 0
    revoked_keys: int = 0
    subs: int = 0
    pending: int = 0
    submitting: int = 0
    confirmed: int = 0
    failed: int = 0
    transactions: int = 0


@dataclass
class ChainLine:
    """An enabled chain."""

    id: str
    name: str
    status: str
    eid: int
    height: int


class OverviewState(Loads, rx.State):
    """The page's numbers and lists, read at every visit."""

    counts: Counts = Counts()
    waiting: list[Waiting] = []
    kind: str = ""
    chains: list[ChainLine] = []
    known_chains: int = 0
    chains_problem: str = ""
    retrying: str = ""
    reading: bool = False

    @rx.var
    def shown(self) -> list[Waiting]:
        """What waits, of the chosen kind."""
        return [entry for entry in self.waiting if self.kind in ("", entry.kind)]

    @rx.var
    def kinds(self) -> dict[str, int]:
        """How many of each kind wait."""
        return {kind: sum(e.kind == kind for e in self.waiting) for kind in KINDS}

    @rx.event
    async def load(self):
        """Read everything at once."""
        self.reading = True
        yield
        try:
            await self._read(await self._api("GET", "/orgs/{org}/summary"))
            self._loaded()
        except ApiProblem as problem:
            self._failed(problem)
        self.reading = False

    async def _read(self, summary: dict[str, Any]) -> None:
        missing: dict[str, str] = {}
        self.counts = _counts(summary)
        chains, self.waiting = await asyncio.gather(
            self._list(missing, "chain", "chains", "/orgs/{org}/chains"), self._waiting(missing, summary["attention"])
        )
        self.chains_problem = missing.get("chain", "")
        self.chains = [_chain(row) for row in chains if row["enabled"]]
        self.known_chains = len(chains)

    async def _waiting(self, missing: dict[str, str], counts: dict[str, int]) -> list[Waiting]:
        """What waits. Of what the summary counts none, nothing is asked."""

        async def of(kind: str, name: str, count: int, **params: Any) -> list[dict[str, Any]]:
            return await self._list(missing, kind, name, f"/orgs/{{org}}/{name}", **params) if count else []

        asked, failed, parties, expiring, invited, hooks = await asyncio.gather(
            of("approval", "approvals", counts["approvals_waiting"], can_decide=True, limit=SHOWN),
            of("request", "requests", counts["failed_requests"], status="failed", limit=SHOWN),
            self._parties(missing, counts["parties_waiting"]),
            of("attestation", "attestations", counts["attestations_expiring"], expiring_days=30, limit=NAMED),
            of("invitation", "invitations", counts["pending_invitations"], status="pending", limit=NAMED),
            of("webhook", "webhooks", 1, status="disabled"),
        )
        inbox = Inbox(f"/o/{self.org_id}/")
        known = [
            *(inbox.asked(row) for row in asked),
            *(inbox.failed(request_of(row)) for row in failed),
            *([] if "request" in missing else inbox.more_failed(counts["failed_requests"] - len(failed))),
            *inbox.parties(counts["parties_waiting"], parties),
            *inbox.expiring(counts["attestations_expiring"], expiring),
            *inbox.invited(counts["pending_invitations"], invited),
            *(inbox.stopped(row) for row in hooks if row["disabled_reason"] != "manual"),
        ]
        return inbox.with_unread(known, {kind: why for kind, why in missing.items() if kind in KINDS})

    async def _parties(self, missing: dict[str, str], count: int) -> list[dict[str, Any]]:
        """The first parties that wait, by one status after the other until there are enough."""
        found: list[dict[str, Any]] = []
        for status in WAITING:
            if len(found) < min(NAMED, count):
                query = {"organization_id": self.org_id, "status": status, "limit": NAMED}
                found += await self._list(missing, "party", "parties", "/identity/parties", **query)
        return found[:NAMED]

    async def _list(
        self, missing: dict[str, str], kind: str, name: str, path: str, **params: Any
    ) -> list[dict[str, Any]]:
        """A part's list. What the person may not read (403) is left out; why another failed is kept in `missing`."""
        try:
            page = await self._api("GET", path, params=params)
        except ApiProblem as problem:
            if problem.status != 403:
                missing[kind] = problem.detail or problem.title
            return []
        rows: list[dict[str, Any]] = page[name]
        return rows

    @rx.event
    def show(self, kind: str):
        """Show one kind of what waits, or all."""
        self.kind = one_of(kind, self.kinds)

    @rx.event
    async def retry(self, request_id: str):
        """Run a failed request again."""
        if not any(entry.request_id == str(request_id) for entry in self.waiting):
            return
        self.retrying = str(request_id)
        yield
        try:
            await self._api("POST", f"/orgs/{{org}}/requests/{request_id}/retry")
            await self._accepted("Trying again", str(request_id))
        except ApiProblem as problem:
            if not asks_for_proof(problem):  # the dialog asks for it, and repeats this
                await self._notify("It cannot be retried", problem.detail, "bad")
        self.retrying = ""
        yield [OverviewState.load, Tracker.watch]


def _counts(summary: dict[str, Any]) -> Counts:
    members, keys, sent = summary["members"], summary["api_keys"], summary["transactions"]
    by = {status: summary["assets"]["by_status"].get(status, 0) for status in ASSETS}
    return Counts(
        staff=members["staff"],
        clients=members["clients"],
        members=members["total"],
        wallets=summary["wallets"],
        assets=summary["assets"]["total"],
        active=by["active"],
        updating=by["updating"] + by["deploying"],
        draft=by["draft"],
        failed_assets=by["failed"],
        archived=by["archived"],
        live_keys=keys["active"],
        revoked_keys=keys["revoked"],
        subs=summary["sub_organizations"],
        transactions=sum(sent.values()),
        **sent,
    )


def _chain(row: dict[str, Any]) -> ChainLine:
    name = row["display_name"] or row["chain_name"] or row["id"]
    return ChainLine(row["id"], name, row["status"] or "", row["xchain_eid"] or 0, row.get("height") or 0)
