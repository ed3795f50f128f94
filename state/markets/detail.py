"""One market: its record, and the progress of its deployment."""

from dataclasses import dataclass, field
from typing import ClassVar

import reflex as rx

from backend.client import ApiProblem
from backend.markets.schemas import Market
from state.chains.lookup import Chains
from state.compliance.rules import Checked, checked, of_asset, words
from state.core.address import Addressed, Param, choice
from state.core.api import Loads
from state.core.arguments import id_of
from state.core.dates import stamp
from state.core.events import Events
from state.core.units import brief, percent
from state.markets.list import pair
from state.markets.stricter_rules import stricter_words
from state.requests.tracker import Follows
from state.requests.views import RequestView, shown_status

ROWS = 10
"""Orders and trades per page: a market's page has both lists below its charts."""


@dataclass
class MarketDetail:
    """A market as its page shows it."""

    id: str = ""
    asset_id: str = ""
    asset: str = ""
    symbol: str = ""
    decimals: int = 18
    pair: str = ""
    chain: str = ""
    chain_eid: int = 0
    status: str = ""
    address: str = ""
    address_url: str = ""
    token: str = ""
    token_url: str = ""
    factory: str = ""
    factory_url: str = ""
    quote: str = ""
    quote_decimals: int = 6
    taker: str = ""
    maker: str = ""
    fee_bps: int = 0
    """The higher of the two fees."""
    framework: str = ""
    failure: str = ""
    halt_reason: str = ""
    bridge_id: str = ""
    created_at: str = ""
    last_price: str = ""
    volume: str = "0"
    rules: list[dict[str, str]] = field(default_factory=list)
    stricter: str = ""
    """The rules that refuse more than the asset's, as text."""


class MarketState(Follows, Loads, Chains, Addressed, rx.State):
    """The page of a market: its deployment live, then its trading."""

    market: MarketDetail = MarketDetail()
    tab: str = "trade"
    _in_url: ClassVar[dict[str, Param]] = {"tab": choice("tab", ("trade", "deployment"), "trade", "change")}

    @rx.event
    async def load(self) -> Events:
        """Read the market; while it deploys or after it failed, show its progress."""
        self._read_url()
        if self.market.id != self._in_path("market_id"):
            self.market, self.loading, self.request = MarketDetail(), True, RequestView()
            yield
        record = await self._read()
        if record is None:
            return
        live = self.market.status not in ("active", "halted")
        self.tab = "deployment" if live else self.tab
        if record.request_id:
            yield self._follow(str(record.request_id))

    @rx.event
    async def go(self, tab: str) -> None:
        """Show trading or the deployment."""
        self.tab = "deployment" if tab == "deployment" else "trade"

    @rx.event
    async def reload(self) -> None:
        """Read the market again."""
        await self._read()

    async def _followed(self) -> None:
        await self._read()

    async def _read(self) -> Market | None:
        try:
            if not self._chains:
                await self._read_chains()
            record = await self._locate()
            asset = await self._asset_rules(record) if record.stricter_rules else {}
        except ApiProblem as problem:
            self._failed(problem)
            return None
        self._loaded()
        self.market = self._view(record, asset)
        return record

    async def _asset_rules(self, market: Market) -> dict[str, str]:
        """Return the rules of the market's asset as text, by displayed name."""
        asset = await self._api.get_asset(self._org_id(), str(market.asset_id))
        return words(checked(of_asset(asset), asset.decimals), asset.symbol, asset.decimals)

    async def _locate(self) -> Market:
        """Find the market in the URL. The API's path includes its asset and the URL does not, so lists provide it."""
        wanted = self._in_path("market_id")
        if asset := self.market.asset_id or id_of(self._query("asset")):
            return await self._api.get_market(self._org_id(), asset, wanted)
        async for market in self._api.list_organization_markets(self._org_id(), limit=100):
            if str(market.id) == wanted:
                return market
        raise ApiProblem({"status": 404, "title": "Not Found", "detail": "This market does not exist here."})

    def _view(self, market: Market, asset: dict[str, str]) -> MarketDetail:
        eid, decimals, symbol = market.chain_eid, market.asset_decimals or 18, market.asset_symbol or ""
        said = words(_rules(market), symbol, decimals)
        shown = [name for name in said if name not in ("Organization only", "Trusted issuers")]
        return MarketDetail(
            id=str(market.id),
            asset_id=str(market.asset_id),
            asset=market.asset_name or "",
            symbol=symbol,
            decimals=decimals,
            pair=pair(market),
            chain=market.chain_name or self._chain_name(eid),
            chain_eid=eid,
            status=shown_status(market),
            address=market.market_address or "",
            address_url=self._address_url(eid, market.market_address),
            token=market.rwa_token_address or "",
            token_url=self._address_url(eid, market.rwa_token_address),
            factory=market.market_factory_address,
            factory_url=self._address_url(eid, market.market_factory_address),
            quote=market.quote_symbol or "",
            quote_decimals=6 if market.quote_decimals is None else market.quote_decimals,
            taker=percent(market.taker_fee_bps),
            maker=percent(market.maker_fee_bps),
            fee_bps=max(market.taker_fee_bps, market.maker_fee_bps),
            framework=said["Framework"],
            failure=brief(market.failure or ""),
            halt_reason=market.halt_reason or "",
            bridge_id=str(market.bridge_id or ""),
            created_at=stamp(market.created_at),
            last_price=market.last_price or "",
            volume=market.volume,
            rules=[{"name": name, "value": said[name]} for name in shown],
            stricter=stricter_words(market.stricter_rules, said, asset),
        )


def _rules(market: Market) -> Checked:
    return Checked(
        framework=market.regulation_type,
        level=market.min_kyc_level,
        accredited=market.requires_accreditation,
        org_only=False,
        countries=market.blocked_countries,
        lockup=market.lockup_end_time,
        max_holders=market.max_holders,
        max_tokens=market.max_tokens_per_holder,
        issuers=[],
    )
