"""The held recipients of a distribution."""

import reflex as rx

from state.core.paging import Pages
from state.distributions.check import RecipientView, named
from state.distributions.detail import DistributionState


class HeldState(Pages, rx.State):
    """The recipients whom the rules refused when the distribution was created, in the API's pages."""

    rows: list[RecipientView] = []

    async def _fetch(self, cursor: str) -> str | None:
        page = await self.get_state(DistributionState)
        if not page.distribution.held:
            self.rows = []
            return None
        held = await self._api.list_held_recipients(*page._path(), cursor=cursor or None)
        self.rows = [
            RecipientView(
                index=one.index,
                address=one.address,
                name=named(one)[0],
                wallet=named(one)[1],
                amount=one.amount,
                why=" ".join(one.reasons),
                paid_by=str(one.released_by or ""),
            )
            for one in held.recipients
        ]
        return held.nextCursor
