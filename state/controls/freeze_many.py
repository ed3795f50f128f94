"""Freezing or unfreezing several holders together: a request for each."""

from collections.abc import Sequence
from typing import Any

import reflex as rx

from backend.client import body
from backend.controls.schemas import FreezeBatch
from state.assets.detail import AssetState
from state.assets.holders import HoldersState, HolderView
from state.controls.policy import is_guarded
from state.core.arguments import named, one_of
from state.core.events import Events
from state.core.outcomes import Outcome, SendsItems, accepted, refused
from state.core.units import rounded, shortened
from state.requests.tracker import Tracker

FREEZE, UNFREEZE = "freeze", "unfreeze"
OMITTED = {
    FREEZE: "the treasury and contracts cannot be frozen",
    UNFREEZE: "only holders with frozen tokens can be unfrozen",
}
WAITING = "awaiting_approval"
SHOWN = 10
"""Holders that the dialog lists; it counts the others."""


class FreezeMany(SendsItems, rx.State):
    """The dialog with the reason and the confirmation, and the outcome for each holder."""

    kind: str = ""
    who: list[str] = []
    more: int = 0
    """Holders that are not in `who`."""
    count: int = 0
    omitted: str = ""
    is_guarded: bool = False
    _accounts: list[HolderView] = []

    @rx.event
    async def begin(self, kind: str) -> None:
        """Open the dialog for the marked holders."""
        if self.running:
            return
        self._done()
        self._forget()
        self.kind = one_of(kind, OMITTED)
        marked = (await self.get_state(HoldersState))._marked_rows()
        self._accounts = [row for row in marked if (row.can_freeze if self.kind == FREEZE else row.is_frozen)]
        asset = (await self.get_state(AssetState)).asset
        self.who = [held_by(row, asset.symbol, asset.decimals) for row in self._accounts[:SHOWN]]
        self.count, self.more = len(self._accounts), max(0, len(self._accounts) - SHOWN)
        self.omitted = omitted([name_of(row) for row in marked if row not in self._accounts], self.kind)
        self.is_guarded = await is_guarded(self._api, self._org_id(), self.kind)
        self.is_open = bool(self.kind)

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Send a request for each holder; the outcomes appear as they arrive."""
        if self.saving or self.running or self.outcomes or not self._accounts:
            return
        self._begin()
        yield
        said = named(data, "reason", "symbol")
        symbol = (await self.get_state(AssetState)).asset.symbol
        self.errors = {} if said["reason"] else {"reason": "Enter a reason. It is stored with each request"}
        if len(self._accounts) > 1 and said["symbol"] != symbol:
            self.errors = self.errors | {"symbol": f"Type {symbol} to confirm"}
        if self.errors:
            self.saving = False
            return
        self._items = items(self._accounts, said["reason"])
        self.outcomes = [Outcome(str(i), name_of(row), row.chain) for i, row in enumerate(self._accounts)]
        async for events in self._send(self._groups(range(len(self._items)))):
            yield events

    async def _outcomes(self, group: Sequence[int], key: str) -> list[Outcome]:
        org_id, asset_id = self._org_id(), (await self.get_state(AssetState)).asset.id
        wanted = body(FreezeBatch, {"items": [dict(self._items[i]) for i in group]})
        send = self._api.freeze_accounts if self.kind == FREEZE else self._api.unfreeze_accounts
        answer = await send(org_id, asset_id, wanted, idempotency_key=key)
        return [
            accepted(self.outcomes[i], made.request_id, "", org_id, waits=made.status == WAITING)
            if (made := result.acceptance)
            else refused(self.outcomes[i], result.problem or {})
            for i, result in zip(group, answer.results, strict=True)
        ]

    async def _sent(self) -> Any:
        holders = await self.get_state(HoldersState)
        holders.marked = []
        await holders._page()
        return Tracker.watch


def omitted(names: Sequence[str], kind: str) -> str:
    """Return which marked holders get no request, and why: `Treasury is not included: …`; empty without one."""
    who = names[0] if len(names) == 1 else f"{len(names)} of the selected rows"
    return f"{who} {'is' if len(names) == 1 else 'are'} not included: {OMITTED.get(kind, '')}." if names else ""


def name_of(row: HolderView) -> str:
    """Return the name of a holder, or its address."""
    return row.name or shortened(row.address)


def held_by(row: HolderView, symbol: str, decimals: int) -> str:
    """Return a holder with its tokens and their chain: `Kestrel Pension Trust, 1,250.5 NREF on Sepolia Devnet`."""
    return f"{name_of(row)}, {rounded(row.balance, decimals)} {symbol} on {row.chain}"


def items(rows: Sequence[HolderView], reason: str) -> list[dict[str, Any]]:
    """Return the items of a batch: the whole account of each holder, with the same reason."""
    return [{"chain_eid": row.eid, "address": row.address, "reason": reason} for row in rows]
