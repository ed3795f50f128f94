"""Rules of controls. Pure functions."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from backend.compliance import rules
from backend.compliance.rules import WHOLLY_FROZEN
from backend.compliance.schemas import RuleVerdict
from backend.controls.schemas import ControlKind
from backend.core.errors import BadRequest, Conflict
from backend.core.fields import MAX_UINT256

SUPPLY = frozenset({ControlKind.MINT, ControlKind.BURN})
"""Controls that are everyday work. The others protect holders."""
_RECEIVER = frozenset(
    {
        rules.INVALID_RECEIVER,
        rules.RECEIVER_NOT_ATTESTED,
        rules.ORG_ONLY,
        rules.RECEIVER_KYC_LEVEL,
        rules.RECEIVER_ACCREDITATION,
        rules.RECEIVER_COUNTRY_BLOCKED,
    }
)
OF_RECOVERY = _RECEIVER
"""Rules that bind even the owner: a receiver of tokens must be able to hold them."""
OF_FORCE = _RECEIVER | {rules.INSUFFICIENT_BALANCE}
OF_TAKING = OF_FORCE | {rules.PAUSED, rules.RULES_NOT_SET}
"""A forced transfer to the owner, followed by a burn."""
OF_BURN = frozenset(
    {
        rules.PAUSED,
        rules.RULES_NOT_SET,
        rules.INSUFFICIENT_BALANCE,
        rules.FROZEN,
        rules.LOCKUP,
        rules.SENDER_NOT_ATTESTED,
        rules.SENDER_COUNTRY_BLOCKED,
    }
)


ACCOUNTS = "accounts"
ORDERS: Mapping[ControlKind, str] = {
    ControlKind.PAUSE: "pause",
    ControlKind.UNPAUSE: "pause",
    ControlKind.PAUSE_PATH: "paths",
    ControlKind.UNPAUSE_PATH: "paths",
    ControlKind.LIMIT_PATH: "path_limits",
    ControlKind.MINT: "supply",
    ControlKind.BURN: "supply",
}
"""The order of a control, so that a pause does not wait for mints. Controls of different orders write different state
of the token; those of accounts, which are the rest, share the frozen amounts."""


def order_of(asset_id: UUID, kind: ControlKind, acts: Sequence[str]) -> str:
    """Return the order of a control. A burn that takes the tokens from a holder first is one of accounts: it changes
    the frozen amount, from which a freeze calculates the new one."""
    order = ACCOUNTS if "taken" in acts else ORDERS.get(kind, ACCOUNTS)
    return f"{order}:{asset_id}"


def is_whole(frozen: int) -> bool:
    """Return whether an account is wholly frozen, including future receipts."""
    return frozen >= WHOLLY_FROZEN


def binding(verdicts: Sequence[RuleVerdict], codes: frozenset[int]) -> list[RuleVerdict]:
    """Return the failed verdicts that bind the owner: only some rules do."""
    return [v for v in verdicts if not v.passed and v.code in codes]


def check_amount(amount: int | None) -> None:
    """Raise 400 if the amount is zero."""
    if amount == 0:
        raise BadRequest("The amount must be at least one base unit.", pointer="/amount")


def check_apart(one: str, other: str, pointer: str) -> None:
    """Raise 400 if both addresses are the same."""
    if one == other:
        raise BadRequest("The two addresses must differ.", pointer=pointer)


def frozen_more(frozen: int, amount: int | None) -> int:
    """Return the frozen amount after a freeze; without an amount, the whole account, including future receipts."""
    if is_whole(frozen):
        raise Conflict("The whole account is already frozen.")
    return MAX_UINT256 if amount is None else min(frozen + amount, MAX_UINT256)


def frozen_less(frozen: int, balance: int, amount: int | None) -> int:
    """Return the frozen amount after an unfreeze. Unfreezing a part of a wholly frozen account leaves the rest of its
    balance frozen."""
    if frozen == 0:
        raise Conflict("Nothing of this account is frozen.")
    if amount is None:
        return 0
    known = balance if is_whole(frozen) else frozen
    if amount > known:
        raise Conflict("Less of this account is frozen than this would unfreeze. The list of holders says how much.")
    return known - amount


_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def limit_words(limit: str, window: int) -> str:
    """Return a limit of a bridge path as text; `limit` has its unit. A window of 0 seconds means no limit."""
    if not window:
        return "none"
    seconds, unit = next(((s, u) for s, u in _UNITS if window % s == 0), (1, "second"))
    count = window // seconds
    return f"{limit} in {f'{count} {unit}s' if count > 1 else f'a {unit}'.replace('a hour', 'an hour')}"


def check_limit(amount: int, unit: int) -> None:
    """Raise 400 if a limit is too fine or too large for a packet. `unit` is the smallest amount that crosses."""
    if amount % unit:
        raise BadRequest(
            (f"A limit must be a multiple of {unit} base units, the smallest amount that crosses."), pointer="/amount"
        )
    if amount // unit >= 2**64:
        raise BadRequest("The limit exceeds what a packet can carry. Set a lower one.", pointer="/amount")
