"""Linking the browser's wallet to the account."""

from typing import Any

import reflex as rx

from backend.client import ApiProblem, body, client
from backend.sign_in.schemas import SiweVerify
from state.core.api import asks_for_proof
from state.core.arguments import texts
from state.core.events import Events
from state.users.linked_wallets import LinkedWallets
from state.users.sessions import SessionsState
from state.users.wallet_proof import SignsWithWallet

STATEMENT = "Link this wallet to my Signum account"
CONFIRM = "Confirm with a wallet that is linked to my Signum account"


class WalletLink(SignsWithWallet, rx.State):
    """The dialog that links a wallet. `step` is what it asks for: the new wallet's signature (sign), then, as the API
    requires, the password or the signature of a wallet that is linked already (wallet); none while it is closed."""

    step: str = ""
    _signature: dict[str, Any] = {}

    @rx.event
    def show(self, is_open: bool) -> None:
        """Open or close the dialog."""
        self._done()
        self.step, self.message, self._signature = "sign" if is_open else "", "", {}

    def _leave(self) -> None:
        self.step, self.message, self._signature = "", "", {}

    @rx.event
    async def choose_wallet(self, account: str) -> None:
        """Create the message that the account of the browser's wallet signs."""
        if self.step not in ("sign", "wallet"):
            return
        try:
            await self._api.get_me()  # without a session no nonce is created
        except ApiProblem as problem:
            self._refused(problem)
            return
        await self._write_message(account, STATEMENT if self.step == "sign" else CONFIRM)

    @rx.event
    async def give_signature(self, signature: str) -> Events:
        """Link the wallet with its signature; or confirm with that of a wallet that is linked already."""
        if self.step not in ("sign", "wallet"):
            return
        self._begin()
        yield
        is_new, message = self.step == "sign", self.message
        proof = self._signed(signature)
        if is_new:
            self._signature = proof["wallet"]
        async for event in self._link({} if is_new else proof):
            yield event
        if is_new and self.saving:
            self.message = message  # the API asks for a second factor first, and this event is repeated

    @rx.event
    async def give_password(self, data: dict[str, Any]) -> Events:
        """Link the wallet, with the password."""
        if self.step != "password":
            return
        self._begin()
        yield
        async for event in self._link({"password": texts(data, 300).get("password", "")}):
            yield event

    async def _link(self, proof: dict[str, Any]) -> Events:
        """Link the wallet; ask for the proof that the API requires."""
        try:
            tokens = await self._api.verify_siwe(body(SiweVerify, {**self._signature, "link": True, **proof}))
        except ApiProblem as problem:
            self._ask(problem, is_first=not proof)
            return
        # Linking answers like a sign-in; the browser needs no second session.
        await client.call("POST", "/auth/logout", token=tokens.access_token)
        self._done()
        self.step, self._signature = "", {}
        await self._notify("Wallet linked", "You can sign with it here, and sign in with it.")
        yield [LinkedWallets.load, SessionsState.load]

    def _ask(self, problem: ApiProblem, *, is_first: bool) -> None:
        if asks_for_proof(problem):
            return
        needed = {error.get("pointer") for error in problem.errors}
        self._refused(problem)
        if is_first and needed & {"/password", "/wallet"}:
            self._done()
            self.step = "password" if "/password" in needed else "wallet"
        else:
            self._keep_at("password")
