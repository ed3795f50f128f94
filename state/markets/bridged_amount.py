"""The amount that a new market's bridge carries: a market on a new chain needs a seller."""

import reflex as rx

from backend.client import SessionClient
from state.chains.lookup import Chains
from state.core.units import rounded
from state.markets.plan import Target

PART = 10
"""The treasury's tokens are divided by this for the amount that is filled in."""


async def treasury_holds(api: SessionClient, org_id: str, asset_id: str, eid: int) -> int:
    """Return what the treasury holds on a chain, in base units. Raises ApiProblem."""
    wallets = (await api.list_wallets(org_id, limit=100)).wallets
    treasury = next((wallet.address for wallet in wallets if wallet.is_default), "")
    if not treasury or not eid:
        return 0
    found = await api.search_accounts(org_id, q=treasury, asset_id=asset_id, chain_eid=eid)
    return next((int(one.balance or 0) for one in found.accounts if one.address == treasury), 0)


def proposed(held: int, decimals: int) -> str:
    """Return a part of what the treasury holds, in whole tokens; an empty string without any."""
    whole = held // 10**decimals // PART
    return f"{whole:,}" if whole else ""


def available(held: int, decimals: int, symbol: str, chain: str) -> str:
    """Return what can be bridged: `1,805,870 NREF in your treasury on Sepolia`; an empty string without any."""
    return f"{rounded(held, decimals)} {symbol} in your treasury on {chain}" if held else ""


def about(amount: str, proposal: str, of: str) -> str:
    """Return how an amount relates to what is available (`of`)."""
    if not of:
        return ""
    return f"{100 // PART}% of the {of}." if proposal and amount == proposal else f"Available: {of}."


class BridgedAmount(Chains, mixin=True):
    """Mixin of the market wizard: its asset and chain, the amount to bridge there, and what there is to bridge."""

    asset: str = ""
    symbol: str = ""
    decimals: int = 18
    target: Target = Target()
    amount: str = ""
    """What the bridge carries to the treasury on the chain, in tokens; empty or 0 for nothing."""
    proposal: str = ""
    """The amount that was filled in."""
    available: str = ""
    """What the bridge can carry, as text; empty for nothing."""
    _tokens: dict[int, str] = {}
    """The asset's tokens by chain."""

    async def _propose(self) -> None:
        """Read what the treasury has to bridge to the target. Raises ApiProblem."""
        source = next((eid for eid, token in self._tokens.items() if token and eid != self.target.eid), 0)
        held = await treasury_holds(self._api, self._org_id(), self.asset, source)
        self.proposal = proposed(held, self.decimals)
        self.available = available(held, self.decimals, self.symbol, self._chain_name(source) if source else "")

    @rx.var
    def amount_said(self) -> str:
        """How the amount relates to what there is to bridge."""
        return about(self.amount, self.proposal, self.available)
