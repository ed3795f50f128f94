"""Shares of caps as text: what an operation changes, and what a person confirms."""

from collections.abc import Sequence

from backend.caps.schemas import CapEffect, CapRule, CapShare
from state.core.units import grouped, rounded

NAMES = {CapRule.MAX_HOLDERS: "Maximum holders", CapRule.MAX_TOKENS: "Maximum per holder"}


def cap_changes(effects: Sequence[CapEffect], symbol: str, decimals: int) -> list[dict[str, str]]:
    """Return the shares that change, for `diff`: name, old and new as text, and exact."""
    return [
        {
            "name": f"{NAMES[effect.rule]} on {effect.chain_name} ({_present(effect, symbol, decimals)})",
            "old": "" if effect.before is None else amount_words(effect.rule, effect.before, symbol, decimals),
            "new": amount_words(effect.rule, effect.after, symbol, decimals),
            "old_full": "" if effect.before is None else _exact(effect, effect.before, symbol, decimals),
            "new_full": _exact(effect, effect.after, symbol, decimals),
        }
        for effect in effects
        if effect.before != effect.after
    ]


def _present(effect: CapEffect, symbol: str, decimals: int) -> str:
    """Return what there is of it now."""
    if effect.before is None:
        return "new chain"
    if effect.rule is CapRule.MAX_HOLDERS:
        return f"{int(effect.used):,} now"
    return f"largest holding besides the treasury: {rounded(effect.used, decimals, 2)} {symbol}"


def _exact(effect: CapEffect, amount: str, symbol: str, decimals: int) -> str:
    if effect.rule is CapRule.MAX_HOLDERS or amount == "0":
        return ""
    return f"{grouped(amount, decimals)} {symbol}"


def confirmation(effects: Sequence[CapEffect], symbol: str, decimals: int) -> str:
    """Return what a person confirms: `Change the limits on Sepolia: from 500 to 250 holders`; empty if no chain that
    has the token gets another share."""
    parts: dict[str, list[str]] = {}
    for effect in effects:
        if effect.before is not None and effect.before != effect.after:
            old = "no limit" if effect.before == "0" else _number(effect.rule, effect.before, decimals)
            new = amount_words(effect.rule, effect.after, symbol, decimals, per_holder=True)
            parts.setdefault(effect.chain_name, []).append(f"from {old} to {new}")
    chains = "; ".join(f"{name}: {' and '.join(texts)}" for name, texts in parts.items())
    return f"Change the limits on {chains}" if chains else ""


def expected(effects: Sequence[CapEffect]) -> list[CapShare]:
    """Return the shares of every chain afterwards. A cap that changes nowhere is one that the asset does not have."""
    shares: dict[int, CapShare] = {}
    for effect in effects:
        share = shares.setdefault(effect.chain_eid, CapShare(chain_eid=effect.chain_eid))
        if effect.rule is CapRule.MAX_HOLDERS:
            share.max_holders = int(effect.after)
        else:
            share.max_tokens_per_holder = effect.after
    return list(shares.values())


def plain(shares: Sequence[CapShare]) -> list[CapShare]:
    """Return copies of the shares that a state holds: its own are proxies, which cannot be sent."""
    return [
        CapShare(chain_eid=one.chain_eid, max_holders=one.max_holders, max_tokens_per_holder=one.max_tokens_per_holder)
        for one in shares
    ]


def amount_words(rule: CapRule, amount: str, symbol: str, decimals: int, *, per_holder: bool = False) -> str:
    """Return a share with its unit: `250 holders`, `200,000 NREF`; "no limit" for 0."""
    if amount == "0":
        return "no limit"
    if rule is CapRule.MAX_HOLDERS:
        return f"{_number(rule, amount, decimals)} holder{'' if amount == '1' else 's'}"
    return f"{_number(rule, amount, decimals)} {symbol}{' per holder' if per_holder else ''}"


def _number(rule: CapRule, amount: str, decimals: int) -> str:
    return f"{int(amount):,}" if rule is CapRule.MAX_HOLDERS else rounded(amount, decimals)
