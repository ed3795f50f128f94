"""The chain list, as this organization can use it."""

import asyncio
from typing import ClassVar

import reflex as rx

from backend.chains.schemas import OrganizationChain
from backend.client import ApiProblem
from state.chains.views import ChainDetail, chain_detail, in_progress, obstacle_of
from state.core.address import Addressed, Param, choice
from state.core.api import Loads
from state.core.events import Events
from state.requests.tracker import Tracker

ANY = ""
FILTERS = {
    "environment": ("mainnet", "testnet", "devnet"),
    "vm": ("evm", "solana"),
    "deployed": ("yes", "no"),
    "enabled": ("yes", "no"),
}
SHOWN = "shown"


class ChainsState(Loads, Addressed, rx.State):
    """Every known chain; filtered here, because there are few."""

    rows: list[ChainDetail] = []
    environment: str = ANY
    vm: str = ANY
    deployed: str = ANY
    enabled: str = ANY
    unavailable: str = ""
    """`shown` if the chains that cannot be enabled here are listed too."""
    hidden: int = 0
    """Chains that match the filters and are not listed, because they cannot be enabled here."""
    chosen: ChainDetail = ChainDetail()
    is_open: bool = False
    saving: str = ""
    action_problem: str = ""
    _all: list[ChainDetail] = []
    _in_url: ClassVar[dict[str, Param]] = {name: choice(name, known) for name, known in FILTERS.items()} | {
        "unavailable": choice("unavailable", (SHOWN,)),
        "id": Param("chosen.id", lambda _, text: text, "opening"),
    }

    @rx.event
    async def load(self) -> None:
        """Read the chain list, and which of its chains the organization uses; `?id=` opens a chain."""
        self._read_url()
        self.is_open, self.action_problem = False, ""
        await self._read()
        self._show(self._query("id"))

    @rx.event
    async def reload(self) -> None:
        """Read the chain list again."""
        await self._read()

    async def _read(self) -> None:
        try:
            known, ours = await asyncio.gather(
                self._api.list_chains(), self._api.list_organization_chains(self._org_id())
            )
        except ApiProblem as problem:
            self._failed(problem)
            return
        usable = {chain.id: chain for chain in ours.chains}
        network = {chain.environment for chain in ours.chains if chain.environment}
        self._all = [
            chain_detail(chain, obstacle_of(chain, chain.id in usable, network))
            for chain in (usable.get(entry.id) or OrganizationChain.model_validate(entry) for entry in known.chains)
        ]
        # By name within.
        self._all.sort(key=lambda chain: (not chain.is_enabled, bool(chain.obstacle), not chain.is_deployed))
        self._loaded()
        self._sift()

    def _sift(self) -> None:
        """Show the rows that match the filters, without those that cannot be enabled unless these are wanted too."""
        found = [
            row
            for row in self._all
            if self.environment in (ANY, row.environment)
            and self.vm in (ANY, row.vm)
            and self.deployed in (ANY, "yes" if row.is_deployed else "no")
            and self.enabled in (ANY, "yes" if row.is_enabled else "no")
        ]
        self.rows = [row for row in found if self.unavailable or is_available(row)]
        self.hidden = len(found) - len(self.rows)
        self.chosen = next((row for row in self._all if row.id == self.chosen.id), ChainDetail())

    @rx.event
    def sift(self, name: str, value: str) -> None:
        """Set a filter; an empty value shows all."""
        if name in FILTERS and (value == ANY or value in FILTERS[name]):
            setattr(self, name, value)
            self._sift()

    @rx.event
    def clear(self) -> None:
        """Clear all filters."""
        self.environment = self.vm = self.deployed = self.enabled = ANY
        self._sift()

    @rx.event
    def show_unavailable(self) -> None:
        """List the chains that cannot be enabled here too, or hide them again."""
        self.unavailable = "" if self.unavailable else SHOWN
        self._sift()

    @rx.event
    def show(self, chain_id: str) -> None:
        """Open a chain."""
        self._show(chain_id)

    def _show(self, chain_id: str) -> None:
        self.chosen = next((row for row in self._all if row.id == chain_id), ChainDetail())
        if self.chosen.id and not is_available(self.chosen) and not self.unavailable:
            self.unavailable = SHOWN
            self._sift()
        self.is_open, self.action_problem = bool(self.chosen.id), ""

    @rx.event
    def step(self, by: int) -> None:
        """Go to the next or previous row: keys J and K."""
        if self.rows and by in (1, -1):
            at = next((i for i, row in enumerate(self.rows) if row.id == self.chosen.id), -1 if by > 0 else 1)
            self.chosen = self.rows[max(0, min(len(self.rows) - 1, at + by))]
            self.is_open, self.action_problem = True, ""

    @rx.event
    def leave(self) -> None:
        """Close the drawer."""
        self.is_open, self.chosen = False, ChainDetail()

    @rx.event
    async def enable(self, chain_id: str) -> Events:
        """Enable a chain for the organization."""
        async for event in self._change(str(chain_id)[:40], "enabled"):
            yield event

    @rx.event
    async def disable(self, chain_id: str) -> Events:
        """Disable a chain: nothing new starts there."""
        async for event in self._change(str(chain_id)[:40], "disabled"):
            yield event

    async def _change(self, chain_id: str, done: str) -> Events:
        """Enable or disable a chain; `done` is what it is afterwards."""
        change = self._api.enable_chain if done == "enabled" else self._api.disable_chain
        row = next((row for row in self._all if row.id == chain_id), None)
        if row is None or self.saving:
            return
        self.saving, self.action_problem = chain_id, ""
        yield
        try:
            changed = await change(self._org_id(), chain_id)
            left = "" if changed.enabled else in_progress(changed.requests_in_progress)
            await self._notify(f"{row.name} is {done}", left)
            await self._read()
        except ApiProblem as problem:
            self.action_problem = problem.detail or problem.title
            await self._notify(f"{row.name} was not {done}", self.action_problem, "bad")
        self.saving = ""
        yield Tracker.watch


def is_available(chain: ChainDetail) -> bool:
    """Return whether the organization uses the chain, or could enable it."""
    return chain.is_enabled or not chain.obstacle
