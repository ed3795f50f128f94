"""Markets in lists: of the organization, and of one asset."""

from dataclasses import dataclass
from typing import Any

import reflex as rx

from backend.client import ApiProblem
from backend.markets.schemas import MarketStatus
from state.api import Loads
from state.paging import Pages
from state.rules import FRAMEWORKS
from state.units import percent


@dataclass
class MarketRow:
    """A row of the list."""

    id: str
    asset_id: str
    pair: str
    asset: str
    chain: str
    status: str
    framework: str
    fees: str
    why: str
    created_at: str


class MarketsState(Pages, rx.State):
    """The organization's markets, by keyset pages."""

    rows: list[MarketRow] = []
    status: str = ""

    async def _fetch(self, cursor: str) -> str | None:
        page = await self._api("GET", "/orgs/{org}/markets", params={"status": self.status, "cursor": cursor})
        self.rows = [market_row(market) for market in page["markets"]]
        return page["nextCursor"]

    @rx.event
    async def load(self):
        """Read the first page."""
        await self._restart()

    @rx.event(supersedes=True)
    async def filter(self, status: str):
        """Show one status, or all."""
        self.status = str(status) if str(status) in set(MarketStatus) else ""
        await self._restart()


class AssetMarkets(Loads, rx.State):
    """The markets of the asset in view; one on each chain at the most, so one page holds them."""

    rows: list[MarketRow] = []

    @rx.event
    async def load(self):
        """Read them."""
        try:
            page = await self._api("GET", f"/orgs/{{org}}/assets/{self.asset_id}/markets", params={"limit": 100})
        except ApiProblem as problem:
            self._failed(problem)
            return
        self.rows = [market_row(market) for market in page["markets"]]
        self._loaded()


def market_row(market: dict[str, Any]) -> MarketRow:
    """Read the API's market."""
    return MarketRow(
        id=market["id"],
        asset_id=market["asset_id"],
        pair=pair(market),
        asset=market["asset_name"] or "",
        chain=market["chain_name"] or f"Chain {market['chain_eid']}",
        status=market["status"],
        framework=FRAMEWORKS.get(market["regulation_type"], ""),
        fees=f"taker {percent(market['taker_fee_bps'])}, maker {percent(market['maker_fee_bps'])}",
        why=market["failure"] or market["halt_reason"] or "",
        created_at=market["created_at"],
    )


def pair(market: dict[str, Any]) -> str:
    """`NREF / USDC`."""
    return " / ".join(filter(None, [market["asset_symbol"], market["quote_symbol"]])) or "Market"
