"""The wallets that sign the person in: which there are, and unlinking one."""

from dataclasses import dataclass
from typing import Any

import reflex as rx

from backend.client import ApiProblem
from state.account import SessionsState
from state.api import Form, Loads


@dataclass
class LinkedWallet:
    """A wallet of the account."""

    id: str = ""
    address: str = ""
    created_at: str = ""


class LinkedWallets(Loads, rx.State):
    """The list."""

    rows: list[LinkedWallet] = []

    @rx.event
    async def load(self):
        """Read it."""
        try:
            told = await self._api("GET", "/auth/wallets")
        except ApiProblem as problem:
            self._failed(problem)
            return
        self.rows = [_wallet(row) for row in told["wallets"]]
        self._loaded()


class WalletUnlinking(Form, rx.State):
    """The question before a wallet is unlinked."""

    is_open: bool = False
    about: LinkedWallet = LinkedWallet()

    @rx.event
    async def ask(self, id: str):
        """Ask about one of the listed wallets."""
        rows = (await self.get_state(LinkedWallets)).rows
        row = next((row for row in rows if row.id == str(id)), None)
        if row is not None:
            self._done()
            self.about, self.is_open = row, True

    @rx.event
    def show(self, is_open: bool):
        """Close it."""
        self.is_open = self.is_open and bool(is_open)

    @rx.event
    async def confirm(self):
        """Unlink the wallet."""
        self._begin()
        yield
        try:
            await self._api("DELETE", f"/auth/wallets/{self.about.id}")
        except ApiProblem as problem:
            self._refused(problem)
            return
        self._done()
        self.is_open = False
        await self._notify("Wallet unlinked", "It no longer signs you in.")
        yield [LinkedWallets.load, SessionsState.load]


def _wallet(row: dict[str, Any]) -> LinkedWallet:
    return LinkedWallet(row["id"], row["address"], row["created_at"])
