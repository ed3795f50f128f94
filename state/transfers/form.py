"""A new transfer: every rule is checked while it is entered."""

import asyncio
from typing import Any

import reflex as rx

from backend.assets.schemas import Asset
from backend.client import ApiProblem, body
from backend.compliance.schemas import TransferCheck
from backend.transfers.schemas import TransferCreate
from backend.wallets.schemas import WalletKind
from state.assets.choice import active_deployments, asset_option, chain_options
from state.chains.lookup import Chains
from state.compliance.verdicts import Terms, Verdict, refusals_of, verdicts_of
from state.core.arguments import id_of, number, texts, words
from state.core.dialogs import Dialog
from state.core.events import Events, Next, call
from state.requests.tracker import Tracker
from state.transfers.amounts import to_positive
from state.transfers.detail import TransferState
from state.transfers.list import TransfersState
from state.wallets.views import wallet_option

FIELDS = ("asset_id", "chain_eid", "from_wallet_id", "to_address", "amount")


class NewTransfer(Dialog, Chains, rx.State):
    """The dialog: its inputs, and the rules' verdicts."""

    assets: list[dict[str, str]] = []
    chains: list[dict[str, str]] = []
    wallets: list[dict[str, str]] = []
    asset: str = ""
    chain: str = ""
    symbol: str = ""
    verdicts: list[Verdict] = []
    answered: bool = False
    allowed: bool = False
    agrees: bool = True
    checking: bool = False
    failing: int = 0
    check_problem: str = ""
    _decimals: int = 18
    _given: dict[str, str] = {}
    _records: dict[str, Asset] = {}
    _addresses: dict[str, str] = {}

    @rx.event
    def enter(self) -> None:
        """Close the dialog when a page opens."""
        self._close()

    @rx.event
    async def show(self, is_open: bool) -> Events:
        """Open the dialog with the available assets and wallets, or close it."""
        self._done()
        self.is_open, self._given, self.chains = bool(is_open), {}, []
        self.asset, self.chain, self.symbol = "", "", ""
        self._forget()
        if not is_open:
            return
        yield
        try:
            await self._read_choices()
        except ApiProblem as problem:
            self._refused(problem)

    async def _read_choices(self) -> None:
        """Offer assets with an active token, and the server wallets as senders."""
        api, org = self._api, self._org_id()
        assets, page = await asyncio.gather(api.list_assets(org, limit=100), api.list_wallets(org, limit=100))
        usable = [asset for asset in assets.assets if active_deployments(asset)]
        self._records = {str(asset.id): asset for asset in usable}
        self.assets = [asset_option(asset) for asset in usable]
        ours = [wallet for wallet in page.wallets if wallet.kind is WalletKind.SERVER]
        self._addresses = {str(wallet.id): wallet.address for wallet in ours}
        self.wallets = [wallet_option(wallet) for wallet in ours]

    @rx.event
    def write(self, name: str, text: str) -> Next:
        """Take over an input; the rules are checked after the last one."""
        return self._write(name, text)

    @rx.event
    def leave(self, name: str, text: str) -> Next:
        """Take over an input that the user has left, and show what is wrong with it."""
        following = self._write(name, text)
        self._judge(name)
        return following

    def _judge(self, name: str) -> None:
        """Show what is wrong with an input that is there, or nothing if it is valid."""
        errors = {field: words for field, words in self.errors.items() if field != name}
        said = self._missing().get(name, "") if self._given.get(name, "").strip() else ""
        self.errors = {**errors, name: said} if said else errors

    def _write(self, name: str, text: str) -> Next:
        if name not in FIELDS or self._given.get(name) == str(text)[:200]:
            return None
        self._given = {**self._given, name: str(text)[:200]}
        self.errors = {field: words for field, words in self.errors.items() if field != name}
        if name == "asset_id":
            self._pick_asset()
            self._judge("amount")  # another asset can have fewer decimals
        self.asset, self.chain = id_of(self._given.get("asset_id")), self._given.get("chain_eid", "")
        return NewTransfer.check

    @rx.event(supersedes=True)
    async def check(self) -> Events:
        """Check the rules, once every input is there."""
        if not self._is_complete():
            self._forget()
            return
        self.checking = True
        yield
        await self._check()
        self.checking = False

    def _pick_asset(self) -> None:
        """Offer the chains of the selected asset; the first is preselected."""
        asset = self._records.get(id_of(self._given["asset_id"]))
        self.symbol, self._decimals = (asset.symbol, asset.decimals) if asset else ("", 18)
        self.chains = chain_options(asset) if asset else []
        self._given["chain_eid"] = self.chains[0]["value"] if self.chains else ""

    def _inputs(self) -> dict[str, str]:
        return {name: self._given.get(name, "").strip() for name in FIELDS}

    def _is_complete(self) -> bool:
        """Return whether every input is there, and the asset and the wallet are known."""
        given = self._inputs()
        known = id_of(given["asset_id"]) in self._records and id_of(given["from_wallet_id"]) in self._addresses
        return known and number(given["chain_eid"]) > 0 and not self._missing()

    def _body(self) -> TransferCreate:
        """Return the request body of complete inputs. Raises ApiProblem as the API would."""
        given = self._inputs()
        return body(
            TransferCreate,
            {
                "asset_id": id_of(given["asset_id"]),
                "chain_eid": number(given["chain_eid"]),
                "from_wallet_id": id_of(given["from_wallet_id"]),
                "to_address": given["to_address"],
                "amount": to_positive(given["amount"], self._decimals),
            },
        )

    async def _check(self) -> None:
        """Check every rule; no tokens are moved."""
        try:
            transfer = self._body()
            check = TransferCheck(
                chain_eid=transfer.chain_eid,
                from_address=self._addresses[str(transfer.from_wallet_id)],
                to_address=transfer.to_address,
                amount=transfer.amount,
            )
            answer = await self._api.check_transfer(self._org_id(), transfer.asset_id, check)
        except ApiProblem as problem:
            self._forget()
            said = problem.errors[0]["detail"] if problem.errors else problem.detail or problem.title
            self.check_problem = said[:1].upper() + said[1:]
            return
        self._take(verdicts_of(answer.rules, self._terms()))
        self.allowed, self.agrees = answer.allowed, answer.chain_agrees

    def _terms(self) -> Terms:
        receiver = words(self._given.get("to_address") or "")
        return Terms(self._org_id(), id_of(self._given.get("asset_id")), self.symbol, self._decimals, receiver=receiver)

    def _take(self, verdicts: list[Verdict]) -> None:
        self.verdicts, self.failing = verdicts, sum(not verdict.passed for verdict in verdicts)
        self.answered, self.allowed, self.check_problem = True, not self.failing, ""

    def _forget(self) -> None:
        self.verdicts, self.answered, self.failing, self.check_problem, self.checking = [], False, 0, "", False

    @rx.event
    async def submit(self, data: dict[str, Any]) -> Events:
        """Send the transfer and follow it in the drawer."""
        self._begin()
        yield
        self._given = {**self._given, **{n: v[:200] for n, v in texts(data).items() if n in FIELDS}}
        self.errors = self._missing()
        if self.errors or not self._is_complete():
            self.saving = False
            return
        try:
            answer = await self._api.create_transfer(self._org_id(), self._body(), idempotency_key=self._form_key)
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at(*FIELDS)
            if problem.rules:
                self._take(refusals_of(problem, self._terms()))
                self.form_problem = "The rules refuse this transfer. Nothing was sent."
            return
        self._close()
        await (await self.get_state(TransfersState))._restart()
        yield [call(TransferState.show, str(answer.transferId)), Tracker.watch]

    def _missing(self) -> dict[str, str]:
        """Return the missing inputs, by field."""
        given = self._inputs()
        words = {
            "asset_id": "Choose an asset",
            "chain_eid": "Choose a chain",
            "from_wallet_id": "Choose a wallet",
            "to_address": "Choose the receiver, or enter an address",
        }
        errors = {name: text for name, text in words.items() if not given[name]}
        if given["to_address"] and len(given["to_address"]) != 42:
            errors["to_address"] = "An address is 0x and 40 hexadecimal digits"
        try:
            to_positive(given["amount"], self._decimals)
        except ValueError as error:
            errors["amount"] = str(error)
        return errors
