"""A transfer in the drawer."""

from typing import ClassVar

import reflex as rx

from backend.client import ApiProblem
from state.core.address import Addressed, Param, opened
from state.core.arguments import id_of
from state.core.events import Next
from state.requests.tracker import Follows
from state.requests.views import RequestView
from state.transfers.list import TransfersState, TransferView


class TransferState(Follows, Addressed, rx.State):
    """The transfer in the drawer, followed while it runs."""

    transfer: TransferView = TransferView()
    _in_url: ClassVar[dict[str, Param]] = {"id": opened("transfer.id")}

    @rx.event
    async def load(self) -> Next:
        """Open the transfer of `?id=`."""
        wanted = id_of(self._query("id"))
        return await self._open(wanted) if wanted else None

    @rx.event
    async def show(self, transfer_id: str) -> Next:
        """Open a transfer and follow its request."""
        return await self._open(id_of(transfer_id))

    @rx.event
    def hide(self) -> None:
        """Close the drawer."""
        self.transfer, self.request = TransferView(), RequestView()

    async def _open(self, transfer_id: str) -> Next:
        transfers = await self.get_state(TransfersState)
        listed = next((row for row in transfers.rows if row.id == transfer_id), None)
        self.request = RequestView()
        try:
            self.transfer = listed or await transfers._find(transfer_id)
        except ApiProblem as problem:
            self.transfer = TransferView()
            await self._notify("This transfer cannot be shown", problem.detail or problem.title, "bad")
        return self._follow(self.transfer.request_id) if self.transfer.request_id else None

    async def _followed(self) -> None:
        transfers = await self.get_state(TransfersState)
        await transfers._page()
        self.transfer = next((row for row in transfers.rows if row.id == self.transfer.id), self.transfer)
