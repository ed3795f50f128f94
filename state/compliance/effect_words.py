"""The numbers of an operation's effects, as text."""

from collections.abc import Sequence

from backend.compliance.impact_schemas import AsOf, Effects, StandingSource

LOSES = ("becomes ineligible", "become ineligible")
"""What an excluded investor loses, in singular and plural."""

MARKET_RULES = {
    "min_kyc_level": "Required KYC level",
    "requires_accreditation": "Accredited investors only",
    "blocked_countries": "Blocked countries",
    "lockup_end_time": "Lock-up ends",
    "max_holders": "Maximum holders",
    "max_tokens_per_holder": "Maximum per holder",
}
"""The rules of a market, as pages name them."""


def source_words(as_of: Sequence[AsOf]) -> str:
    """Return where the attestations were read, as text."""
    read = [f"{a.chain_name} at block {a.block:,}" for a in as_of if a.block is not None]
    stored = [a.chain_name for a in as_of if a.source is StandingSource.TABLES]
    parts = [f"According to {' and '.join(read)}."] if read else []
    if stored:
        parts.append(f"On {' and '.join(stored)}, only your own attestations were considered.")
    return " ".join(parts)


def counted(count: int, one: str, many: str) -> str:
    """Return a count with its noun in singular or plural."""
    return f"{count:,} {one if count == 1 else many}"


def excluded_words(effects: Effects, loses: tuple[str, str] = LOSES) -> str:
    """Return how many investors lose a right, as text. The counted holders are the cap table's investors: without the
    treasury and the contracts of distributions, which the maximum number of holders counts, too."""
    count = effects.holders_excluded_total
    investors = counted(effects.holders_total, "investor", "investors")
    return f"{count:,} of {investors} {loses[0] if count == 1 else loses[1]}"


def rights_words(effects: Effects) -> str:
    """Return what the excluded investors can still do, as sentences; empty without any."""
    total, unable = effects.holders_excluded_total, effects.holders_unable_to_send_total
    if not total:
        return ""
    keep = "The ineligible investor keeps its tokens" if total == 1 else "The ineligible investors keep their tokens"
    can = f"{ {1: 'It', 2: 'Both'}.get(total, f'All {total:,}') } can still send them"
    none = "It cannot" if total == 1 else "Neither can" if total == 2 else f"None of the {total:,} can"
    none += " send or sell them either"
    some = f"{unable:,} of them cannot send or sell them either; the others can"
    rest = none if unable == total else some if unable else f"{can}, and sell them under the rules of each market"
    return f"{keep} and cannot receive more. {rest}."


def unable_words(count: int) -> str:
    """Return how many distributions cannot pay, as text."""
    return counted(count, "distribution cannot pay", "distributions cannot pay")


def orders_words(count: int) -> str:
    """Return how many open orders can no longer be filled, as text."""
    return counted(count, "open order", "open orders") + " cannot be filled"


def claims_words(count: int) -> str:
    """Return how many payments of distributions can no longer be claimed, as text."""
    return counted(count, "payment", "payments") + " cannot be claimed"


def rule_name(name: str) -> str:
    """Return the name of a market's rule as pages show it."""
    return MARKET_RULES.get(name, name)


def stricter_words(count: int) -> str:
    """Return how many markets the change does not reach, as text."""
    return counted(count, "market keeps a stricter rule", "markets keep stricter rules")


def halting_words(count: int) -> str:
    """Return how many markets halt, as text."""
    return counted(count, "market halts", "markets halt")
