"""API schemas of test funds."""

from typing import Annotated
from uuid import UUID

from backend.core.fields import Acceptance, Body, Eid, NullIs, TokenAmount

SYMBOL, DECIMALS = "tUSD", 6
UNIT = {"currency_symbol": SYMBOL, "currency_decimals": DECIMALS}
"""The unit of the amount in an audit entry. Declared at import."""
USUAL = str(1_000_000 * 10**DECIMALS)
"""Base units that a call pays if it names no amount."""


class WalletFunding(Body):
    """A payment of `amount` base units of tUSD (6 decimals), the quote currency of markets on embedded chains: at least
    1, at most 1,000,000,000 tUSD."""

    chain_eid: Eid
    amount: Annotated[TokenAmount, NullIs(USUAL)] = USUAL


class WalletFundingAccepted(Acceptance):
    """Response to a payment of test funds."""

    walletId: UUID
