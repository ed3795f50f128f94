"""Decisions about controls. Pure."""

from collections.abc import Sequence

from backend.compliance import rules
from backend.compliance.schemas import RuleVerdict
from backend.errors import BadRequest, Conflict
from backend.fields import MAX_UINT256

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
"""What binds even the owner: whoever gets tokens must be able to hold them."""
OF_FORCE = _RECEIVER | {rules.INSUFFICIENT_BALANCE}
OF_TAKING = OF_FORCE | {rules.PAUSED, rules.RULES_NOT_SET}
"""A forced transfer to the owner, and a burn after it."""
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


WHOLE = 2**255
"""Frozen from this on is the whole account: more than any supply, also after a forced transfer took of it."""


def is_whole(frozen: int) -> bool:
    """Whether everything of an account is frozen, whatever it gets."""
    return frozen >= WHOLE


def binding(verdicts: Sequence[RuleVerdict], codes: frozenset[int]) -> list[RuleVerdict]:
    """The verdicts that stand against an act of the owner: only some rules bind it."""
    return [v for v in verdicts if not v.passed and v.code in codes]


def check_amount(amount: int | None) -> None:
    """400 where nothing would be done."""
    if amount == 0:
        raise BadRequest("At least one base unit.", pointer="/amount")


def check_apart(one: str, other: str, pointer: str) -> None:
    """400 where both sides are the same."""
    if one == other:
        raise BadRequest("Both addresses are the same.", pointer=pointer)


def frozen_more(frozen: int, amount: int | None) -> int:
    """How much is frozen after a freeze; without an amount the whole account, whatever it gets."""
    if is_whole(frozen):
        raise Conflict("The whole account is frozen already.")
    return MAX_UINT256 if amount is None else min(frozen + amount, MAX_UINT256)


def frozen_less(frozen: int, balance: int, amount: int | None) -> int:
    """How much is frozen after an unfreeze. Of a wholly frozen account a part leaves the rest of its balance frozen."""
    if frozen == 0:
        raise Conflict("Nothing of this account is frozen.")
    if amount is None:
        return 0
    known = balance if is_whole(frozen) else frozen
    if amount > known:
        raise Conflict(f"Only {known} base units of this account are frozen.")
    return known - amount


_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def limit_words(limit: int, window: int) -> str:
    """A limit of a bridge path in words; a window of 0 seconds means no limit."""
    if not window:
        return "none"
    seconds, unit = next(((s, u) for s, u in _UNITS if window % s == 0), (1, "second"))
    count = window // seconds
    return f"{limit} base units in {f'{count} {unit}s' if count > 1 else f'a {unit}'.replace('a hour', 'an hour')}"


def check_limit(amount: int | None, unit: int) -> None:
    """400 where a limit is nothing, or too fine or too large for a packet. `unit` is the least amount that crosses."""
    if amount is None:
        return
    if amount == 0:
        raise BadRequest("A limit of nothing stops the path; pause it instead.", pointer="/amount")
    if amount % unit:
        raise BadRequest(f"A limit is a multiple of {unit} base units, as amounts cross.", pointer="/amount")
    if amount // unit >= 2**64:
        raise BadRequest("The limit is larger than what a packet can carry.", pointer="/amount")
