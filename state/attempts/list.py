"""The attempts to break Signum: what each one is, and what its newest run showed, live."""

import asyncio
from dataclasses import dataclass, field

import reflex as rx

from backend.attempts.schemas import Attempt, AttemptCall, AttemptFact, AttemptKind, AttemptStatus, AttemptStep
from backend.client import ApiProblem
from state.compliance.verdicts import Terms
from state.core.api import Loads, asks_for_proof
from state.core.dates import stamp
from state.core.events import Events
from state.core.units import with_short_addresses

LOOK = 0.5
"""Seconds between two reads while an attempt runs."""
WORDS = {
    AttemptKind.BLOCKED_COUNTRY: (
        "A buyer from a blocked country",
        "A verified buyer from a country that the rules block sends an order straight to the market's contract.",
    ),
    AttemptKind.LOCKED_UP: (
        "A holder sends tokens during the lock-up",
        "A holder calls the token's contract to send locked-up tokens.",
    ),
    AttemptKind.SECOND_WALLET: (
        "A holder exceeds the maximum",
        "A holder orders more than the maximum, then sends tokens to a second wallet, which is not attested.",
    ),
    AttemptKind.EXPIRED_ATTESTATION: (
        "A sale with an expired attestation",
        "A holder was attested for a few seconds, and sells afterwards.",
    ),
    AttemptKind.BUYERS_CASH: (
        "The issuer takes a buyer's cash",
        "The issuer's own key, which controls the token, tries to take a buyer's money.",
    ),
    AttemptKind.STOPPED_CHAIN: (
        "A chain stops during a bridge",
        "Tokens have left one chain when the node of the other chain is stopped. Then it is started again.",
    ),
    AttemptKind.REFUSED_PACKET: (
        "A chain refuses a packet",
        "Tokens leave one chain, and the other one refuses to take them.",
    ),
    AttemptKind.REORGANIZATION: (
        "A reorganization takes a block back",
        "A transfer is confirmed, and then the chain replaces its newest blocks with empty ones.",
    ),
    AttemptKind.KILLED_SERVER: (
        "The server is killed",
        "A transfer is on its way when the server dies without saving anything. The pages of everyone wait for some "
        "seconds, and reconnect.",
    ),
}


@dataclass
class AttemptCallView:
    """A call and both verdicts: `contract` is empty where the contract allowed it."""

    tried: str
    chain: str
    rules: list[str]
    contract: str
    error: str
    agrees: bool
    tx_hash: str


@dataclass
class AttemptView:
    """An attempt of one kind; `status` as the API's, `not_made` where it failed."""

    kind: str
    title: str
    about: str
    status: str = AttemptStatus.UNTRIED
    began_at: str = ""
    took: str = ""
    problem: str = ""
    request_href: str = ""
    calls: list[AttemptCallView] = field(default_factory=list)
    steps: list[dict[str, str]] = field(default_factory=list)
    facts: list[dict[str, str]] = field(default_factory=list)


class AttemptsState(Loads, rx.State):
    """The attempts, in the order of the page."""

    against_rules: list[AttemptView] = []
    against_machinery: list[AttemptView] = []
    is_running: bool = False
    is_broken: bool = False
    """Whether two verdicts differ, or a chain holds something else than it must."""
    tried: int = 0
    held: int = 0
    can_kill: bool = False
    refusal: str = ""
    """Why the attempt that was asked for did not begin."""

    @rx.event
    async def load(self) -> Events:
        """Read the attempts, and follow the one that runs."""
        self.loading, self.problem, self.refusal = True, "", ""
        yield
        await self._read()
        if self.is_running:
            yield AttemptsState.follow

    @rx.event
    async def begin(self, kind: str) -> Events:
        """Begin an attempt, and follow it."""
        try:
            self.refusal, self.is_running = "", True
            yield
            await self._api.begin_attempt(self._org_id(), AttemptKind(str(kind)[:40]))
        except ValueError:
            self.is_running = False
        except ApiProblem as problem:
            self.is_running = False
            if not asks_for_proof(problem):
                self.refusal = problem.detail or problem.title
        else:
            await self._read()
            yield AttemptsState.follow

    @rx.event(background=True, supersedes=True)
    async def follow(self) -> None:
        """Read the attempts until the running one ends, also if the server is away for some seconds."""
        async with self:
            path = self.router.url.path
        while True:
            await asyncio.sleep(LOOK)
            async with self:
                if self.router.url.path != path:
                    return
                await self._read()
                if not self.is_running:
                    return

    async def _read(self) -> None:
        try:
            found = await self._api.get_attempts(self._org_id())
        except ApiProblem as problem:
            self._failed(problem)
            return
        org_id = self._org_id()
        views = [attempt_view(attempt, org_id) for attempt in found.attempts]
        self.against_rules = [view for view in views if view.kind not in MACHINERY]
        self.against_machinery = [view for view in views if view.kind in MACHINERY]
        statuses = [attempt.status for attempt in found.attempts]
        self.is_running, self.is_broken = AttemptStatus.RUNNING in statuses, AttemptStatus.BROKEN in statuses
        self.held = statuses.count(AttemptStatus.HELD)
        self.tried = self.held + statuses.count(AttemptStatus.BROKEN)
        self.can_kill = found.can_kill
        self._loaded()


MACHINERY = {
    AttemptKind.STOPPED_CHAIN, AttemptKind.REFUSED_PACKET, AttemptKind.REORGANIZATION, AttemptKind.KILLED_SERVER,
}  # fmt: skip


def attempt_view(attempt: Attempt, org_id: str) -> AttemptView:
    """Convert the API's attempt."""
    title, about = WORDS[attempt.kind]
    return AttemptView(
        kind=attempt.kind,
        title=title,
        about=about,
        status="not_made" if attempt.status is AttemptStatus.FAILED else attempt.status,
        began_at=stamp(attempt.began_at) if attempt.began_at else "",
        took="" if attempt.seconds is None else f"{attempt.seconds:g} s",
        problem=attempt.problem or "",
        request_href=f"/o/{org_id}/requests?id={attempt.request_id}" if attempt.request_id else "",
        calls=[_call(call, org_id) for call in attempt.calls],
        steps=[_step(step) for step in attempt.steps],
        facts=[_fact(fact) for fact in attempt.facts],
    )


def _call(call: AttemptCall, org_id: str) -> AttemptCallView:
    terms = Terms(org_id=org_id, asset_id="", symbol=call.symbol, decimals=call.decimals)
    return AttemptCallView(
        tried=call.tried,
        chain=call.chain,
        rules=[terms.in_words(reason) for reason in call.rules],
        contract=with_short_addresses(terms.in_words(call.contract or "")),
        error=call.contract_error or "",
        agrees=call.agrees,
        tx_hash=call.tx_hash,
    )


def _step(step: AttemptStep) -> dict[str, str]:
    return {"at": f"{step.seconds:.1f} s", "words": step.words}


def _fact(fact: AttemptFact) -> dict[str, str]:
    return {"name": fact.name, "before": fact.before, "after": fact.after, "holds": "yes" if fact.holds else ""}
