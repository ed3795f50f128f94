"""The overview: counts, what waits for a person, what happens."""

import asyncio
from dataclasses import dataclass
from typing import Any

import reflex as rx

from backend.client import ApiProblem
from state.api import Loads
from state.given import one_of
from state.party import WAITING
from state.requests import Request, Tracker, request_of
from state.webhooks import WHY_DISABLED

ASSETS = ("active", "deploying", "updating", "draft", "failed", "archived")
SHOWN = 5


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
class Waiting:
    """What waits for a person; `href` is where it is resolved, `request_id` is set where it can be retried here."""

    id: str
    kind: str
    title: str
    detail: str
    at: str
    word: str
    href: str
    request_id: str = ""


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
    recent: list[Request] = []
    retrying: str = ""

    @rx.var
    def shown(self) -> list[Waiting]:
        """What waits, of the chosen kind."""
        return [entry for entry in self.waiting if self.kind in ("", entry.kind)]

    @rx.var
    def kinds(self) -> dict[str, int]:
        """How many of each kind wait."""
        return {
            kind: sum(e.kind == kind for e in self.waiting)
            for kind in ("approval", "request", "party", "attestation", "invitation", "webhook")
        }

    @rx.event
    async def load(self):
        """Read everything at once."""
        try:
            summary = await self._api("GET", "/orgs/{org}/summary")
        except ApiProblem as problem:
            self._failed(problem)
            return
        recent, asked, failed, chains, created, verifying, expiring, invited, hooks = await asyncio.gather(
            self._list("requests", "/orgs/{org}/requests", limit=6),
            self._list("approvals", "/orgs/{org}/approvals", can_decide=True, limit=SHOWN),
            self._list("requests", "/orgs/{org}/requests", status="failed", limit=SHOWN),
            self._list("chains", "/orgs/{org}/chains"),
            *(
                self._list("parties", "/identity/parties", organization_id=self.org_id, status=s, limit=3)
                for s in WAITING
            ),
            self._list("attestations", "/orgs/{org}/attestations", expiring_days=30, limit=3),
            self._list("invitations", "/orgs/{org}/invitations", status="pending", limit=3),
            self._list("webhooks", "/orgs/{org}/webhooks", status="disabled"),
        )
        self.counts = _counts(summary)
        self.recent = [request_of(row) for row in recent]
        enabled = [row for row in chains if row["enabled"]]
        self.chains = [_chain(row) for row in enabled]
        self.known_chains = len(chains)
        attention = summary["attention"]
        self.waiting = [
            *(self._asked(row) for row in asked),
            *(self._failed_request(request_of(row)) for row in failed),
            *self._more_failed(attention["failed_requests"] - len(failed)),
            *self._party(attention["parties_waiting"], (created + verifying)[:3]),
            *self._expiring(attention["attestations_expiring"], expiring),
            *self._invited(attention["pending_invitations"], invited),
            *(self._stopped(row) for row in hooks if row["disabled_reason"] != "manual"),
        ]
        self._loaded()

    async def _list(self, name: str, path: str, **params: Any) -> list[dict[str, Any]]:
        """A list that only adds words; what the person may not read, or what fails, is left out."""
        try:
            page = await self._api("GET", path, params=params)
        except ApiProblem:
            return []
        rows: list[dict[str, Any]] = page[name]
        return rows

    def _to(self, place: str) -> str:
        return f"/o/{self.org_id}/{place}"

    def _asked(self, row: dict[str, Any]) -> Waiting:
        who = row["asked_by_name"] or row["asked_with"] or "Somebody"
        detail, href = f"{who} asks; it takes a second person", self._to(f"approvals?id={row['id']}")
        return Waiting(row["id"], "approval", row["title"], detail, row["created_at"], "Decide", href)

    def _failed_request(self, request: Request) -> Waiting:
        href = self._to(f"requests?id={request.id}")
        retry = request.id if request.can_retry else ""
        why = request.problem or "It ended without a reason"
        return Waiting(request.id, "request", f"{request.title} failed", why, request.updated_at, "View", href, retry)

    def _more_failed(self, count: int) -> list[Waiting]:
        if count <= 0:
            return []
        title = f"{count:,} more failed {_plural('request', count)}"
        return [Waiting("more", "request", title, "", "", "View all", self._to("requests?status=failed"))]

    def _party(self, count: int, parties: list[dict[str, Any]]) -> list[Waiting]:
        if not count:
            return []
        title = f"{count:,} {_plural('party', count)} {_wait(count)} for identity review"
        names, at = _names([party["name"] for party in parties], count), parties[-1]["created_at"] if parties else ""
        return [Waiting("parties", "party", title, names, at, "Review", self._to("parties"))]

    def _expiring(self, count: int, attestations: list[dict[str, Any]]) -> list[Waiting]:
        if not count:
            return []
        title = f"{count:,} {_plural('attestation', count)} {'expires' if count == 1 else 'expire'} within 30 days"
        names = _names([(row.get("party") or {}).get("name", "") for row in attestations], count)
        detail = names or "Without a valid attestation their holders can no longer receive or trade."
        return [Waiting("expiring", "attestation", title, detail, "", "Renew", self._to("attestations"))]

    def _invited(self, count: int, invitations: list[dict[str, Any]]) -> list[Waiting]:
        if not count:
            return []
        title = f"{count:,} {_plural('invitation', count)} {'is' if count == 1 else 'are'} still pending"
        names, at = (
            _names([row["email"] for row in invitations], count),
            invitations[-1]["created_at"] if invitations else "",
        )
        return [Waiting("invited", "invitation", title, names, at, "View", self._to("members?tab=invitations"))]

    def _stopped(self, row: dict[str, Any]) -> Waiting:
        why, href = WHY_DISABLED[row["disabled_reason"]], self._to(f"webhooks/{row['id']}")
        title = f"The webhook endpoint {row['url']} was disabled"
        return Waiting(row["id"], "webhook", title, why, row["disabled_at"], "View", href)

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


def _names(names: list[str], count: int) -> str:
    """The first names, and how many more there are."""
    known = [name for name in names if name]
    rest = f" and {count - len(known):,} more" if known and count > len(known) else ""
    return ", ".join(known) + rest


def _plural(word: str, count: int) -> str:
    if count == 1:
        return word
    return word[:-1] + "ies" if word.endswith("y") else word + "s"


def _wait(count: int) -> str:
    return "waits" if count == 1 else "wait"
