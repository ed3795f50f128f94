"""An asset's holders."""

from dataclasses import dataclass

import reflex as rx

from backend.assets.schemas import Holder
from backend.wallets.schemas import AddressKind
from state.assets.detail import AssetState
from state.chains.lookup import Chains
from state.core.marks import Marks
from state.core.units import column_decimals, percent

KINDS = {
    AddressKind.OWN_WALLET: "Own wallet",
    AddressKind.LINKED_WALLET: "Linked wallet",
    AddressKind.PARTY: "Party",
    AddressKind.DISTRIBUTION: "Distribution",
    AddressKind.MARKET: "Market",
    AddressKind.TOKEN: "Token",
}
CONTRACTS = (AddressKind.DISTRIBUTION, AddressKind.MARKET, AddressKind.TOKEN)


@dataclass
class HolderView:
    """A holder on one chain. Amounts are in base units; an unknown one is empty."""

    id: str
    eid: int
    address: str
    name: str
    kind: str
    chain: str
    available: str
    escrowed: str
    frozen: str
    wholly_frozen: bool
    balance: str
    share: str
    can_freeze: bool
    """Whether a freeze of this account makes sense: not the treasury, and no contract."""
    is_frozen: bool
    ineligible: str
    """Why the rules no longer let the account hold the token; empty if they do."""


class HoldersState(Marks, Chains, rx.State):
    """The cap table of the current asset."""

    rows: list[HolderView] = []
    total: str = ""
    escrowed: str = ""
    eligibility: str = ""
    """How many of the listed accounts of investors the rules still let hold the token; empty if no chain answered."""
    least: int = 0
    """Decimals that each amount shows."""

    @rx.var
    def freezable(self) -> int:
        """Count the marked rows that a freeze concerns."""
        return sum(row.can_freeze for row in self._marked_rows())

    @rx.var
    def unfreezable(self) -> int:
        """Count the marked rows of which something is frozen."""
        return sum(row.is_frozen for row in self._marked_rows())

    async def _fetch(self, cursor: str) -> str | None:
        if not self._chains:
            await self._read_chains()
        page = await self._api.list_holders(self._org_id(), self._in_path("asset_id"), cursor=cursor or None)
        self.rows = [self._view(holder) for holder in page.holders]
        asset = (await self.get_state(AssetState)).asset
        self.least = column_decimals((one.balance for one in page.holders), asset.decimals)
        self.eligibility = _eligibility([one.eligible for one in page.holders if one.eligible is not None])
        self.total, self.escrowed = page.total_balance or "", page.total_escrowed or ""
        return page.nextCursor

    @rx.event
    def step(self, by: int) -> None:
        """Choose the next or previous row: keys J and K."""
        if self.rows and by in (1, -1):
            at = next((i for i, row in enumerate(self.rows) if row.id == self.chosen), -1 if by > 0 else 1)
            self.chosen = self.rows[max(0, min(len(self.rows) - 1, at + by))].id

    @rx.event
    def leave(self) -> None:
        """Choose no row: Escape."""
        self.chosen = ""

    def _view(self, holder: Holder) -> HolderView:
        return HolderView(
            id=f"{holder.chain_eid}:{holder.address}",
            eid=holder.chain_eid,
            address=holder.address,
            name=holder.name or "",
            kind="Treasury wallet" if holder.is_treasury else KINDS.get(holder.kind, ""),
            chain=self._chain_name(holder.chain_eid),
            available=holder.available or "",
            escrowed=holder.escrowed,
            frozen=holder.frozen or "",
            wholly_frozen=bool(holder.wholly_frozen),
            balance=holder.balance,
            share="" if holder.share_bps is None else percent(holder.share_bps),
            can_freeze=not holder.is_treasury and holder.kind not in CONTRACTS,
            is_frozen=holder.frozen not in (None, "0") or bool(holder.wholly_frozen),
            ineligible=" ".join(holder.reasons),
        )


def _eligibility(verdicts: list[bool]) -> str:
    """Return how many of these listed accounts of investors are eligible, in words."""
    count, lost = len(verdicts), verdicts.count(False)
    if lost:
        return f"{lost} of {count} listed accounts of investors {'is' if lost == 1 else 'are'} no longer eligible"
    if count == 1:
        return "The listed account of an investor is eligible"
    return f"All {count} listed accounts of investors are eligible" if count else ""
