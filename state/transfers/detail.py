"""A transfer in the drawer."""

import reflex as rx

from state.core.arguments import id_of
from state.core.events import Next
from state.requests.tracker import Follows
from state.requests.views import RequestView
from state.transfers.list import TransfersState, TransferView


class TransferState(Follows, rx.State):
    """The transfer in the drawer, followed while it runs."""

    transfer: TransferView = TransferView()

    @rx.event
    async def show(self, transfer_id: str) -> Next:
        """Open a transfer and follow its request."""
        return await self._open(id_of(transfer_id))

    @rx.event
    def hide(self) -> None:
        """Close the drawer."""
        self.transfer, self.request = TransferView(), RequestView()

    async def _open(self, transfer_id: str) -> Next:
        rows = (await self.get_state(TransfersState)).rows
        self.transfer = next((row for row in rows if row.id == transfer_id), TransferView())
        self.request = RequestView()
        return self._follow(self.transfer.request_id) if self.transfer.request_id else None

    async def _followed(self) -> None:
        transfers = await self.get_state(TransfersState)
        await transfers._page()
        self.transfer = next((row for row in transfers.rows if row.id == self.transfer.id), self.transfer)
