"""Distributions in the list."""

from dataclasses import dataclass
from typing import Any

import reflex as rx

from backend.distributions.schemas import DistributionStatus
from state.asset_choice import AssetChoice
from state.given import id_of, one_of
from state.paging import Pages


@dataclass
class DistributionRow:
    """A distribution; amounts in base units, `claimed_percent` of the sum."""

    id: str = ""
    name: str = ""
    asset_id: str = ""
    symbol: str = ""
    decimals: int = 18
    chain: str = ""
    chain_eid: int = 0
    status: str = ""
    total: str = "0"
    claimed: str = "0"
    claimed_percent: int = 0
    claimed_recipients: int = 0
    recipients: int = 0
    root: str = ""
    has_recipients: bool = False
    distributor: str = ""
    failure: str = ""
    request_id: str = ""
    created_at: str = ""


class DistributionsState(AssetChoice, Pages, rx.State):
    """Those of all the organization's assets, by the API's pages."""

    rows: list[DistributionRow] = []
    status: str = ""
    asset: str = ""

    async def _fetch(self, cursor: str) -> str | None:
        wanted = {"status": self.status, "assetId": self.asset, "cursor": cursor}
        page = await self._api("GET", "/orgs/{org}/distributions", params=wanted)
        self.rows = [distribution_row(record) for record in page["distributions"]]
        return page["nextCursor"]

    @rx.event
    async def load(self):
        """Read the first page, and the assets to filter by."""
        self.asset = id_of(self._query("asset"))
        await self._restart()
        yield DistributionsState.read_assets

    @rx.event(supersedes=True)
    async def filter_status(self, status: str):
        """Show one status, or all."""
        self.status = one_of(status, DistributionStatus)
        await self._restart()

    @rx.event(supersedes=True)
    async def filter_asset(self, asset: str):
        """Show one asset's, or all."""
        self.asset = id_of(asset)
        await self._restart()


def distribution_row(record: dict[str, Any]) -> DistributionRow:
    """Read the API's distribution."""
    total, claimed = int(record["total_amount"]), int(record["claimed_amount"])
    return DistributionRow(
        id=record["id"],
        name=record["name"],
        asset_id=record["asset_id"],
        symbol=record["asset_symbol"] or "",
        decimals=18 if record["asset_decimals"] is None else record["asset_decimals"],
        chain=record["chain_name"] or f"Chain {record['chain_eid']}",
        chain_eid=record["chain_eid"],
        status=record["status"],
        total=record["total_amount"],
        claimed=record["claimed_amount"],
        claimed_percent=100 * claimed // total if total else 0,
        claimed_recipients=record["claimed_recipients"],
        recipients=record["total_recipients"] or 0,
        root=record["merkle_root"] or "",
        has_recipients=record["has_recipients"],
        distributor=record["distributor_address"] or "",
        failure=record["failure"] or "",
        request_id=record["request_id"] or "",
        created_at=record["created_at"],
    )
