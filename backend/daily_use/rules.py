"""Rules of daily limits: when an amount exceeds one, and which changes weaken one.

Pure functions; amounts are base units.
"""

from collections.abc import Mapping
from datetime import timedelta

from backend.daily_use.schemas import LimitedAction

WINDOW = timedelta(hours=24)
"""How far back amounts count."""
KINDS: Mapping[str, LimitedAction] = {
    "token.mint": LimitedAction.MINT,
    "transfer.send": LimitedAction.TRANSFER,
    "token.burn": LimitedAction.BURN,
    "token.forced_transfer": LimitedAction.FORCED_TRANSFER,
}
"""The limited action of a request's kind."""
VERBS: Mapping[LimitedAction, str] = {
    LimitedAction.MINT: "minting",
    LimitedAction.TRANSFER: "transfers",
    LimitedAction.BURN: "burning",
    LimitedAction.FORCED_TRANSFER: "forced transfers",
}


def exceeds(limit: int | None, used: int, amount: int) -> bool:
    """Return whether an amount, with the use in the window, exceeds the limit. None is no limit."""
    return limit is not None and used + amount > limit


def available(limit: int, used: int) -> int:
    """Return the remainder of a limit; never below 0, even after the limit was lowered."""
    return max(0, limit - used)


def weakens(before: int | None, after: int | None) -> bool:
    """Return whether a change of a limit allows more than before. None is no limit."""
    return before is not None and (after is None or after > before)


def changed(
    before: Mapping[LimitedAction, int], wanted: Mapping[LimitedAction, int]
) -> dict[LimitedAction, tuple[int | None, int | None]]:
    """Return the limits that a patch changes, each as before and after. In `wanted`, 0 removes a limit."""
    pairs = {action: (before.get(action), amount or None) for action, amount in wanted.items()}
    return {action: pair for action, pair in pairs.items() if pair[0] != pair[1]}
