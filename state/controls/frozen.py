"""The holders that have frozen tokens, as the dialog of "Unfreeze" lists them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from backend.assets.schemas import Holder
from state.core.units import rounded, shortened

READ = 100
"""Holders that are read, largest first."""


@dataclass
class FrozenHolders:
    """The frozen holders of a chain. `none` says why the list is empty, and is empty before they were read."""

    rows: list[str] = field(default_factory=list)
    none: str = ""


def frozen_holders(holders: Sequence[Holder], eid: str, symbol: str, decimals: int, *, is_all: bool) -> FrozenHolders:
    """Return who has frozen tokens on a chain. `is_all` is false if there are more holders than were read."""
    here = [one for one in holders if str(one.chain_eid) == eid]
    if any(one.frozen is None for one in here):
        return FrozenHolders(none="The chain does not respond, so frozen accounts are not listed.")
    rows = [_words(one, symbol, decimals) for one in here if one.frozen != "0" or one.wholly_frozen]
    who = "No holder" if is_all else f"None of the {READ} largest holders"
    rest = "An account without tokens can still be frozen" if is_all else "A smaller one may have"
    empty = f"{who} on this chain has frozen tokens. {rest}: enter its address to unfreeze it."
    return FrozenHolders(rows, "" if rows else empty)


def _words(holder: Holder, symbol: str, decimals: int) -> str:
    amount = "the whole account" if holder.wholly_frozen else f"{rounded(int(holder.frozen or 0), decimals)} {symbol}"
    return f"{holder.name or shortened(holder.address)}, {amount}"
