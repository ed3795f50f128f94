"""Bridges: the list, and one packet's story."""

from dataclasses import dataclass
from typing import Any

import reflex as rx

from backend.bridges.schemas import BridgeStatus
from state.asset_choice import AssetChoice
from state.chain_list import Chains
from state.given import id_of
from state.paging import Pages
from state.requests import Follows, Request, Tracker


@dataclass
class BridgeRow:
    """A row of the list."""

    id: str = ""
    asset_id: str = ""
    symbol: str = ""
    decimals: int = 18
    amount: str = "0"
    source: str = ""
    destination: str = ""
    status: str = ""
    guid: str = ""
    source_tx: str = ""
    source_url: str = ""
    destination_tx: str = ""
    destination_url: str = ""
    receiver: str = ""
    failure: str = ""
    request_id: str = ""
    return_request_id: str = ""
    returned_at: str = ""
    return_tx: str = ""
    return_url: str = ""
    can_return: bool = False
    checked_at: str = ""
    created_at: str = ""


class BridgesState(AssetChoice, Pages, Chains, rx.State):
    """The organization's bridges, by the API's pages."""

    rows: list[BridgeRow] = []
    status: str = ""
    asset: str = ""

    async def _fetch(self, cursor: str) -> str | None:
        if not self._chains:
            await self._read_chains()
        wanted = {"status": self.status, "assetId": self.asset, "cursor": cursor}
        page = await self._api("GET", "/orgs/{org}/bridges", params=wanted)
        self.rows = [self._row(bridge) for bridge in page["bridges"]]
        return page["nextCursor"]

    @rx.event
    async def load(self):
        """Read the first page, and the assets to filter by."""
        self.asset = id_of(self._query("asset"))
        await self._restart()
        yield BridgesState.read_assets

    @rx.event(supersedes=True)
    async def filter_status(self, status: str):
        """Show one status, or all."""
        self.status = str(status) if str(status) in set(BridgeStatus) else ""
        await self._restart()

    @rx.event(supersedes=True)
    async def filter_asset(self, asset: str):
        """Show one asset's, or all."""
        self.asset = id_of(asset)
        await self._restart()

    def _row(self, bridge: dict[str, Any]) -> BridgeRow:
        source, destination = bridge["source_chain_eid"], bridge["destination_chain_eid"]
        return BridgeRow(
            id=bridge["id"],
            asset_id=bridge["asset_id"],
            symbol=bridge["asset_symbol"] or "",
            decimals=18 if bridge["asset_decimals"] is None else bridge["asset_decimals"],
            amount=bridge["amount"],
            source=self._chain_name(source),
            destination=self._chain_name(destination),
            status=bridge["status"],
            guid=bridge["guid"] or "",
            source_tx=bridge["source_tx_hash"] or "",
            source_url=self._transaction_url(source, bridge["source_tx_hash"]),
            destination_tx=bridge["destination_tx_hash"] or "",
            destination_url=self._transaction_url(destination, bridge["destination_tx_hash"]),
            receiver=bridge["to_address"] or "",
            failure=bridge["failure"] or "",
            request_id=bridge["request_id"] or "",
            return_request_id=bridge["return_request_id"] or "",
            returned_at=bridge["returned_at"] or "",
            return_tx=bridge["return_tx_hash"] or "",
            return_url=self._transaction_url(source, bridge["return_tx_hash"]),
            can_return=bridge["status"] == "failed" and bool(bridge["guid"]) and not bridge["returned_at"],
            checked_at=bridge["checked_at"] or "",
            created_at=bridge["created_at"],
        )


class BridgeState(Follows, rx.State):
    """The bridge in the drawer."""

    bridge: BridgeRow = BridgeRow()

    @rx.event
    async def show(self, bridge_id: str):
        """Open a row's story; the request behind it is followed."""
        rows = (await self.get_state(BridgesState)).rows
        self.bridge = next((row for row in rows if row.id == bridge_id), BridgeRow())
        self.request = Request()
        followed = self.bridge.return_request_id or self.bridge.request_id
        return self._follow(followed) if followed else None

    @rx.event
    def watch(self, request_id: str):
        """Follow another request of the bridge: its return."""
        return self._follow(id_of(request_id)) if self.bridge.id else None

    @rx.event
    def hide(self):
        """Close the drawer."""
        self.bridge, self.request = BridgeRow(), Request()

    @rx.event
    async def retry(self):
        """Try the delivery again."""
        return [Tracker.retry(self.request.id), type(self).follow]

    async def _followed(self) -> None:
        bridges = await self.get_state(BridgesState)
        await bridges._page()
        self.bridge = next((row for row in bridges.rows if row.id == self.bridge.id), self.bridge)
