"""When an amount exceeds a daily limit, and which changes of limits weaken them. Pure; amounts are base units."""

from collections.abc import Mapping
from datetime import timedelta

from backend.daily_limits.schemas import LimitedAction

WINDOW = timedelta(hours=24)
"""How far back amounts are counted."""
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
    """Whether an amount, with what was used in the window, is above the limit. None is no limit."""
    return limit is not None and used + amount > limit


def available(limit: int, used: int) -> int:
    """What is left of a limit; never below 0, also after the limit was lowered."""
    return max(0, limit - used)


def weakens(before: int | None, after: int | None) -> bool:
    """Whether a change of a limit lets more through than before. None is no limit."""
    return before is not None and (after is None or after > before)


def changed(
    before: Mapping[LimitedAction, int], wanted: Mapping[LimitedAction, int]
) -> dict[LimitedAction, tuple[int | None, int | None]]:
    """The limits that a patch changes, each as before and after. In `wanted`, 0 removes a limit."""
    pairs = {action: (before.get(action), amount or None) for action, amount in wanted.items()}
    return {action: pair for action, pair in pairs.items() if pair[0] != pair[1]}
