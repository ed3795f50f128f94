"""The embedded chains as whoever runs the installation sees them: their time, their faults, their beginning."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import reflex as rx

from backend.client import ApiProblem, client
from state.api import Api

STEPS = {"hour": 3_600, "day": 86_400, "month": 30 * 86_400}
"""How far a press moves the clock, seconds."""
SIZES = {"slow": 3, "drop_transactions": 2, "reorg": 2}
"""Seconds between blocks, transactions, blocks; the other faults have no size."""
MINUTE = "%d %B %Y, %H:%M UTC"
LASTING = 300
"""Seconds until a fault ends by itself."""


@dataclass
class DevChain:
    """A chain: its fault is a status word, empty where it is well; `block` is empty where it does not answer."""

    eid: int
    name: str
    block: str
    time: str
    fault: str
    until: str


class Devnet(Api, rx.State):
    """What an admin of the operator's organization can do with them; for anybody else nothing is there."""

    chains: list[DevChain] = []
    ahead: str = ""
    can_reset: bool = False
    problem: str = ""
    saving: str = ""
    asks_reset: bool = False
    is_beginning_again: bool = False

    @rx.event
    async def load(self):
        """Read them, where there are any and they are this person's."""
        self.problem, self.saving, self.asks_reset = "", "", False
        if not client.devnet:
            self.chains = []
            return
        try:
            self._take(await self._api("GET", "/devnet"))
        except ApiProblem as problem:
            self.chains = []
            self.problem = "" if problem.status in (403, 404) else problem.detail

    @rx.event
    async def advance(self, step: str):
        """Move the clock of all chains on."""
        seconds = STEPS.get(str(step)[:10])
        if seconds is not None:
            self.saving = "clock"
            yield
            await self._change("/devnet/clock", {"seconds": seconds})

    @rx.event
    async def begin(self, eid: int, kind: str):
        """Begin a fault of a chain, or end it (`none`)."""
        kind = str(kind)[:30]
        if kind:
            self.saving = str(eid)[:12]
            yield
            body = {"chain_eid": eid, "kind": kind, "seconds": LASTING, "size": SIZES.get(kind, 1)}
            await self._change("/devnet/faults", body)

    @rx.event
    def ask_reset(self, asks: bool):
        """Open or close the question."""
        self.asks_reset = bool(asks)

    @rx.event
    async def reset_all(self):
        """Begin again from nothing."""
        try:
            await self._api("POST", "/devnet/reset", key=str(uuid4()))
        except ApiProblem as problem:
            self.problem = problem.detail or problem.title
            return
        self.asks_reset, self.is_beginning_again = False, True

    async def _change(self, path: str, body: dict[str, Any]) -> None:
        try:
            self._take(await self._api("POST", path, json=body, key=str(uuid4())))
            self.problem = ""
        except ApiProblem as problem:
            self.problem = problem.detail or problem.title
        self.saving = ""

    def _take(self, record: dict[str, Any]) -> None:
        self.chains = [_chain(one) for one in record["chains"]]
        self.can_reset = record["can_reset"]
        self.ahead = _words(record["clock_offset_seconds"])


def _chain(record: dict[str, Any]) -> DevChain:
    fault = record["fault"] or {"kind": "", "until": ""}
    number = record["block_number"]
    block = "" if number is None else f"{number:,}"
    time = f"{datetime.fromisoformat(record['time']):{MINUTE}}" if record["time"] else ""
    return DevChain(record["chain_eid"], record["name"], block, time, fault["kind"], fault["until"])


def _words(seconds: int) -> str:
    """How far the chains are ahead, with the date they are at; empty where they are not."""
    if not seconds:
        return ""
    there = datetime.now(UTC) + timedelta(seconds=seconds)
    days, hours = divmod(round(seconds / 3_600), 24)
    ahead = " ".join(f"{n} {word}{'' if n == 1 else 's'}" for n, word in ((days, "day"), (hours, "hour")) if n)
    return f"{ahead or 'Less than an hour'} ahead: {there:{MINUTE}}"
