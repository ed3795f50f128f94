"""Rules of test funds. Pure functions."""

from backend.core.errors import BadRequest, Conflict
from backend.core.units import grouped
from backend.test_funds.schemas import DECIMALS, SYMBOL
from backend.wallets.schemas import WalletKind

MOST = 1_000_000_000 * 10**DECIMALS
"""Base units that one call pays. All organizations share the currency: a larger amount could reach the limit of its
supply, and then no other wallet would get any."""


def check_chain(name: str, is_embedded: bool) -> None:
    """Raise 400 where the quote currency has value."""
    if not is_embedded:
        raise BadRequest(
            f"{name} is not an embedded chain. Test funds exist on embedded chains only.", pointer="/chain_eid"
        )


def check_amount(amount: int) -> None:
    """Raise 400 unless the amount is between 1 and the most that one call pays."""
    if not 1 <= amount <= MOST:
        most = grouped(MOST, DECIMALS)
        raise BadRequest(f"The amount must be between 1 base unit and {most} {SYMBOL} ({MOST}).", pointer="/amount")


def check_wallet(kind: WalletKind) -> None:
    """Raise 409 unless the wallet can trade: orders are signed by server wallets."""
    if kind is not WalletKind.SERVER:
        raise Conflict("Test funds are for server wallets. Signum does not hold this wallet's key.")
