"""The list of assets, and the form of a new one."""

from dataclasses import dataclass
from typing import ClassVar

import reflex as rx

from backend.assets.schemas import Asset, AssetStatus
from state.compliance.rules import FRAMEWORKS
from state.core.arguments import chosen
from state.core.dates import stamp
from state.core.paging import ByStatus
from state.requests.views import shown_status


@dataclass
class AssetView:
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


class AssetsState(ByStatus, rx.State):
    """The list of assets, in keyset pages."""

    rows: list[AssetView] = []
    _sorts: ClassVar[tuple[str, ...]] = ("created_at", "name")
    _statuses = AssetStatus

    async def _fetch(self, cursor: str) -> str | None:
        page = await self._api.list_assets(
            self._org_id(), status=chosen(AssetStatus, self.status), cursor=cursor or None, **self._order()
        )
        self.rows = [asset_view(asset) for asset in page.assets]
        return page.nextCursor


def asset_view(asset: Asset) -> AssetView:
    """Convert the API's asset."""
    return AssetView(
        id=str(asset.id),
        name=asset.name,
        symbol=asset.symbol,
        status=shown_status(asset),
        framework=FRAMEWORKS.get(asset.regulation_type, ""),
        supply=asset.total_supply,
        decimals=asset.decimals,
        chains=", ".join(place.chain_name or str(place.chain_eid) for place in asset.deployments),
        created_at=stamp(asset.created_at),
    )
