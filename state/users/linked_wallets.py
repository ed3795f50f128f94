"""The wallets that can sign in to the account: the list, and unlinking one."""

from dataclasses import dataclass

import reflex as rx

from backend.client import ApiProblem
from backend.sign_in.schemas import LinkedWallet
from state.core.dates import stamp
from state.core.dialogs import Removes
from state.core.events import Next
from state.core.paging import Listed
from state.users.sessions import SessionsState


@dataclass
class LinkedWalletView:
    """A wallet of the account."""

    id: str = ""
    address: str = ""
    created_at: str = ""


class LinkedWallets(Listed, rx.State):
    """The list of linked wallets."""

    rows: list[LinkedWalletView] = []

    @rx.event
    async def load(self) -> None:
        """Read the list."""
        try:
            wallets = (await self._api.list_linked_wallets()).wallets
        except ApiProblem as problem:
            self._failed(problem)
            return
        self.rows = [linked_wallet_view(wallet) for wallet in wallets]
        self._loaded()


class LinkedWalletRemoval(Removes, rx.State):
    """The confirmation before a wallet is unlinked."""

    about: LinkedWalletView = LinkedWalletView()

    def _list(self) -> type[Listed]:
        return LinkedWallets

    async def _remove(self) -> Next:
        await self._api.unlink_wallet(self.about.id)
        return [LinkedWallets.load, SessionsState.load]

    def _words(self) -> tuple[str, str]:
        return "Wallet unlinked", "It can no longer sign in to your account."


def linked_wallet_view(wallet: LinkedWallet) -> LinkedWalletView:
    """Convert the API's linked wallet."""
    return LinkedWalletView(str(wallet.id), wallet.address, stamp(wallet.created_at))
