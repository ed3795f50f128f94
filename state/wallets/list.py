"""Wallets: the list, one wallet with its balances, creating and linking."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, ClassVar

import reflex as rx

from backend.client import ApiProblem, body
from backend.wallets.schemas import WalletCreate, WalletDetail, WalletUpdate
from state.chains.lookup import Chains
from state.core.address import Addressed, Param, identifier, written
from state.core.api import Loads
from state.core.arguments import id_of
from state.core.dialogs import DialogAbout
from state.core.events import Events, Next, call
from state.core.paging import Pages
from state.wallets.views import ChainBalancesView, WalletView, balance_view, listed_wallet, wallet_view


class Wallets(Pages, rx.State):
    """The list of wallets."""

    rows: list[WalletView] = []
    words: str = ""
    _sorts: ClassVar[tuple[str, ...]] = ("created_at", "label")
    _in_url: ClassVar[dict[str, Param]] = {"q": written("words")}

    async def _fetch(self, cursor: str) -> str | None:
        page = await self._api.list_wallets(
            self._org_id(), q=self.words or None, cursor=cursor or None, **self._order()
        )
        rows = [listed_wallet(wallet) for wallet in page.wallets]
        self.rows = rows if self.is_sorted else sorted(rows, key=lambda row: not row.is_default)
        return page.nextCursor

    @rx.event
    async def load(self) -> Events:
        """Read the list; show the wallet of `?id=`, or the treasury."""
        wallet = await self.get_state(WalletState)
        self._read_url()
        wallet._read_url()
        await self._restart()
        usual = next((row.id for row in self.rows if row.is_default), self.rows[0].id if self.rows else "")
        wallet._chains = {}
        wallet._take(wallet.asked or usual, self.rows)
        yield
        if wallet.row.id:
            yield call(WalletState.show, wallet.row.id)

    @rx.event(supersedes=True)
    async def search(self, words: str) -> None:
        """Search by label or address."""
        self.words = str(words).strip()[:100]
        await self._restart()


class WalletState(Loads, Chains, Addressed, rx.State):
    """One wallet, with its current balances on each chain."""

    row: WalletView = WalletView()
    chain_balances: list[ChainBalancesView] = []
    unreachable: list[str] = []
    reading: bool = False
    saving: bool = False
    removing: bool = False
    action_problem: str = ""
    asked: str = ""
    """The id of the wallet that the user chose; empty while the usual one is shown."""
    _in_url: ClassVar[dict[str, Param]] = {"id": identifier("asked", "change")}
    _version: str = ""

    @rx.event
    def choose(self, wallet_id: str) -> Next:
        """Show a wallet of the list; a narrow screen shows it above the list."""
        self.asked = id_of(wallet_id)
        return call(WalletState.show, wallet_id)

    @rx.event
    def leave(self) -> None:
        """Return to the list on a narrow screen."""
        self.asked = ""

    @rx.event(supersedes=True)
    async def show(self, wallet_id: str) -> Events:
        """Read a wallet's balances from the chains."""
        if not (wanted := id_of(wallet_id)):
            return
        if self.row.id != wanted:
            self.asked = wanted
            self._take(wanted, (await self.get_state(Wallets)).rows)
        self.reading, self.action_problem = True, ""
        yield
        await self._read()
        self.reading = False

    def _take(self, wallet_id: str, rows: list[WalletView]) -> None:
        """Show what the list knows of a wallet before its balances are read."""
        self.row = next((row for row in rows if row.id == wallet_id), WalletView(id=wallet_id))
        self.chain_balances, self.unreachable, self.loading = [], [], True

    async def _read(self) -> None:
        try:
            if not self._chains:
                await self._read_chains()
            with self._api.response_headers() as headers:
                wallet = await self._api.get_wallet(self._org_id(), self.row.id)
            self._version = headers["etag"]
        except ApiProblem as problem:
            self._failed(problem)
            return
        escrowed = await self._escrowed(wallet)
        self.row = replace(wallet_view(wallet), party_id=self.row.party_id, party=self.row.party)
        self.chain_balances = self._by_chain(wallet, escrowed)
        self.unreachable = [self._chain_name(eid) for eid in wallet.unreachable]
        self._loaded()

    async def _escrowed(self, wallet: WalletDetail) -> dict[tuple[str, int], str]:
        """Return what markets hold for the wallet's open orders, by asset and chain; nothing if it cannot be read."""
        assets = {str(balance.asset_id) for balance in wallet.balances if balance.asset_id}
        held = await asyncio.gather(*(self._holding(asset, wallet.address) for asset in assets))
        return {place: amount for found in held for place, amount in found.items()}

    async def _holding(self, asset_id: str, address: str) -> dict[tuple[str, int], str]:
        try:
            page = await self._api.list_holders(self._org_id(), asset_id, q=address)
        except ApiProblem:
            return {}
        mine = [holder for holder in page.holders if holder.address.lower() == address.lower()]
        return {(asset_id, holder.chain_eid): holder.escrowed for holder in mine}

    def _by_chain(self, wallet: WalletDetail, escrowed: dict[tuple[str, int], str]) -> list[ChainBalancesView]:
        """Return the balances by chain, in the order of the chain list."""
        chains: dict[int, ChainBalancesView] = {}
        for balance in wallet.balances:
            eid = balance.chain_eid
            url = self._address_url(eid, wallet.address)
            chain = chains.setdefault(eid, ChainBalancesView(eid, balance.chain_name, url))
            chain.balances.append(balance_view(balance, escrowed.get((str(balance.asset_id), eid), "0")))
        return list(chains.values())

    @rx.event
    async def make_default(self) -> Events:
        """Make this wallet the default, which is the treasury."""
        org, id, version = self._org_id(), self.row.id, self._version
        async for event in self._write(
            lambda: self._api.update_wallet(org, id, WalletUpdate(is_default=True), if_match=version),
            "is now the default wallet",
            [Wallets.reload, call(WalletState.show, id)],
        ):
            yield event

    @rx.event
    def ask_to_remove(self, is_open: bool) -> None:
        """Open or close the confirmation of a removal."""
        self.removing, self.action_problem = bool(is_open), ""

    def _leave(self) -> None:
        self.removing = False

    @rx.event
    async def remove(self) -> Events:
        """Remove the wallet from the list."""
        org, id, version = self._org_id(), self.row.id, self._version
        async for event in self._write(
            lambda: self._api.delete_wallet(org, id, if_match=version), "is no longer listed", Wallets.load
        ):
            yield event

    async def _write(self, write: Callable[[], Awaitable[object]], words: str, following: Next) -> Events:
        """Send one change of this wallet, and update the page with the event `following`."""
        if self.saving or not self.row.id:
            return
        self.saving, self.action_problem = True, ""
        yield
        try:
            await write()
            self.removing = False
            await self._notify(f"{self.row.label} {words}")
            yield following
        except ApiProblem as problem:
            self.action_problem = problem.detail or problem.title
            if problem.status == 412:
                await self._show_changed()
                yield Wallets.reload
        self.saving = False

    async def _show_changed(self) -> None:
        """Show the wallet as another person changed it; the next attempt is for this version."""
        old = self.row.label
        await self._read()
        label = f'Its label is now "{self.row.label}" instead of "{old}".' if self.row.label != old else ""
        kind = "It is now the default wallet." if self.row.is_default else "It is not the default wallet."
        said = "Another person changed this wallet after you opened it, so nothing was saved."
        self.action_problem = " ".join(filter(None, (said, label, kind)))


class WalletForm(DialogAbout, rx.State):
    """The dialog that creates a server wallet, or links a wallet."""

    kind: str = "server"

    @rx.event
    def begin(self, kind: str) -> None:
        """Open the dialog for a kind of wallet."""
        self._done()
        self.is_open, self.kind = True, "linked" if kind == "linked" else "server"

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Create or link the wallet, and show it."""
        self._begin()
        yield
        fields = {"label": str(data.get("label", "")), "kind": self.kind}
        if self.kind == "linked":
            fields["address"] = str(data.get("address", "")).strip()
        try:
            wallet = await self._api.create_wallet(
                self._org_id(), body(WalletCreate, fields), idempotency_key=self._form_key
            )
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("label", "address")
            return
        self._close()
        await self._notify(f"{wallet.label} was {'linked' if self.kind == 'linked' else 'created'}")
        yield [Wallets.reload, call(WalletState.show, str(wallet.id))]
