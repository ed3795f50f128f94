"""One market: its record, and its deployment as it goes."""

from dataclasses import dataclass, field
from typing import Any

import reflex as rx

from backend.client import ApiProblem
from state.api import Loads
from state.chain_list import Chains
from state.given import id_of
from state.markets import pair
from state.requests import Follows, Request, Tracker
from state.rules import Checked, words
from state.units import percent


@dataclass
class MarketView:
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
    framework: str = ""
    failure: str = ""
    halt_reason: str = ""
    bridge_id: str = ""
    created_at: str = ""
    rules: list[dict[str, str]] = field(default_factory=list)


class MarketState(Follows, Loads, Chains, rx.State):
    """The page of a market: its deployment live, then its trading."""

    market: MarketView = MarketView()
    tab: str = "trade"
    path: str = ""
    """The market's path in the API; other states of this page build theirs on it."""

    @rx.event
    async def load(self):
        """Read the market; while it deploys, and where it failed, show how far it is."""
        if self.market.id != self.market_id:
            self.market, self.loading, self.request, self.path = MarketView(), True, Request(), ""
            yield
        record = await self._read()
        if record is None:
            return
        live = self.market.status not in ("active", "halted")
        self.tab = "deployment" if live or self._query("tab") == "deployment" else "trade"
        if record["request_id"]:
            yield self._follow(record["request_id"])

    @rx.event
    async def go(self, tab: str):
        """Show trading or the deployment."""
        self.tab = "deployment" if tab == "deployment" else "trade"

    @rx.event
    async def reload(self):
        """Read the market again."""
        await self._read()

    @rx.event
    async def retry(self):
        """Try the failed deployment again, and go on following it."""
        return [Tracker.retry(self.request.id), type(self).follow]

    async def _followed(self) -> None:
        await self._read()

    async def _read(self) -> dict[str, Any] | None:
        try:
            if not self._chains:
                await self._read_chains()
            record = await self._api("GET", self.path) if self.path else await self._locate()
        except ApiProblem as problem:
            self._failed(problem)
            return None
        self._loaded()
        self.market, self.path = self._view(record), f"/orgs/{{org}}/assets/{record['asset_id']}/markets/{record['id']}"
        return record

    async def _locate(self) -> dict[str, Any]:
        """The market of the URL. Its asset is part of the API's path but not of ours, so lists tell which it is."""
        if asset := id_of(self._query("asset")):
            return dict(await self._api("GET", f"/orgs/{{org}}/assets/{asset}/markets/{self.market_id}"))
        cursor: str | None = ""
        while cursor is not None:
            page = await self._api("GET", "/orgs/{org}/markets", params={"limit": 100, "cursor": cursor})
            if found := next((m for m in page["markets"] if m["id"] == self.market_id), None):
                return dict(found)
            cursor = page["nextCursor"]
        raise ApiProblem({"status": 404, "title": "Not Found", "detail": "There is no such market here."})

    def _view(self, market: dict[str, Any]) -> MarketView:
        eid, decimals, symbol = market["chain_eid"], market["asset_decimals"] or 18, market["asset_symbol"] or ""
        said = words(_rules(market), symbol, decimals)
        shown = [name for name in said if name not in ("Organization only", "Trusted issuers")]
        return MarketView(
            id=market["id"],
            asset_id=market["asset_id"],
            asset=market["asset_name"] or "",
            symbol=symbol,
            decimals=decimals,
            pair=pair(market),
            chain=market["chain_name"] or self._chain_name(eid),
            chain_eid=eid,
            status=market["status"],
            address=market["market_address"] or "",
            address_url=self._address_url(eid, market["market_address"]),
            token=market["rwa_token_address"] or "",
            token_url=self._address_url(eid, market["rwa_token_address"]),
            factory=market["market_factory_address"],
            factory_url=self._address_url(eid, market["market_factory_address"]),
            quote=market["quote_symbol"] or "",
            quote_decimals=6 if market["quote_decimals"] is None else market["quote_decimals"],
            taker=percent(market["taker_fee_bps"]),
            maker=percent(market["maker_fee_bps"]),
            framework=said["Framework"],
            failure=market["failure"] or "",
            halt_reason=market["halt_reason"] or "",
            bridge_id=market["bridge_id"] or "",
            created_at=market["created_at"],
            rules=[{"name": name, "value": said[name]} for name in shown],
        )


def _rules(market: dict[str, Any]) -> Checked:
    return Checked(
        framework=market["regulation_type"],
        level=market["min_kyc_level"],
        accredited=market["requires_accreditation"],
        org_only=False,
        countries=market["blocked_countries"],
        lockup=market["lockup_end_time"],
        max_holders=market["max_holders"],
        max_tokens=market["max_tokens_per_holder"],
        issuers=[],
    )
