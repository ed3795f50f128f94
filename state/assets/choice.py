"""The choice of assets that filters a list."""

from typing import ClassVar

import reflex as rx

from backend.assets.schemas import Asset, Deployment, DeploymentStatus
from backend.client import ApiProblem
from state.core.address import Param, identifier
from state.core.arguments import id_of
from state.core.events import Events
from state.core.paging import Pages


class ByAsset(Pages, mixin=True):
    """Mixin of a list with a filter by asset; it offers 100 assets at most."""

    asset: str = ""
    _in_url: ClassVar[dict[str, Param]] = {"asset": identifier("asset")}
    assets: list[dict[str, str]] = []
    assets_problem: str = ""

    @rx.event
    async def load(self) -> Events:
        """Read the first page, and the assets to filter by."""
        self._read_url()
        await self._restart()
        yield type(self).read_assets

    @rx.event(supersedes=True)
    async def filter_asset(self, asset: str) -> None:
        """Show the rows of one asset, or of all."""
        self.asset = id_of(asset)
        await self._restart()

    @rx.event
    async def read_assets(self) -> None:
        """Read the assets; without permission (403) the choice stays empty."""
        self.assets_problem = ""
        try:
            page = await self._api.list_assets(self._org_id(), limit=100)
        except ApiProblem as problem:
            self.assets_problem = "" if problem.status == 403 else problem.detail or problem.title
            return
        self.assets = [asset_option(asset) for asset in page.assets]


def asset_option(asset: Asset) -> dict[str, str]:
    """Return an asset as a select's option."""
    return {"value": str(asset.id), "label": f"{asset.symbol}, {asset.name}"}


def chain_options(asset: Asset) -> list[dict[str, str]]:
    """Return the chains where an asset's token is active as a select's options."""
    return [{"value": str(place.chain_eid), "label": place.chain_name or ""} for place in active_deployments(asset)]


def active_deployments(asset: Asset) -> list[Deployment]:
    """Return the deployments that are active."""
    return [place for place in asset.deployments if place.status is DeploymentStatus.ACTIVE]
