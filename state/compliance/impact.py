"""The impact of new rules, as the editor shows it."""

from dataclasses import dataclass, field

from backend.assets.schemas import HolderImpact
from state.core.units import grouped


@dataclass
class ExcludedView:
    """A holder who becomes ineligible, and why."""

    address: str
    name: str
    balance: str
    why: str


@dataclass
class HaltedMarketView:
    """A market that the new rules halt."""

    id: str
    name: str
    why: str


@dataclass
class Impact:
    """The impact of saving."""

    headline: str = ""
    falling: str = ""
    staying: str = ""
    is_harmless: bool = True
    total: int = 0
    out: int = 0
    more: int = 0
    holders: list[ExcludedView] = field(default_factory=list)
    markets: list[HaltedMarketView] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    caps: list[dict[str, str]] = field(default_factory=list)


def excluded_view(holder: HolderImpact, decimals: int, symbol: str) -> ExcludedView:
    """Convert a holder who becomes ineligible."""
    balance = f"{grouped(holder.balance, decimals)} {symbol}"
    return ExcludedView(holder.wallet_address, holder.name or "", balance, "; ".join(holder.reasons))


def headline(out: int, total: int, halting: int) -> str:
    """Return a headline such as `3 of 212 holders become ineligible, 1 market halts`."""
    parts = ((out, ineligible_words(out, total)), (halting, count_words(halting, "market halts", "markets halt")))
    texts = [text for count, text in parts if count]
    return ", ".join(texts) or "No holder becomes ineligible, no market halts"


def ineligible_words(out: int, total: int) -> str:
    """Return how many holders become ineligible, as text."""
    return f"{out} of {count_words(total, 'holder', 'holders')} {'becomes' if out == 1 else 'become'} ineligible"


def count_words(count: int, one: str, many: str) -> str:
    """Return a count with its noun in singular or plural."""
    return f"{count:,} {one if count == 1 else many}"
