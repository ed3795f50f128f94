"""Shares of the caps that people set, and what an operation changes. Pure functions."""

from collections.abc import Callable, Mapping, Sequence

from backend.caps.schemas import CapEffect, CapRule, CapShare

NAMES = {CapRule.MAX_HOLDERS: "maximum number of holders", CapRule.MAX_TOKENS: "maximum per holder"}
Caps = Mapping[CapRule, int]
"""The caps of an asset; 0 is no limit."""
Chains = Mapping[int, str]
"""The names of the chains that share the caps, by endpoint ID; oldest first."""
Used = Mapping[CapRule, Mapping[int, int]]
"""How much of each cap a chain uses, by endpoint ID: its holders, and its largest holding."""
Words = Callable[[CapRule, int], str]
"""Returns an amount as text."""


def part(share: CapShare, rule: CapRule) -> int:
    """Return a share of one cap."""
    return int(share.max_holders if rule is CapRule.MAX_HOLDERS else share.max_tokens_per_holder)


def fault(caps: Caps, shares: Sequence[CapShare], chains: Chains, used: Used, words: Words) -> str | None:
    """Return why these shares cannot be set; None if they can."""
    if not any(caps.values()):
        return "The asset has no maximum number of holders and no maximum per holder, so there is nothing to share."
    if len(chains) < 2:
        return "The asset is on one chain, which enforces the whole maximum. Bridge it to another chain first."
    if sorted(share.chain_eid for share in shares) != sorted(chains):
        return f"Name every chain of the asset once: {', '.join(chains.values())}."
    faults = (_fault(rule, total, shares, chains, used[rule], words) for rule, total in caps.items())
    return next((found for found in faults if found), None)


def _fault(
    rule: CapRule, total: int, shares: Sequence[CapShare], chains: Chains, used: Mapping[int, int], words: Words
) -> str | None:
    given = sum(part(share, rule) for share in shares)
    if total == 0:
        return f"The asset has no {NAMES[rule]}. Send 0 for each chain." if given else None
    for share in shares:
        name, wanted, there = chains[share.chain_eid], part(share, rule), used.get(share.chain_eid, 0)
        if wanted == 0:
            return f"{name} would have no share of the {NAMES[rule]}, and 0 means no limit there. Send at least 1."
        if there > wanted:
            has = "has" if rule is CapRule.MAX_HOLDERS else "has an account with"
            fact = f"{name} {has} {words(rule, there)}"
            return f"{fact}, so its share of the {NAMES[rule]} cannot be {words(rule, wanted)}."
    if given != total:
        return f"The shares of the {NAMES[rule]} add up to {words(rule, given)}; the maximum is {words(rule, total)}."
    return None


def set_by_hand(caps: Caps, shares: Sequence[CapShare], chains: Sequence[int], used: Used) -> dict[int, CapShare]:
    """Return the shares that people set, by chain, where they still fit: for exactly these chains, with the caps as
    their sum, and none below what its chain uses. Otherwise empty: the shares are calculated."""
    named = {eid: str(eid) for eid in chains}
    if not shares or fault(caps, shares, named, used, lambda _, amount: str(amount)):
        return {}
    return {share.chain_eid: share for share in shares}


def effects(
    chains: Chains,
    before: Mapping[int, CapShare],
    after: Mapping[int, CapShare],
    used: Used,
    caps: Caps,
) -> list[CapEffect]:
    """Return every chain's share of each cap that changes on at least one chain; empty if nothing changes."""
    found = []
    for rule, total in caps.items():
        shares = [(eid, part(before[eid], rule) if eid in before else None, part(after[eid], rule)) for eid in after]
        if all(old == new or (old is None and new == 0) for _, old, new in shares):
            continue
        found += [
            CapEffect(
                chain_eid=eid,
                chain_name=chains[eid],
                rule=rule,
                before=None if old is None else str(old),
                after=str(new),
                used=str(used[rule].get(eid, 0)),
                total=str(total),
            )
            for eid, old, new in shares
        ]
    return found
