"""Rules of transfers. Pure functions."""

from backend.core.errors import BadRequest, Conflict
from backend.wallets.schemas import WalletKind


def check_amount(amount: int) -> None:
    """Raise 400 if the amount is zero."""
    if amount == 0:
        raise BadRequest("The amount must be at least one base unit.", pointer="/amount")


def check_signs(kind: WalletKind) -> None:
    """Raise 409 if Signum does not hold the wallet's key."""
    if kind is not WalletKind.SERVER:
        raise Conflict("Transfers are signed by server wallets. Signum does not hold this wallet's key.")
