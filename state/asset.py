"""One asset: its record, its tokens on each chain, and its request while one runs."""

from dataclasses import dataclass, field
from typing import Any

import reflex as rx

from backend.client import ApiProblem
from state.api import Loads
from state.arriving import Arrives
from state.chain_list import Chains
from state.given import id_of
from state.paging import Pages
from state.requests import FINAL, Follows, Request, Tracker, request_of
from state.rules import FRAMEWORKS, checked, of_asset, words
from state.session import initials

TABS = ("overview", "compliance", "markets", "holders", "controls", "check", "activity")


@dataclass
class Place:
    """The asset's token on one chain; `supply` is empty where the chain did not answer."""

    eid: int
    chain: str
    address: str
    url: str
    status: str
    tx_hash: str
    tx_url: str
    supply: str
    paused: bool


@dataclass
class AssetView:
    """An asset as its page shows it."""

    id: str = ""
    name: str = ""
    symbol: str = ""
    mark: str = ""
    description: str = ""
    decimals: int = 18
    status: str = ""
    framework: str = ""
    supply: str = "0"
    failure: str = ""
    is_paused: bool = False
    created_at: str = ""
    updated_at: str = ""
    places: list[Place] = field(default_factory=list)
    rules: list[dict[str, str]] = field(default_factory=list)


class AssetState(Arrives, Follows, Loads, Chains, rx.State):
    """The page of an asset."""

    asset: AssetView = AssetView()
    tab: str = "overview"
    _record: dict[str, Any] = {}

    @rx.event
    async def load(self):
        """Read the asset, and follow its request while it runs or where it failed."""
        wanted = self._query("tab")
        self.tab = wanted if wanted in TABS else "overview"
        if self.asset.id != self.asset_id:
            self.asset, self.loading, self.request = AssetView(), True, Request()
        self._arrive()
        yield
        await self._read()
        if self._record.get("request_id") and self.asset.status in ("deploying", "updating", "failed"):
            yield self._follow(self._record["request_id"])

    @rx.event
    async def go(self, tab: str):
        """Open a tab; the URL remembers it."""
        if tab in TABS:
            self.tab = tab
            self._moved(f"/o/{self.org_id}/assets/{self.asset_id}?tab={tab}")
            yield rx.redirect(self.place, replace=True)

    @rx.event
    async def reload(self):
        """Read the asset again."""
        await self._read()

    @rx.event
    async def watch(self, request_id: str):
        """Follow a request of this asset."""
        return self._follow(id_of(request_id))

    @rx.event
    async def retry(self):
        """Try the failed request again, and go on following it."""
        return [Tracker.retry(self.request.id), type(self).follow]

    @rx.event
    def put_away(self):
        """Stop showing a request that has ended."""
        if self.request.status in FINAL:
            self.request = Request()

    async def _followed(self) -> None:
        await self._read()

    async def _read(self) -> None:
        try:
            if not self._chains:
                await self._read_chains()
            self._record = await self._api("GET", f"/orgs/{{org}}/assets/{self.asset_id}")
        except ApiProblem as problem:
            self._failed(problem)
            return
        self._loaded()
        self.asset = self._view(self._record)

    def _view(self, asset: dict[str, Any]) -> AssetView:
        rules = words(checked(of_asset(asset), asset["decimals"]), asset["symbol"], asset["decimals"])
        return AssetView(
            id=asset["id"],
            name=asset["name"],
            symbol=asset["symbol"],
            mark=initials(asset["name"]),
            description=asset["description"] or "",
            decimals=asset["decimals"],
            status=asset["status"],
            framework=FRAMEWORKS.get(asset["regulation_type"], ""),
            supply=asset["total_supply"],
            failure=asset["failure"] or "",
            is_paused=any(place.get("paused") for place in asset["deployments"]),
            created_at=asset["created_at"],
            updated_at=asset["updated_at"],
            places=[self._place(place) for place in asset["deployments"]],
            rules=[{"name": name, "value": value} for name, value in rules.items()],
        )

    def _place(self, place: dict[str, Any]) -> Place:
        eid = place["chain_eid"]
        return Place(
            eid=eid,
            chain=place.get("chain_name") or self._chain_name(eid),
            address=place["token_address"] or "",
            url=self._address_url(eid, place["token_address"]),
            status=place["status"],
            tx_hash=place["tx_hash"] or "",
            tx_url=self._transaction_url(eid, place["tx_hash"]),
            supply=place.get("supply") or "",
            paused=bool(place.get("paused")),
        )


@dataclass
class HolderRow:
    """Who holds how much on which chain."""

    id: str
    address: str
    name: str
    chain: str
    balance: str
    frozen: str
    share: str
    is_treasury: bool


class HoldersState(Pages, Chains, rx.State):
    """The cap table of the asset in view."""

    rows: list[HolderRow] = []

    async def _fetch(self, cursor: str) -> str | None:
        asset = (await self.get_state(AssetState)).asset
        if not self._chains:
            await self._read_chains()
        page = await self._api("GET", f"/orgs/{{org}}/assets/{self.asset_id}/holders", params={"cursor": cursor})
        self.rows = [self._row(holder, int(asset.supply or 0)) for holder in page["holders"]]
        return page["nextCursor"]

    def _row(self, holder: dict[str, Any], supply: int) -> HolderRow:
        hundredths = int(holder["balance"]) * 10_000 // supply if supply else 0
        return HolderRow(
            id=f"{holder['chain_eid']}:{holder['address']}",
            address=holder["address"],
            name="Treasury" if holder["is_treasury"] else holder["party_name"] or "",
            chain=self._chain_name(holder["chain_eid"]),
            balance=holder["balance"],
            frozen="" if holder["frozen"] is None else str(min(int(holder["frozen"]), int(holder["balance"]))),
            share=f"{hundredths // 100}.{hundredths % 100:02d}%",
            is_treasury=holder["is_treasury"],
        )

    @rx.event
    async def load(self):
        """Read the first page."""
        await self._restart()


class ActivityState(Pages, rx.State):
    """The requests of the asset in view."""

    rows: list[Request] = []

    async def _fetch(self, cursor: str) -> str | None:
        page = await self._api("GET", "/orgs/{org}/requests", params={"subject": self.asset_id, "cursor": cursor})
        self.rows = [request_of(row) for row in page["requests"]]
        return page["nextCursor"]

    @rx.event
    async def load(self):
        """Read the first page."""
        await self._restart()
