"""The limits of an asset by chain, as its page shows them."""

from dataclasses import dataclass

from backend.caps.schemas import AssetCaps, CapRule, ChainCaps
from state.assets.detail import AssetDetail
from state.compliance.cap_words import amount_words
from state.core.units import rounded


@dataclass
class ChainCapsView:
    """A chain's row: how much of each limit is used, as text."""

    id: str
    chain: str
    holders: str
    largest: str


def chain_caps_view(chain: ChainCaps, asset: AssetDetail) -> ChainCapsView:
    """Convert a chain's limits to text: `4 of 250 holders`."""
    if chain.max_holders is None or chain.max_tokens_per_holder is None:
        return ChainCapsView(str(chain.chain_eid), chain.chain_name, "no token yet", "no token yet")
    return ChainCapsView(
        id=str(chain.chain_eid),
        chain=chain.chain_name,
        holders=_used(CapRule.MAX_HOLDERS, chain.holders, chain.max_holders, asset),
        largest=_used(CapRule.MAX_TOKENS, int(chain.largest_holding), int(chain.max_tokens_per_holder), asset),
    )


def total_view(caps: AssetCaps, asset: AssetDetail) -> ChainCapsView:
    """Return the row of all chains together."""
    holders = sum(chain.holders for chain in caps.chains)
    limit = amount_words(CapRule.MAX_TOKENS, caps.max_tokens_per_holder, asset.symbol, asset.decimals)
    return ChainCapsView(
        id="total",
        chain="All chains",
        holders=_used(CapRule.MAX_HOLDERS, holders, caps.max_holders, asset),
        largest=limit if caps.max_tokens_per_holder == "0" else f"{limit} for each holder",
    )


def _used(rule: CapRule, used: int, limit: int, asset: AssetDetail) -> str:
    number = f"{used:,}" if rule is CapRule.MAX_HOLDERS else rounded(used, asset.decimals)
    words = amount_words(rule, str(limit), asset.symbol, asset.decimals)
    return f"{number} of {words}" if limit else f"{number}, {words}"
