"""The limits of an asset by chain, as its page shows them."""

from dataclasses import dataclass

from backend.caps.schemas import AssetCaps, CapRule, ChainCaps
from state.assets.detail import AssetDetail
from state.compliance.cap_words import amount_words
from state.core.units import grouped


@dataclass
class ChainCapsView:
    """A chain's limits and what is used of them, as text."""

    id: str
    chain: str
    max_holders: str
    holders: str
    max_tokens: str
    largest: str


def chain_caps_view(chain: ChainCaps, asset: AssetDetail) -> ChainCapsView:
    """Convert a chain's limits to text."""
    return ChainCapsView(
        id=str(chain.chain_eid),
        chain=chain.chain_name,
        max_holders=_share(CapRule.MAX_HOLDERS, chain.max_holders, asset),
        holders=f"{chain.holders:,}",
        max_tokens=_share(CapRule.MAX_TOKENS, chain.max_tokens_per_holder, asset),
        largest=f"{grouped(chain.largest_holding, asset.decimals)} {asset.symbol}",
    )


def _share(rule: CapRule, amount: int | str | None, asset: AssetDetail) -> str:
    return "no token yet" if amount is None else amount_words(rule, str(amount), asset.symbol, asset.decimals)


def total_view(caps: AssetCaps, asset: AssetDetail) -> ChainCapsView:
    """Return the row of all chains together."""
    return ChainCapsView(
        id="total",
        chain="All chains",
        max_holders=_share(CapRule.MAX_HOLDERS, caps.max_holders, asset),
        holders=f"{sum(chain.holders for chain in caps.chains):,}",
        max_tokens=_share(CapRule.MAX_TOKENS, caps.max_tokens_per_holder, asset),
        largest="",
    )
