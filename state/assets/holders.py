"""An asset's holders."""

from dataclasses import dataclass

import reflex as rx

from backend.assets.schemas import Holder
from backend.wallets.schemas import AddressKind
from state.chains.lookup import Chains
from state.core.paging import Pages
from state.core.units import percent

KINDS = {
    AddressKind.OWN_WALLET: "Own wallet",
    AddressKind.LINKED_WALLET: "Linked wallet",
    AddressKind.PARTY: "Party",
    AddressKind.DISTRIBUTION: "Distribution",
    AddressKind.MARKET: "Market",
    AddressKind.TOKEN: "Token",
}


@dataclass
class HolderView:
    """A holder on one chain. Amounts are in base units; an unknown one is empty."""

    id: str
    address: str
    name: str
    kind: str
    chain: str
    available: str
    escrowed: str
    frozen: str
    balance: str
    share: str


class HoldersState(Pages, Chains, rx.State):
    """The cap table of the current asset."""

    rows: list[HolderView] = []
    total: str = ""
    escrowed: str = ""

    async def _fetch(self, cursor: str) -> str | None:
        if not self._chains:
            await self._read_chains()
        page = await self._api.list_holders(self._org_id(), self._in_path("asset_id"), cursor=cursor or None)
        self.rows = [self._view(holder) for holder in page.holders]
        self.total, self.escrowed = page.total_balance or "", page.total_escrowed or ""
        return page.nextCursor

    def _view(self, holder: Holder) -> HolderView:
        return HolderView(
            id=f"{holder.chain_eid}:{holder.address}",
            address=holder.address,
            name=holder.name or "",
            kind="Treasury wallet" if holder.is_treasury else KINDS.get(holder.kind, ""),
            chain=self._chain_name(holder.chain_eid),
            available=holder.available or "",
            escrowed=holder.escrowed,
            frozen=_frozen(holder),
            balance=holder.balance,
            share="" if holder.share_bps is None else percent(holder.share_bps),
        )


def _frozen(holder: Holder) -> str:
    """Return the frozen part of the balance; a freeze may cover more than the holder has."""
    if holder.frozen is None or holder.available is None:
        return ""
    return str(int(holder.balance) - int(holder.escrowed) - int(holder.available))
