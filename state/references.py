"""What records refer to, read for the words of those records."""

import asyncio
from typing import Any

from backend.client import ApiProblem
from state.api import Api
from state.record_values import Known, Market, Unit


class References(Api, mixin=True):
    """Mixin of a state that shows raw values of records: the organization's assets, markets and chains, 100 of each."""

    _known: Known = Known()

    async def _read_known(self) -> None:
        """Read them anew; without them amounts are shown in base units, which says so."""
        assets, markets, chains = await asyncio.gather(*(self._hundred(n) for n in ("assets", "markets", "chains")))
        self._known = Known(
            assets={a["id"]: Unit(a["symbol"], a["decimals"]) for a in assets},
            markets={m["id"]: Market(m["asset_id"], Unit(m["quote_symbol"], m["quote_decimals"])) for m in markets},
            chains={c["xchain_eid"]: c["display_name"] or c["chain_name"] for c in chains if c["xchain_eid"]},
        )

    async def _hundred(self, name: str) -> list[dict[str, Any]]:
        try:
            page = await self._api("GET", f"/orgs/{{org}}/{name}", params={"limit": 100} if name != "chains" else None)
        except ApiProblem as problem:
            await self._lacks(f"The {name} that are named here", problem)
            return []
        rows: list[dict[str, Any]] = page[name]
        return rows
