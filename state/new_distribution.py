"""A new distribution: what it is of, who gets it, what that comes to."""

from typing import Any
from urllib.parse import urlencode

import reflex as rx

from backend.client import ApiProblem
from state.api import Form
from state.chain_list import Chains
from state.given import id_of, named, number, one_of
from state.units import to_base

SOURCES = ("list", "holders")
UNITS = ("whole", "base")


class NewDistribution(Form, Chains, rx.State):
    """The page that draws one up. A list goes from the browser to the API by itself; its sum is told here."""

    ready: bool = False
    assets: list[dict[str, str]] = []
    chains: list[dict[str, str]] = []
    name: str = ""
    asset: str = ""
    chain: str = ""
    unit: str = "whole"
    symbol: str = ""
    decimals: int = 18
    source: str = "list"
    recipients: str = ""
    """Of what was checked last; empty before."""
    total: str = "0"
    root: str = ""
    _records: dict[str, dict[str, Any]] = {}
    _holders: dict[str, Any] = {}

    @rx.var
    def action(self) -> str:
        """Where the browser sends a list; empty while something is missing."""
        if not (self.name.strip() and self.asset and self.chain):
            return ""
        query = urlencode({"name": self.name.strip(), "chain_eid": self.chain, "amounts": self.unit})
        return f"/v1/orgs/{self._org_id()}/assets/{self.asset}/distributions?{query}"

    @rx.event
    async def load(self):
        """Begin anew, with the assets that can be distributed."""
        self.reset()
        yield
        try:
            page = await self._api("GET", "/orgs/{org}/assets", params={"limit": 100})
        except ApiProblem as problem:
            self.form_problem, self.ready = problem.detail or problem.title, True
            return
        self._records = {asset["id"]: asset for asset in page["assets"] if _places(asset)}
        self.assets = [{"value": a["id"], "label": f"{a['symbol']}, {a['name']}"} for a in self._records.values()]
        self._pick(id_of(self._query("asset")))
        self.ready = True

    @rx.event
    def write(self, name: str, text: str):
        """Take over what is written; what was checked before is of something else then."""
        given = str(text)[:120]
        now = {"name": self.name, "asset_id": self.asset, "chain_eid": self.chain, "amounts": self.unit}
        # A field tells of itself when it changes and once more when it is left.
        if now.get(name) in (None, given):
            return
        self.errors = {field: words for field, words in self.errors.items() if field != name}
        self._forget()
        if name == "name":
            self.name = given
        elif name == "asset_id":
            self._pick(id_of(given))
        elif name == "chain_eid":
            self.chain = one_of(given, [place["value"] for place in self.chains])
        else:
            self.unit = one_of(given, UNITS, "whole")

    @rx.event
    def choose(self, source: str):
        """Take a list, or the holders."""
        self.source = one_of(source, SOURCES, "list")
        self._forget()

    @rx.event
    def checked(self, recipients: str, total: str, root: str):
        """Show what the API has told the browser about its list."""
        if str(recipients).isdecimal() and str(total).isdecimal() and len(str(total)) < 80:
            self.recipients, self.total, self.root = str(recipients)[:12], str(total), str(root)[:66]

    @rx.event
    def made(self, id: str):
        """Go to the draft that the browser has made."""
        if known := id_of(id):
            return rx.redirect(f"/o/{self._org_id()}/distributions/{known}?asset={self.asset}")
        return None

    @rx.event
    async def check(self, data: dict[str, Any]):
        """Ask who held it at a block, and what each would get."""
        self._begin()
        self._forget()
        yield
        body = self._body(named(data, "total_amount", "block"))
        if body is None:
            self.saving = False
            return
        try:
            plan = await self._api("POST", f"/orgs/{{org}}/assets/{self.asset}/distributions?dry_run=true", json=body)
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("total_amount", "block")
            return
        self._done()
        impact = plan["impact"]
        self._holders = body
        self.recipients, self.total = impact["total_recipients"], impact["total_amount"]
        self.root = impact["merkle_root"]

    @rx.event
    async def create(self):
        """Keep the holders that were checked as a draft, and go there."""
        if not self._holders or not self.asset:
            return
        self._begin()
        yield
        path = f"/orgs/{{org}}/assets/{self.asset}/distributions"
        try:
            record = await self._api("POST", path, json=self._holders, key=self._form_key)
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at()
            return
        self._done()
        yield rx.redirect(f"/o/{self._org_id()}/distributions/{record['id']}?asset={self.asset}")

    def _body(self, given: dict[str, str]) -> dict[str, Any] | None:
        """The request for the holders; None, with the errors set, while something is missing."""
        self.errors = {} if self.name.strip() else {"name": "Give it a name"}
        if not self.asset or not self.chain:
            self.errors["asset_id"] = "Choose an asset"
        try:
            total = to_base(given["total_amount"], self.decimals)
        except ValueError as error:
            self.errors["total_amount"] = str(error)
            return None
        block = given["block"].replace(",", "")
        if block and not block.isdecimal():
            self.errors["block"] = "A block's number, or empty for now"
        if self.errors:
            return None
        holders: dict[str, Any] = {"total_amount": total} | ({"block": number(block)} if block else {})
        return {"name": self.name.strip(), "chain_eid": int(self.chain), "holders": holders}

    def _pick(self, asset_id: str) -> None:
        """Take an asset, the first one unless it is known, with the chains it is on."""
        asset = self._records.get(asset_id) or next(iter(self._records.values()), None)
        if asset is None:
            return
        self.asset, self.symbol, self.decimals = asset["id"], asset["symbol"], asset["decimals"]
        self.chains = [{"value": str(p["chain_eid"]), "label": p["chain_name"] or ""} for p in _places(asset)]
        self.chain = self.chains[0]["value"]

    def _forget(self) -> None:
        self.recipients, self.total, self.root, self._holders = "", "0", "", {}


def _places(asset: dict[str, Any]) -> list[dict[str, Any]]:
    """Where an asset's token is in force."""
    return [place for place in asset.get("deployments", []) if place["status"] == "active"]
