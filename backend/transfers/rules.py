"""Decisions about transfers. Pure."""

from backend.errors import BadRequest, Conflict
from backend.wallets.schemas import WalletKind


def check_amount(amount: int) -> None:
    """400 where nothing would move."""
    if amount == 0:
        raise BadRequest("A transfer moves at least one base unit.", pointer="/amount")


def check_signs(kind: WalletKind) -> None:
    """409 where somebody else holds the wallet's key."""
    if kind is not WalletKind.SERVER:
        raise Conflict("Transfers are signed by server wallets; the key of this one is held by somebody else.")
