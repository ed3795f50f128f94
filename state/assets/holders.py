"""An asset's holders and activity."""

from dataclasses import dataclass
from typing import ClassVar

import reflex as rx

from backend.assets.schemas import Holder
from state.assets.detail import AssetState
from state.chains.lookup import Chains
from state.core.paging import Pages
from state.core.units import percent
from state.requests.views import RequestView, request_view


@dataclass
class HolderView:
    """A holder's balance on one chain."""

    id: str
    address: str
    name: str
    chain: str
    balance: str
    frozen: str
    share: str
    is_treasury: bool


class HoldersState(Pages, Chains, rx.State):
    """The cap table of the current asset."""

    rows: list[HolderView] = []

    async def _fetch(self, cursor: str) -> str | None:
        asset = (await self.get_state(AssetState)).asset
        if not self._chains:
            await self._read_chains()
        page = await self._api.list_holders(self._org_id(), self._in_path("asset_id"), cursor=cursor or None)
        self.rows = [self._view(holder, int(asset.supply or 0)) for holder in page.holders]
        return page.nextCursor

    def _view(self, holder: Holder, supply: int) -> HolderView:
        balance = int(holder.balance)
        return HolderView(
            id=f"{holder.chain_eid}:{holder.address}",
            address=holder.address,
            name="Treasury" if holder.is_treasury else holder.party_name or "",
            chain=self._chain_name(holder.chain_eid),
            balance=holder.balance,
            frozen="" if holder.frozen is None else str(min(int(holder.frozen), balance)),
            share=percent(balance * 10_000 // supply if supply else 0),
            is_treasury=holder.is_treasury,
        )


class ActivityState(Pages, rx.State):
    """The requests of the current asset."""

    rows: list[RequestView] = []
    _sorts: ClassVar[tuple[str, ...]] = ("created_at",)
    _table: ClassVar[str] = "activity_"

    async def _fetch(self, cursor: str) -> str | None:
        page = await self._api.list_requests(
            self._org_id(), subject=self._in_path("asset_id") or None, cursor=cursor or None, **self._order()
        )
        self.rows = [request_view(request) for request in page.requests]
        return page.nextCursor
