"""The list of assets, and making a new one."""

from dataclasses import dataclass
from typing import Any

import reflex as rx

from backend.assets.schemas import AssetStatus
from backend.client import ApiProblem
from state.chain_list import Chains, options
from state.given import number, texts
from state.paging import Pages
from state.requests import Tracker
from state.rule_editor import FIELDS, RuleEditor
from state.rules import FRAMEWORKS, Rules, Unfit, asset_body, checked
from state.units import to_base


@dataclass
class AssetRow:
    """A row of the list."""

    id: str
    name: str
    symbol: str
    status: str
    framework: str
    supply: str
    decimals: int
    chains: str
    created_at: str


class AssetsState(Pages, rx.State):
    """The list, by keyset pages."""

    rows: list[AssetRow] = []
    status: str = ""

    async def _fetch(self, cursor: str) -> str | None:
        page = await self._api("GET", "/orgs/{org}/assets", params={"status": self.status, "cursor": cursor})
        self.rows = [_row(asset) for asset in page["assets"]]
        return page["nextCursor"]

    @rx.event
    async def load(self):
        """Read the first page."""
        await self._restart()

    @rx.event(supersedes=True)
    async def filter(self, status: str):
        """Show one status, or all."""
        self.status = str(status) if str(status) in set(AssetStatus) else ""
        await self._restart()


def _row(asset: dict[str, Any]) -> AssetRow:
    names = [place.get("chain_name") or str(place["chain_eid"]) for place in asset["deployments"]]
    return AssetRow(
        id=asset["id"],
        name=asset["name"],
        symbol=asset["symbol"],
        status=asset["status"],
        framework=FRAMEWORKS.get(asset["regulation_type"], ""),
        supply=asset["total_supply"],
        decimals=asset["decimals"],
        chains=", ".join(names),
        created_at=asset["created_at"],
    )


class NewAsset(RuleEditor, Chains, rx.State):
    """The page that makes an asset."""

    chains: list[dict[str, str]] = []
    ready: bool = False

    @rx.event
    async def load(self):
        """Start with an empty form, the chains that are enabled, and the frameworks."""
        self._done()
        self._fill(Rules(level=1))
        try:
            await self._read_frameworks()
            self.chains = options(await self._read_chains())
        except ApiProblem as problem:
            self._refused(problem)
        self.ready = True

    @rx.event
    async def submit(self, data: dict[str, Any]):
        """Create the asset and go to it."""
        given = texts(data)
        self._take(given)
        self._begin()
        yield
        try:
            answer = await self._api("POST", "/orgs/{org}/assets", json=self._body(given), key=self._form_key)
        except Unfit as unfit:
            self.saving, self.errors = False, unfit.errors
            return
        except ApiProblem as problem:
            self._refused(problem)
            self._keep_at("name", "symbol", "description", "chain_eid", "decimals", "initial_supply", *FIELDS)
            return
        self._done()
        await self._accepted(f"Deploying {given.get('symbol', '')[:11]}", answer["requestId"])
        yield [rx.redirect(f"/o/{self.org_id}/assets/{answer['assetId']}"), Tracker.watch]

    def _body(self, data: dict[str, str]) -> dict[str, Any]:
        """The request, from the form's texts and the draft. Raises Unfit."""
        errors: dict[str, str] = {}
        supply, chain = "0", number(data.get("chain_eid"))
        decimals = 6 if data.get("decimals") == "6" else 18
        try:
            supply = to_base(data.get("initial_supply") or "0", decimals)
        except ValueError as error:
            errors["initial_supply"] = str(error)
        if not chain:
            errors["chain_eid"] = "Choose a chain"
        try:
            rules = checked(self.draft, decimals)
        except Unfit as unfit:
            raise Unfit(errors | unfit.errors) from unfit
        if errors:
            raise Unfit(errors)
        return asset_body(rules) | {
            "name": data.get("name", ""),
            "symbol": data.get("symbol", "").strip().upper(),
            "chain_eid": chain,
            "decimals": decimals,
            "initial_supply": supply,
            "description": data.get("description", "").strip() or None,
        }
