"""The records that other records refer to, read to display them."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from backend.assets.schemas import AssetStatus
from backend.client import ApiProblem
from backend.markets import schemas
from state.core.api import Api
from state.core.record_values import Known, Market, Unit

P = TypeVar("P")


class References(Api, mixin=True):
    """Mixin of a state that shows raw records: the organization's assets, archived ones included, markets and chains,
    100 of each."""

    _known: Known = Known()

    async def _read_known(self) -> None:
        """Read them; without them, amounts are shown and labeled in base units."""
        api, org = self._api, self._org_id()
        assets, archived, markets, chains = await asyncio.gather(
            self._found("assets", api.list_assets(org, limit=100)),
            self._found("archived assets", api.list_assets(org, status=AssetStatus.ARCHIVED, limit=100)),
            self._found("markets", api.list_organization_markets(org, limit=100)),
            self._found("chains", api.list_organization_chains(org)),
        )
        self._known = Known(
            assets={str(a.id): Unit(a.symbol, a.decimals) for page in (assets, archived) if page for a in page.assets},
            markets={str(m.id): _market(m) for m in markets.markets} if markets else {},
            chains={c.xchain_eid: c.display_name or c.chain_name or "" for c in chains.chains if c.xchain_eid}
            if chains
            else {},
            zone=await self._zone(),
        )

    async def _found(self, name: str, page: Awaitable[P]) -> P | None:
        """Return a page of records, or None where it cannot be read, which is reported."""
        try:
            return await page
        except ApiProblem as problem:
            await self._lacks(f"The {name} in this list", problem)
            return None


def _market(market: schemas.Market) -> Market:
    return Market(str(market.asset_id), Unit(market.quote_symbol or "", market.quote_decimals or 0))
