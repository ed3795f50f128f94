"""Transfers: the list, and one of them in the drawer."""

from dataclasses import dataclass
from typing import Any

import reflex as rx

from backend.transfers.schemas import TransferStatus
from state.chain_list import Chains
from state.given import id_of, one_of
from state.paging import Pages
from state.requests import Follows, Request, Tracker


@dataclass
class TransferRow:
    """A row of the list; the amount in base units."""

    id: str = ""
    asset_id: str = ""
    symbol: str = ""
    decimals: int = 18
    amount: str = "0"
    chain: str = ""
    status: str = ""
    sender: str = ""
    sender_name: str = ""
    receiver: str = ""
    receiver_name: str = ""
    tx_hash: str = ""
    tx_url: str = ""
    failure: str = ""
    request_id: str = ""
    created_at: str = ""


class TransfersState(Pages, Chains, rx.State):
    """The organization's transfers, by the API's pages."""

    rows: list[TransferRow] = []
    status: str = ""

    async def _fetch(self, cursor: str) -> str | None:
        if not self._chains:
            await self._read_chains()
        page = await self._api("GET", "/orgs/{org}/transfers", params={"status": self.status, "cursor": cursor})
        self.rows = [self._row(transfer) for transfer in page["transfers"]]
        return page["nextCursor"]

    @rx.event
    async def load(self):
        """Read the first page."""
        self._chains = {}
        await self._restart()

    @rx.event(supersedes=True)
    async def filter_status(self, status: str):
        """Show one status, or all."""
        self.status = one_of(status, TransferStatus)
        await self._restart()

    def _row(self, transfer: dict[str, Any]) -> TransferRow:
        eid = transfer["chain_eid"]
        return TransferRow(
            id=transfer["id"],
            asset_id=transfer["asset_id"],
            symbol=transfer["asset_symbol"] or "",
            decimals=18 if transfer["asset_decimals"] is None else transfer["asset_decimals"],
            amount=transfer["amount"],
            chain=transfer["chain_name"] or self._chain_name(eid),
            status=transfer["status"],
            sender=transfer["from_address"],
            sender_name=transfer["from_label"] or "",
            receiver=transfer["to_address"],
            receiver_name=transfer["to_name"] or "",
            tx_hash=transfer["tx_hash"] or "",
            tx_url=self._transaction_url(eid, transfer["tx_hash"]),
            failure=transfer["failure"] or "",
            request_id=transfer["request_id"] or "",
            created_at=transfer["created_at"],
        )


class TransferState(Follows, rx.State):
    """The transfer in the drawer, followed while it goes."""

    transfer: TransferRow = TransferRow()

    @rx.event
    async def show(self, transfer_id: str):
        """Open a row's story; the request behind it is followed."""
        return await self._open(id_of(transfer_id))

    @rx.event
    def hide(self):
        """Close the drawer."""
        self.transfer, self.request = TransferRow(), Request()

    @rx.event
    async def retry(self):
        """Try the failed transfer again."""
        return [Tracker.retry(self.request.id), type(self).follow]

    async def _open(self, transfer_id: str) -> Any:
        rows = (await self.get_state(TransfersState)).rows
        self.transfer = next((row for row in rows if row.id == transfer_id), TransferRow())
        self.request = Request()
        return self._follow(self.transfer.request_id) if self.transfer.request_id else None

    async def _followed(self) -> None:
        transfers = await self.get_state(TransfersState)
        await transfers._page()
        self.transfer = next((row for row in transfers.rows if row.id == self.transfer.id), self.transfer)
