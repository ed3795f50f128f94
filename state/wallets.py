"""Wallets: the list, one with its balances, creating and linking."""

from dataclasses import dataclass, field
from typing import Any

import reflex as rx
from pydantic import ValidationError

from backend.client import ApiProblem
from backend.wallets.schemas import WalletCreate
from state.api import Form, Loads
from state.chain_list import Chains
from state.fields import findings
from state.given import id_of
from state.paging import Pages


@dataclass
class WalletRow:
    """A wallet; `is_ours` where we hold its key."""

    id: str = ""
    label: str = ""
    address: str = ""
    kind: str = ""
    is_ours: bool = False
    is_default: bool = False
    created_at: str = ""


@dataclass
class Line:
    """An amount in base units."""

    id: str
    symbol: str
    decimals: int
    amount: str
    is_native: bool


@dataclass
class Place:
    """What a wallet holds on one chain."""

    eid: int
    chain: str
    url: str
    lines: list[Line] = field(default_factory=list)


class Wallets(Pages, rx.State):
    """The list."""

    rows: list[WalletRow] = []

    async def _fetch(self, cursor: str) -> str | None:
        page = await self._api("GET", "/orgs/{org}/wallets", params={"cursor": cursor})
        self.rows = [_row(wallet) for wallet in page["wallets"]]
        return page["nextCursor"]

    @rx.event
    async def load(self):
        """Read the list; show the wallet of `?id=`, else the treasury."""
        await self._restart()
        yield
        wanted = id_of(self._query("id")) or next((row.id for row in self.rows if row.is_default), "")
        wanted = wanted or (self.rows[0].id if self.rows else "")
        wallet = await self.get_state(Wallet)
        wallet.row, wallet.places, wallet._chains = WalletRow(), [], {}
        if wanted:
            yield Wallet.show(wanted)


class Wallet(Loads, Chains, rx.State):
    """One wallet, with what it holds on each chain now."""

    row: WalletRow = WalletRow()
    places: list[Place] = []
    silent: list[str] = []
    reading: bool = False
    saving: bool = False
    removing: bool = False
    action_problem: str = ""

    @rx.event(supersedes=True)
    async def show(self, wallet_id: str):
        """Read a wallet's balances from the chains."""
        if not (wanted := id_of(wallet_id)):
            return
        listed = next((row for row in (await self.get_state(Wallets)).rows if row.id == wanted), None)
        if self.row.id != wanted:
            self.row, self.places, self.silent, self.loading = listed or WalletRow(id=wanted), [], [], True
        self.reading, self.action_problem = True, ""
        yield
        await self._read()
        self.reading = False

    async def _read(self) -> None:
        try:
            if not self._chains:
                await self._read_chains()
            wallet = await self._api("GET", f"/orgs/{{org}}/wallets/{self.row.id}")
        except ApiProblem as problem:
            self._failed(problem)
            return
        self.row, self.places = _row(wallet), self._by_chain(wallet)
        self.silent = [self._chain_name(eid) for eid in wallet["unreachable"]]
        self._loaded()

    def _by_chain(self, wallet: dict[str, Any]) -> list[Place]:
        """The balances, by chain in the registry's order."""
        places: dict[int, Place] = {}
        for balance in wallet["balances"]:
            eid = balance["chain_eid"]
            place = places.setdefault(eid, Place(eid, balance["chain_name"], self._address_url(eid, wallet["address"])))
            name = f"{eid}:{balance['asset_id'] or balance['symbol']}"
            place.lines.append(
                Line(name, balance["symbol"], balance["decimals"], balance["amount"], balance["is_native"])
            )
        return list(places.values())

    @rx.event
    async def make_default(self):
        """Make it the default wallet, the treasury."""
        async for event in self._write("PATCH", {"is_default": True}, "is the default wallet now"):
            yield event

    @rx.event
    def ask_to_remove(self, is_open: bool):
        """Open or close the question."""
        self.removing, self.action_problem = bool(is_open), ""

    @rx.event
    async def remove(self):
        """Forget the wallet."""
        async for event in self._write("DELETE", None, "is no longer listed"):
            yield event

    async def _write(self, method: str, body: dict[str, Any] | None, words: str) -> Any:
        """One write about this wallet, and what follows from it."""
        if self.saving or not self.row.id:
            return
        self.saving, self.action_problem = True, ""
        yield
        try:
            await self._api(method, f"/orgs/{{org}}/wallets/{self.row.id}", json=body)
            self.removing = False
            await self._notify(f"{self.row.label} {words}")
            yield Wallets.load if method == "DELETE" else [Wallets.reload, Wallet.show(self.row.id)]
        except ApiProblem as problem:
            self.action_problem = problem.detail or problem.title
        self.saving = False


class WalletForm(Form, rx.State):
    """The dialog that makes a server wallet, or links one."""

    is_open: bool = False
    kind: str = "server"

    @rx.event
    def show(self, kind: str):
        """Open it for a kind of wallet."""
        self._done()
        self.is_open, self.kind = True, "linked" if kind == "linked" else "server"

    @rx.event
    def close(self, is_open: bool):
        """Close it."""
        self.is_open = bool(is_open) and self.is_open

    @rx.event
    async def submit(self, data: dict[str, Any]):
        """Make it, and show it."""
        self._begin()
        yield
        given = {"label": str(data.get("label", "")), "kind": self.kind}
        if self.kind == "linked":
            given["address"] = str(data.get("address", "")).strip()
        try:
            body = WalletCreate.model_validate(given).model_dump(mode="json", exclude_none=True)
            wallet = await self._api("POST", "/orgs/{org}/wallets", json=body, key=self._form_key)
        except (ApiProblem, ValidationError) as problem:
            if isinstance(problem, ApiProblem):
                self._refused(problem)
            else:
                self.errors, self.saving = findings(problem), False
            self._keep_at("label", "address")
            return
        self._done()
        self.is_open = False
        await self._notify(f"{wallet['label']} is {'linked' if self.kind == 'linked' else 'made'}")
        yield [Wallets.reload, Wallet.show(wallet["id"])]


def _row(wallet: dict[str, Any]) -> WalletRow:
    return WalletRow(
        id=wallet["id"],
        label=wallet["label"],
        address=wallet["address"],
        kind="Server wallet" if wallet["kind"] == "server" else "Linked",
        is_ours=wallet["kind"] == "server",
        is_default=wallet["is_default"],
        created_at=wallet["created_at"],
    )
