"""A new transfer: while it is written, every rule is asked whether it can happen."""

from typing import Any

import reflex as rx

from backend.client import ApiProblem
from state.api import Form
from state.chain_list import Chains
from state.given import id_of, number, texts
from state.requests import Tracker
from state.transfers import TransfersState, TransferState
from state.units import to_base
from state.verdicts import Terms, Verdict, verdicts_of

FIELDS = ("asset_id", "chain_eid", "from_wallet_id", "to_address", "amount")


class NewTransfer(Form, Chains, rx.State):
    """The dialog: what is written so far, and what the rules say to it."""

    is_open: bool = False
    assets: list[dict[str, str]] = []
    chains: list[dict[str, str]] = []
    wallets: list[dict[str, str]] = []
    receivers: list[dict[str, str]] = []
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
    _records: dict[str, dict[str, Any]] = {}
    _addresses: dict[str, str] = {}

    @rx.event
    def enter(self):
        """A page begins with the dialog closed."""
        self._done()
        self.is_open = False

    @rx.event
    async def show(self, is_open: bool):
        """Open it with the assets and wallets there are, or close it."""
        self._done()
        self.is_open, self._given, self.chains, self.chain, self.symbol = bool(is_open), {}, [], "", ""
        self._forget()
        if not is_open:
            return
        yield
        try:
            assets, wallets = await self._api_all("/orgs/{org}/assets?limit=100", "/orgs/{org}/wallets?limit=100")
        except ApiProblem as problem:
            self._refused(problem)
            return
        self._records = {asset["id"]: asset for asset in assets["assets"] if _places(asset)}
        self.assets = [{"value": a["id"], "label": f"{a['symbol']}, {a['name']}"} for a in self._records.values()]
        ours = [wallet for wallet in wallets["wallets"] if wallet["kind"] == "server"]
        self._addresses = {wallet["id"]: wallet["address"] for wallet in ours}
        self.wallets = [{"value": w["id"], "label": f"{w['label']}, {_short(w['address'])}"} for w in ours]
        self.receivers = [{"value": w["address"], "label": w["label"]} for w in wallets["wallets"]]
        await self._read_parties()

    async def _read_parties(self) -> None:
        """Offer attested people as receivers to whoever may see them."""
        try:
            page = await self._api("GET", "/identity/parties", params={"organization_id": self._org_id(), "limit": 100})
        except ApiProblem as problem:
            await self._lacks("Attested people", problem)
            return
        known = {one["value"] for one in self.receivers}
        people = [p for p in page["parties"] if p["wallet_address"] and p["wallet_address"] not in known]
        self.receivers = [*self.receivers, *({"value": p["wallet_address"], "label": p["name"]} for p in people)]

    @rx.event
    def write(self, name: str, text: str):
        """Take over what is written; the rules are asked about the last of it."""
        if name not in FIELDS or self._given.get(name) == str(text)[:200]:
            return None
        self._given = {**self._given, name: str(text)[:200]}
        self.errors = {field: words for field, words in self.errors.items() if field != name}
        if name == "asset_id":
            self._pick_asset()
        self.chain = self._given.get("chain_eid", "")
        return NewTransfer.check

    @rx.event(supersedes=True)
    async def check(self):
        """Ask the rules, once everything is there."""
        if self._body() is None:
            self._forget()
            return
        self.checking = True
        yield
        await self._check()
        self.checking = False

    def _pick_asset(self) -> None:
        """The chains of the chosen asset; the first one is chosen until another is."""
        asset = self._records.get(id_of(self._given["asset_id"]), {})
        self.symbol, self._decimals = asset.get("symbol", ""), asset.get("decimals", 18)
        self.chains = [{"value": str(p["chain_eid"]), "label": p["chain_name"] or ""} for p in _places(asset)]
        self._given["chain_eid"] = self.chains[0]["value"] if self.chains else ""

    def _body(self) -> dict[str, Any] | None:
        """The transfer that is written, None while something is missing."""
        given = {name: self._given.get(name, "").strip() for name in FIELDS}
        try:
            amount = to_base(given["amount"], self._decimals)
        except ValueError:
            return None
        body = {
            "asset_id": id_of(given["asset_id"]),
            "chain_eid": number(given["chain_eid"]),
            "from_wallet_id": id_of(given["from_wallet_id"]),
            "to_address": given["to_address"],
            "amount": amount,
        }
        known = body["asset_id"] in self._records and body["from_wallet_id"] in self._addresses
        return body if known and body["chain_eid"] and len(given["to_address"]) == 42 else None

    async def _check(self) -> None:
        """Ask every rule; nothing is moved."""
        body = self._body()
        if body is None:
            return
        asked = {
            "chain_eid": body["chain_eid"],
            "from_address": self._addresses[body["from_wallet_id"]],
            "to_address": body["to_address"],
            "amount": body["amount"],
        }
        try:
            answer = await self._api("POST", f"/orgs/{{org}}/assets/{body['asset_id']}/transfer-check", json=asked)
        except ApiProblem as problem:
            self._forget()
            self.check_problem = problem.errors[0]["detail"] if problem.errors else problem.detail or problem.title
            return
        self._take(answer["rules"], body["asset_id"])
        self.allowed, self.agrees = answer["allowed"], answer["chain_agrees"]

    def _take(self, rules: list[dict[str, Any]], asset_id: str) -> None:
        self.verdicts = verdicts_of(rules, Terms(self._org_id(), asset_id, self.symbol, self._decimals))
        self.failing = sum(not verdict.passed for verdict in self.verdicts)
        self.answered, self.allowed, self.check_problem = True, not self.failing, ""

    def _forget(self) -> None:
        self.verdicts, self.answered, self.failing, self.check_problem, self.checking = [], False, 0, "", False

    @rx.event
    async def submit(self, data: dict[str, Any]):
        """Send it, and follow it in the drawer."""
        self._begin()
        yield
        self._given = {**self._given, **{n: v[:200] for n, v in texts(data).items() if n in FIELDS}}
        self.errors = self._missing()
        body = self._body()
        if self.errors or body is None:
            self.saving = False
            return
        try:
            answer = await self._api("POST", "/orgs/{org}/transfers", json=body, key=self._form_key)
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at(*FIELDS)
            if problem.rules:
                self._take(problem.rules, body["asset_id"])
                self.form_problem = "The rules refuse this transfer. Nothing was sent."
            return
        self._done()
        self.is_open = False
        await (await self.get_state(TransfersState))._restart()
        yield [TransferState.show(answer["transferId"]), Tracker.watch]

    def _missing(self) -> dict[str, str]:
        """What is not there yet, by field."""
        given = {name: self._given.get(name, "").strip() for name in FIELDS}
        words = {
            "asset_id": "Choose an asset",
            "chain_eid": "Choose a chain",
            "from_wallet_id": "Choose a wallet",
            "to_address": "Write the receiver's address",
        }
        errors = {name: said for name, said in words.items() if not given[name]}
        if given["to_address"] and len(given["to_address"]) != 42:
            errors["to_address"] = "An address has 0x and 40 hexadecimal digits"
        try:
            to_base(given["amount"], self._decimals)
        except ValueError as error:
            errors["amount"] = str(error)
        return errors


def _places(asset: dict[str, Any]) -> list[dict[str, Any]]:
    """Where an asset's token is in force."""
    return [place for place in asset.get("deployments", []) if place["status"] == "active"]


def _short(address: str) -> str:
    return f"{address[:6]}…{address[-4:]}"
