"""The registry of chains, as this organization can use them."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import reflex as rx

from backend.client import ApiProblem
from state.api import Loads
from state.bridge_paths import Path, paths_of
from state.requests import Tracker

ANY = ""
CONTRACTS = {
    "Attestation registry": "attestation_registry_address",
    "Market factory": "market_factory_address",
    "Messaging endpoint": "endpoint_address",
    "Quote token": "quote_token_address",
}
ALARMS = {
    "deep_reorg": "Indexing has stopped",
    "difference": "Tables and chain differ",
    "executed_twice": "An operation was executed twice",
    "unreadable": "A contract is not read",
}
FILTERS = {
    "environment": ("mainnet", "testnet", "devnet"),
    "vm": ("evm", "solana"),
    "deployed": ("yes", "no"),
    "enabled": ("yes", "no"),
}


@dataclass
class Contract:
    """A contract of ours on a chain."""

    name: str
    address: str
    url: str


@dataclass
class Alarm:
    """Something the operator must look at."""

    title: str
    detail: str
    since: str


@dataclass
class ChainRow:
    """An entry of the registry; `obstacle` says why it cannot be enabled here, `missing` what the operator of the
    installation has still to do, or they are empty."""

    id: str = ""
    name: str = ""
    eid: int = 0
    chain_id: str = ""
    environment: str = ""
    vm: str = ""
    layer: str = ""
    currency: str = ""
    status: str = ""
    height: str = ""
    lag: str = ""
    error: str = ""
    missing: str = ""
    checked_at: str = ""
    success: str = ""
    safe_height: str = ""
    final_height: str = ""
    confirmations: str = ""
    block_time: str = ""
    has_node: bool = False
    alarms: list[Alarm] = field(default_factory=list)
    explorer: str = ""
    rpc: str = ""
    is_deployed: bool = False
    is_enabled: bool = False
    obstacle: str = ""
    contracts: list[Contract] = field(default_factory=list)
    paths: list[Path] = field(default_factory=list)


class Registry(Loads, rx.State):
    """Every chain the product knows; filtered here, for they are few."""

    rows: list[ChainRow] = []
    environment: str = ANY
    vm: str = ANY
    deployed: str = ANY
    enabled: str = ANY
    chosen: ChainRow = ChainRow()
    is_open: bool = False
    saving: str = ""
    action_problem: str = ""
    _all: list[ChainRow] = []

    @rx.event
    async def load(self):
        """Read the registry, and what of it the organization uses."""
        self.environment = self.vm = self.deployed = self.enabled = ANY
        self.is_open, self.action_problem = False, ""
        await self._read()

    @rx.event
    async def reload(self):
        """Read it again."""
        await self._read()

    async def _read(self) -> None:
        try:
            known, ours = await asyncio.gather(self._api("GET", "/chains/"), self._api("GET", "/orgs/{org}/chains"))
        except ApiProblem as problem:
            self._failed(problem)
            return
        used = {chain["id"]: chain for chain in ours["chains"]}
        network = {chain["environment"] for chain in ours["chains"]}
        self._all = [_row(used.get(chain["id"]) or chain, chain["id"] in used, network) for chain in known["chains"]]
        self._loaded()
        self._sift()

    def _sift(self) -> None:
        """Show the rows that fit the filters."""
        self.rows = [
            row
            for row in self._all
            if self.environment in (ANY, row.environment)
            and self.vm in (ANY, row.vm)
            and self.deployed in (ANY, "yes" if row.is_deployed else "no")
            and self.enabled in (ANY, "yes" if row.is_enabled else "no")
        ]
        self.chosen = next((row for row in self._all if row.id == self.chosen.id), ChainRow())

    @rx.event
    def sift(self, name: str, value: str):
        """Choose the value of a filter; an empty one shows all."""
        if name in FILTERS and (value == ANY or value in FILTERS[name]):
            setattr(self, name, value)
            self._sift()

    @rx.event
    def clear(self):
        """Show all."""
        self.environment = self.vm = self.deployed = self.enabled = ANY
        self._sift()

    @rx.event
    def show(self, chain_id: str):
        """Open a chain."""
        self.chosen = next((row for row in self._all if row.id == chain_id), ChainRow())
        self.is_open, self.action_problem = bool(self.chosen.id), ""

    @rx.event
    def step(self, by: int):
        """Go to the next row, or back: the keys J and K."""
        if self.rows and by in (1, -1):
            at = next((i for i, row in enumerate(self.rows) if row.id == self.chosen.id), -1 if by > 0 else 1)
            self.chosen = self.rows[max(0, min(len(self.rows) - 1, at + by))]
            self.is_open, self.action_problem = True, ""

    @rx.event
    def leave(self):
        """Close the drawer."""
        self.is_open, self.chosen = False, ChainRow()

    @rx.event
    async def enable(self, chain_id: str):
        """Let the organization use a chain."""
        async for event in self._write(str(chain_id)[:40], "enable"):
            yield event

    @rx.event
    async def disable(self, chain_id: str):
        """Begin nothing new on a chain."""
        async for event in self._write(str(chain_id)[:40], "disable"):
            yield event

    async def _write(self, chain_id: str, verb: str) -> Any:
        row = next((row for row in self._all if row.id == chain_id), None)
        if row is None or self.saving:
            return
        self.saving, self.action_problem = chain_id, ""
        yield
        try:
            await self._api("POST", f"/orgs/{{org}}/chains/{chain_id}/{verb}")
            await self._notify(f"{row.name} is {verb}d")
            await self._read()
        except ApiProblem as problem:
            self.action_problem = problem.detail or problem.title
            await self._notify(f"{row.name} was not {verb}d", self.action_problem, "bad")
        self.saving = ""
        yield Tracker.watch


def _row(chain: dict[str, Any], is_ours: bool, network: set[str]) -> ChainRow:
    explorer = (chain["explorer_url"] or "").rstrip("/")
    terms = chain.get("terms") or {}
    return ChainRow(
        id=chain["id"],
        name=chain["display_name"] or chain["chain_name"] or "",
        eid=chain["xchain_eid"] or 0,
        chain_id=str(chain["native_chain_id"] or ""),
        environment=chain["environment"] or "",
        vm=chain["vm_type"] or "",
        layer=chain["chain_layer"] or "",
        currency=chain["native_currency_symbol"] or "",
        status=chain["status"] or "",
        height=_number(chain.get("height")),
        safe_height=_number(chain.get("safe_height")),
        final_height=_number(chain.get("final_height")),
        success=terms.get("summary", ""),
        confirmations=_blocks(terms.get("confirmations")),
        block_time=f"{terms['block_time']:g} seconds" if terms else "",
        has_node=chain.get("checked_at") is not None or bool(chain.get("missing")),
        alarms=[_alarm(alarm) for alarm in chain.get("alarms") or ()],
        lag=_blocks(chain.get("lag")),
        error=chain.get("last_error") or "",
        missing=chain.get("missing") or "",
        checked_at=chain.get("checked_at") or "",
        explorer=explorer,
        rpc=chain["rpc_url"] or "",
        is_deployed=bool(chain["is_signum_deployed"]),
        is_enabled=bool(chain.get("enabled")),
        obstacle=_obstacle(chain, is_ours, network),
        contracts=[
            Contract(name, chain[key], f"{explorer}/address/{chain[key]}" if explorer else "")
            for name, key in CONTRACTS.items()
            if chain.get(key)
        ],
        paths=paths_of(chain),
    )


def _number(height: int | None) -> str:
    return "" if height is None else f"{height:,}"


def _blocks(blocks: int | None) -> str:
    if blocks is None:
        return ""
    return "none" if blocks == 0 else f"{blocks:,} block{'' if blocks == 1 else 's'}"


def _alarm(alarm: dict[str, Any]) -> Alarm:
    return Alarm(ALARMS.get(alarm["kind"], "Needs the operator"), alarm["detail"], alarm["since"])


def _obstacle(chain: dict[str, Any], is_ours: bool, network: set[str]) -> str:
    if not is_ours:
        ours = " and ".join(sorted(network)) or "another network"
        return f"A {chain['environment']} chain; this organization works on {ours}."
    if chain["vm_type"] == "solana":
        return "It runs the Solana VM; it is listed, but operations work on EVM chains only."
    if not chain["is_signum_deployed"]:
        return "Signum's contracts are not deployed there in this installation."
    return ""
