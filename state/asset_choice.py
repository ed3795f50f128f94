"""The assets a list can be filtered by."""

import reflex as rx

from backend.client import ApiProblem
from state.api import Api


class AssetChoice(Api, mixin=True):
    """Mixin of a list that shows one asset's rows, or all: what there is to choose from, 100 at most."""

    assets: list[dict[str, str]] = []
    assets_problem: str = ""

    @rx.event
    async def read_assets(self):
        """Read them; whoever may not see assets (403) has nothing to choose."""
        self.assets_problem = ""
        try:
            page = await self._api("GET", "/orgs/{org}/assets", params={"limit": 100})
        except ApiProblem as problem:
            self.assets_problem = "" if problem.status == 403 else problem.detail or problem.title
            return
        self.assets = [{"value": a["id"], "label": f"{a['symbol']}, {a['name']}"} for a in page["assets"]]
