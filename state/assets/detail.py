"""One asset: its record, its tokens on each chain, and its request while one runs."""

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar

import reflex as rx

from backend.assets.schemas import Asset, AssetStatus, Deployment
from backend.client import ApiProblem
from state.assets.figures import AssetFigures
from state.chains.lookup import Chains
from state.compliance.rules import FRAMEWORKS, checked, of_asset, words
from state.core.address import Addressed, Param
from state.core.api import Loads
from state.core.arguments import id_of, one_of
from state.core.dates import stamp
from state.core.events import Events, Next
from state.core.session import initials
from state.requests.tracker import FINAL, Follows
from state.requests.views import RequestView, request_view, shown_status

UNKNOWN = "unknown"
TABS = (
    "overview", "compliance", "chains", "markets", "holders", "cap-table", "distributions", "controls", "check",
    "activity",
)  # fmt: skip
LIVE = (AssetStatus.DEPLOYING, AssetStatus.UPDATING, AssetStatus.FAILED)
"""Statuses in which the page shows the asset's request."""


@dataclass
class DeploymentView:
    """The asset's token on one chain; `supply` is empty if the chain did not respond."""

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
class AssetDetail:
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
    places: list[DeploymentView] = field(default_factory=list)
    rules: list[dict[str, str]] = field(default_factory=list)


def _tab(text: str) -> str:
    return one_of(text, TABS, UNKNOWN) if text else "overview"


class AssetState(Follows, Loads, Chains, Addressed, rx.State):
    """The page of an asset."""

    asset: AssetDetail = AssetDetail()
    tab: str = "overview"
    """The open tab; `UNKNOWN` if the address names none of them."""
    _in_url: ClassVar[dict[str, Param]] = {"tab": Param("tab", lambda _, text: _tab(text), "change")}
    started_on: str = ""
    """The tab on which the followed request was started; once it has ended, its progress is shown there only."""
    place: str = ""
    """The URL that the state was filled for: a state outlives the page."""
    visits: int = 0
    _record: Asset | None = None
    _version: str = ""

    @rx.event
    async def load(self) -> Events:
        """Read the asset; follow its request while it runs or after it failed."""
        self._read_url()
        if self.asset.id != self._in_path("asset_id"):
            self.asset, self._record, self.loading, self.request = AssetDetail(), None, True, RequestView()
        self.place, self.visits = self._here(), self.visits + 1
        self._put_away()
        yield
        await self._read()
        record = self._record
        if record and record.request_id and record.status in LIVE:
            follows = self._follow(str(record.request_id))
            with suppress(ApiProblem):  # the page appears with its request, so that nothing moves afterwards
                self.request = request_view(await self._api.get_request(self._org_id(), str(record.request_id)))
            yield follows

    @rx.event
    def go(self, tab: str) -> None:
        """Open a tab."""
        if tab in TABS:
            if tab != self.tab == self.started_on:
                self._put_away()
            self.tab = tab
            self.place = f"/o/{self._org_id()}/assets/{self._in_path('asset_id')}?tab={tab}"

    @rx.event
    async def reload(self) -> None:
        """Read the asset again."""
        await self._read()

    @rx.event
    async def watch(self, request_id: str) -> Next:
        """Follow a request of this asset."""
        return self._follow(id_of(request_id))

    def _follow(self, request_id: str) -> Any:
        self.started_on = self.tab
        return super()._follow(request_id)

    def _put_away(self) -> None:
        """Hide a request that has succeeded: its result was shown. Failed ones stay."""
        if self.request.status == "succeeded":
            self.request = RequestView()

    @rx.event
    def dismiss(self) -> None:
        """Hide a request that has ended."""
        if self.request.status in FINAL:
            self.request = RequestView()

    async def _followed(self) -> None:
        await self._read()
        if self.tab == "overview":
            await (await self.get_state(AssetFigures))._read()

    async def _read(self) -> None:
        try:
            if not self._chains:
                await self._read_chains()
            with self._api.response_headers() as headers:
                record = await self._api.get_asset(self._org_id(), self._in_path("asset_id"))
        except ApiProblem as problem:
            self._failed(problem)
            return
        self._loaded()
        chain = self._chains.get(record.deployments[0].chain_eid) if record.deployments else None
        currency = (chain.quote_symbol, chain.quote_decimals) if chain else ("", 6)
        await (await self.get_state(AssetFigures))._about(record, currency)
        self._record, self._version, self.asset = record, headers["etag"], self._detail(record)

    def _detail(self, asset: Asset) -> AssetDetail:
        rules = words(checked(of_asset(asset), asset.decimals), asset.symbol, asset.decimals)
        return AssetDetail(
            id=str(asset.id),
            name=asset.name,
            symbol=asset.symbol,
            mark=initials(asset.name),
            description=asset.description or "",
            decimals=asset.decimals,
            status=shown_status(asset),
            framework=FRAMEWORKS.get(asset.regulation_type, ""),
            supply=asset.total_supply,
            failure=asset.failure or "",
            is_paused=any(place.paused for place in asset.deployments),
            created_at=stamp(asset.created_at),
            updated_at=stamp(asset.updated_at),
            places=[self._place(place) for place in asset.deployments],
            rules=[{"name": name, "value": value} for name, value in rules.items()],
        )

    def _place(self, place: Deployment) -> DeploymentView:
        eid = place.chain_eid
        return DeploymentView(
            eid=eid,
            chain=place.chain_name or self._chain_name(eid),
            address=place.token_address or "",
            url=self._address_url(eid, place.token_address),
            status=place.status,
            tx_hash=place.tx_hash or "",
            tx_url=self._transaction_url(eid, place.tx_hash),
            supply=place.supply or "",
            paused=bool(place.paused),
        )
