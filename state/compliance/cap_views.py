"""The limits of an asset by chain, as its page shows them."""

from dataclasses import dataclass

from backend.caps.schemas import AssetCaps, CapRule, ChainCaps
from state.assets.detail import AssetDetail
from state.compliance.cap_words import amount_words
from state.core.units import rounded


@dataclass
class ChainCapsView:
    """A chain's row: how many holders count of how many, the maximum per holder, and the largest holding, as text."""

    id: str
    chain: str
    holders: str
    maximum: str
    largest: str


def chain_caps_view(chain: ChainCaps, asset: AssetDetail) -> ChainCapsView:
    """Convert a chain's limits to text: `4 of 250`."""
    if chain.max_holders is None or chain.max_tokens_per_holder is None:
        return ChainCapsView(str(chain.chain_eid), chain.chain_name, "no token yet", "no token yet", "")
    return ChainCapsView(
        id=str(chain.chain_eid),
        chain=chain.chain_name,
        holders=_holders(chain.holders, chain.max_holders),
        maximum=_maximum(chain.max_tokens_per_holder, asset),
        largest=f"largest holding {rounded(chain.largest_holding, asset.decimals, 2)} {asset.symbol}",
    )


def total_view(caps: AssetCaps, asset: AssetDetail) -> ChainCapsView:
    """Return the row of all chains together."""
    holders = sum(chain.holders for chain in caps.chains)
    return ChainCapsView(
        id="total",
        chain="All chains",
        holders=_holders(holders, caps.max_holders),
        maximum=_maximum(caps.max_tokens_per_holder, asset),
        largest="",
    )


def _holders(counted: int, limit: int) -> str:
    return f"{counted:,} of {limit:,}" if limit else f"{counted:,}, no limit"


def _maximum(limit: str, asset: AssetDetail) -> str:
    return amount_words(CapRule.MAX_TOKENS, limit, asset.symbol, asset.decimals)
