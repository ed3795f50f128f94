"""What an operation does to the shares of the caps, and what its caller has confirmed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from backend.caps.schemas import CapEffect, CapShare
from backend.core.errors import Conflict


@dataclass(frozen=True)
class Change:
    """The shares of the caps that an operation would set: all of them by chain, and those that change."""

    shares: Mapping[int, CapShare]
    effects: list[CapEffect]

    def check_expected(self, expected: Sequence[CapShare] | None) -> None:
        """Raise 409 if the caller confirmed other shares than these. A caller who confirmed none accepts them.

        A chain without a limit counts as one that is not named: a plan names only the chains that have one.
        """
        if expected is None or _limits(expected) == _limits(self.shares.values()):
            return
        names = {effect.chain_eid: effect.chain_name for effect in self.effects}
        now = "; ".join(
            f"{names.get(eid, eid)} {one.max_holders} holders, {one.max_tokens_per_holder} base units per holder"
            for eid, one in self.shares.items()
        )
        raise Conflict(
            "The shares of the caps that this would set differ from expected_caps. "
            f"They would be: {now or 'none'} (0: no limit). Read the plan again, then confirm these."
        )


def _limits(shares: Iterable[CapShare]) -> list[tuple[int, int, str]]:
    """Return the chains that have a limit, with their limits."""
    found = [(share.chain_eid, share.max_holders, share.max_tokens_per_holder) for share in shares]
    return sorted(limits for limits in found if limits[1:] != (0, "0"))


NO_CHANGE = Change({}, [])
