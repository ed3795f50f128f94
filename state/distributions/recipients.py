"""The recipients of a distribution, and whether each can claim now."""

from dataclasses import dataclass

import reflex as rx

from backend.distributions.schemas import Distribution, DistributionStatus, Entitlement
from state.core.paging import Pages
from state.core.units import column_decimals
from state.distributions.check import named
from state.distributions.list import decimals_of


@dataclass
class PayeeView:
    """A recipient; the amount in base units. `claim` is claimed, blocked (`why` says by what), ready or unknown."""

    index: int
    address: str
    name: str
    wallet: str
    amount: str
    claim: str
    why: str


class RecipientsState(Pages, rx.State):
    """The recipients of the page's distribution, in the API's pages."""

    rows: list[PayeeView] = []
    paying: str = ""
    """The address that a request pays at the moment."""
    least: int = 0
    """Decimals that each amount shows."""
    payable: int = 0
    """How many of the listed recipients can claim now."""
    is_open: bool = False
    """Whether recipients can claim now, or only after an activation."""
    _decimals: int = 18
    _of: tuple[str, str] = ("", "")
    """The distribution and its asset; empty if its recipients are not stored."""

    def _about(self, record: Distribution) -> None:
        """Take over the distribution that the page shows."""
        wanted = (str(record.id), str(record.asset_id)) if record.has_recipients else ("", "")
        if wanted != self._of:
            self._of, self.rows, self.paying, self.payable = wanted, [], "", 0
        self._decimals = decimals_of(record)
        self.is_open = record.status is DistributionStatus.ACTIVE
        self.payable = len(self._payable())

    async def _fetch(self, cursor: str) -> str | None:
        distribution, asset = self._of
        if not distribution or distribution != self._in_path("distribution_id"):
            self.rows, self.payable = [], 0
            return None
        page = await self._api.list_recipients(self._org_id(), asset, distribution, check=True, cursor=cursor or None)
        self.rows = [payee_view(one) for one in page.recipients]
        self.least = column_decimals((one.amount for one in page.recipients), self._decimals)
        self.payable = len(self._payable())
        return page.nextCursor

    def _payable(self) -> list[PayeeView]:
        """Return the listed recipients who can claim now."""
        return [row for row in self.rows if self.is_open and row.claim == "ready"]


def payee_view(one: Entitlement) -> PayeeView:
    """Convert the API's recipient."""
    why = " ".join(one.cannot_claim or [])
    known = "blocked" if why else "ready" if one.cannot_claim is not None else "unknown"
    claim = "claimed" if one.claimed else known
    return PayeeView(one.index, one.address, *named(one), one.amount, claim, why)
