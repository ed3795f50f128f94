"""Transfers: the list, and one of them in the drawer."""

from dataclasses import dataclass
from typing import ClassVar

import reflex as rx

from backend.transfers.schemas import Transfer, TransferStatus
from state.chains.lookup import Chains
from state.core.arguments import chosen
from state.core.dates import stamp
from state.core.paging import ByStatus
from state.requests.views import shown_status


@dataclass
class TransferView:
    """A row of the list; the amount is in base units. The status also says that its request awaits approval."""

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


class TransfersState(ByStatus, Chains, rx.State):
    """The organization's transfers, in the API's pages."""

    rows: list[TransferView] = []
    _sorts: ClassVar[tuple[str, ...]] = ("created_at",)
    _statuses = TransferStatus

    async def _fetch(self, cursor: str) -> str | None:
        if not self._chains:
            await self._read_chains()
        page = await self._api.list_transfers(
            self._org_id(), status=chosen(TransferStatus, self.status), cursor=cursor or None, **self._order()
        )
        self.rows = [self._view(transfer) for transfer in page.transfers]
        return page.nextCursor

    @rx.event
    async def load(self) -> None:
        """Read the first page of the view in the URL."""
        self._chains = {}
        self._read_url()
        await self._restart()

    async def _find(self, transfer_id: str) -> TransferView:
        """Return a transfer that may be on another page of the list."""
        if not self._chains:
            await self._read_chains()
        return self._view(await self._api.get_transfer(self._org_id(), transfer_id))

    def _view(self, transfer: Transfer) -> TransferView:
        eid = transfer.chain_eid
        return TransferView(
            id=str(transfer.id),
            asset_id=str(transfer.asset_id),
            symbol=transfer.asset_symbol or "",
            decimals=18 if transfer.asset_decimals is None else transfer.asset_decimals,
            amount=transfer.amount,
            chain=transfer.chain_name or self._chain_name(eid),
            status=shown_status(transfer),
            sender=transfer.from_address,
            sender_name=transfer.from_name or transfer.from_label or "",
            receiver=transfer.to_address,
            receiver_name=transfer.to_name or "",
            tx_hash=transfer.tx_hash or "",
            tx_url=self._transaction_url(eid, transfer.tx_hash),
            failure=transfer.failure or "",
            request_id=str(transfer.request_id or ""),
            created_at=stamp(transfer.created_at),
        )
