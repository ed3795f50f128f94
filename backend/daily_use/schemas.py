"""Actions that can have a daily limit."""

from enum import StrEnum


class LimitedAction(StrEnum):
    """Actions that can have a daily limit."""

    MINT = "mint"
    TRANSFER = "transfer"
    BURN = "burn"
    FORCED_TRANSFER = "forced_transfer"
