"""The embedded chains for the operator of the installation: their time, faults and reset."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import reflex as rx

from backend.client import ApiProblem, body, client
from backend.devnet.schemas import ClockMove, Devnet, DevnetChain, FaultBegin
from state.chains.list import ChainsState
from state.core.api import Api
from state.core.dates import stamp
from state.core.events import Events

STEPS = {"hour": 3_600, "day": 86_400, "month": 30 * 86_400}
"""Seconds by which a button advances the clock."""
SIZES = {"slow": 3, "drop_transactions": 2, "reorg": 2}
"""Seconds between blocks, number of transactions, number of blocks; the other faults have no size."""
RESET_WORD = "reset"
LASTING = 300
"""Seconds until a fault ends automatically."""


@dataclass
class DevnetChainView:
    """A chain: `fault` is a status, empty without one; `block` is empty if the chain does not respond."""

    eid: int
    name: str
    block: str
    time: str
    fault: str
    until: str


class DevnetState(Api, rx.State):
    """What an admin of the operator's organization can do with the chains; empty for other users."""

    chains: list[DevnetChainView] = []
    ahead: str = ""
    can_reset: bool = False
    problem: str = ""
    saving: str = ""
    asks_reset: bool = False
    is_resetting: bool = False
    reset_word: str = ""
    """What the user typed to confirm a reset."""

    @rx.event
    async def load(self) -> None:
        """Read the chains, if there are any and the user may see them."""
        self.problem, self.saving, self.asks_reset, self.is_resetting = "", "", False, False
        wants_reset = self._query("start-over") != ""
        if not client.devnet:
            self.chains = []
            return
        try:
            await self._take(await self._api.get_devnet())
            self.asks_reset = wants_reset and self.can_reset
        except ApiProblem as problem:
            self.chains = []
            self.problem = "" if problem.status in (403, 404) else problem.detail

    @rx.event
    async def advance(self, step: str) -> Events:
        """Advance the clock of all chains."""
        seconds = STEPS.get(str(step)[:10])
        if seconds is not None:
            self.saving = "clock"
            yield
            await self._change(lambda: self._api.move_clock(ClockMove(seconds=seconds)))

    @rx.event
    async def begin(self, eid: int, kind: str) -> Events:
        """Start a fault on a chain, or end it (`none`)."""
        kind = str(kind)[:30]
        if kind:
            self.saving = str(eid)[:12]
            yield
            fault = {"chain_eid": eid, "kind": kind, "seconds": LASTING, "size": SIZES.get(kind, 1)}
            await self._change(lambda: self._api.begin_fault(body(FaultBegin, fault)))

    @rx.event
    def ask_reset(self, asks: bool) -> None:
        """Open or close the confirmation of a reset."""
        self.asks_reset, self.reset_word, self.problem = bool(asks), "", ""

    @rx.event
    def type_word(self, word: str) -> None:
        """Take over the word that confirms a reset."""
        self.reset_word = str(word)[:20]

    @rx.event
    async def reset_all(self) -> Events:
        """Reset chains and database, once its word was typed. The browser shows the progress, also without a server."""
        if self.reset_word.strip().lower() != RESET_WORD:
            self.problem = f"Type {RESET_WORD} to confirm."
            return
        self.asks_reset, self.is_resetting = False, True
        yield
        try:
            await self._api.reset_devnet()
        except ApiProblem as problem:
            self.problem = problem.detail or problem.title
            self.asks_reset, self.is_resetting = True, False

    async def _change(self, change: Callable[[], Awaitable[Devnet]]) -> None:
        """Make a change and show the chains after it, or why it was refused."""
        try:
            await self._take(await change())
            self.problem = ""
        except ApiProblem as problem:
            self.problem = problem.detail or problem.title
        self.saving = ""

    async def _take(self, record: Devnet) -> None:
        """Show the chains, in the order of the list above."""
        order = [chain.eid for chain in (await self.get_state(ChainsState))._all]
        found = [_chain_view(chain) for chain in record.chains]
        self.chains = sorted(found, key=lambda one: order.index(one.eid) if one.eid in order else len(order))
        self.can_reset = record.can_reset
        self.ahead = _words(record.clock_offset_seconds)


def _chain_view(chain: DevnetChain) -> DevnetChainView:
    return DevnetChainView(
        eid=chain.chain_eid,
        name=chain.name,
        block="" if chain.block_number is None else f"{chain.block_number:,}",
        time=_minute(chain.time) if chain.time else "",
        fault=chain.fault.kind if chain.fault else "",
        until=stamp(chain.fault.until) if chain.fault else "",
    )


def _words(seconds: int) -> str:
    """Return how far the chains are ahead, with their date; empty if they are not ahead."""
    if not seconds:
        return ""
    there = datetime.now(UTC) + timedelta(seconds=seconds)
    days, hours = divmod(round(seconds / 3_600), 24)
    ahead = " ".join(f"{n} {word}{'' if n == 1 else 's'}" for n, word in ((days, "day"), (hours, "hour")) if n)
    return f"{ahead or 'Less than an hour'} ahead: {_minute(there)}"


def _minute(at: datetime) -> str:
    return f"{at.day} {at:%b %Y, %H:%M} UTC"
