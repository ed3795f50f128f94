"""The terms of a chain: how its nodes are queried, and when one of its blocks counts.

Sources: LayerZero's and the chains' own documentation of block times, block tags and RPC limits, read in November 2026.
`SIGNUM_CHAIN_TERMS` overrides any of them per chain. The defaults of mainnets are safe for assets of value: a request
succeeds when its transactions are final. On a test network nothing has value, so included is enough.
"""

from dataclasses import dataclass, replace
from typing import Final

from backend.chain.finality import Finality
from backend.chain.rpc import node_urls
from backend.core.settings import settings

FINALIZED, SAFE = "finalized", "safe"
"""Block tags of the JSON-RPC interface."""


_ORDER = tuple(Finality)


def reaches(level: Finality | None, wanted: Finality) -> bool:
    """Return whether a block has at least the wanted finality; one without a level is not included yet."""
    return level is not None and _ORDER.index(level) >= _ORDER.index(wanted)


@dataclass(frozen=True, slots=True)
class ChainTerms:
    """The terms of one chain."""

    block_time: float
    """Seconds between two blocks, on average."""
    confirmations: int
    """Blocks on top of a transaction's block before the next step relies on it and the indexer reads it."""
    safe: str | int
    """The block tag that names the newest safe block, or a number of blocks below the newest."""
    final: str | int
    """The block tag that names the newest final block, or a number of blocks below the newest."""
    succeeds_at: Finality
    """The finality at which a request on this chain succeeds."""
    log_range: int = 2_000
    """Maximum number of blocks of one `eth_getLogs`; the indexer halves it if a node refuses, and grows it again up to
    this."""
    history: int | None = None
    """Blocks below the newest whose state can be read: 0 is only the newest block, None all of them."""
    batch: int = 20
    """Maximum number of calls in a JSON-RPC batch; 1 sends each call separately."""


_EMBEDDED: Final = ChainTerms(0.1, 0, 0, 0, Finality.INCLUDED, log_range=10_000, batch=200)
_MAINNET: Final = ChainTerms(2.0, 12, 64, 128, Finality.FINAL)
"""An unknown mainnet: no tag is trusted."""
_TESTNET: Final = ChainTerms(2.0, 2, 12, 64, Finality.INCLUDED)
_ROLLUP: Final = ChainTerms(2.0, 12, SAFE, FINALIZED, Finality.FINAL)
"""Until its batch is final on Ethereum, a rollup's block is only its sequencer's promise."""
_HYPER: Final = ChainTerms(1.0, 2, 2, 5, Finality.FINAL, log_range=50, history=0)
"""HyperEVM's public RPC answers `eth_call` only for the newest block, and logs of at most 50 blocks."""

DEFAULTS: Final[dict[int, ChainTerms]] = {
    30101: ChainTerms(12.0, 4, SAFE, FINALIZED, Finality.FINAL),
    30102: ChainTerms(0.75, 12, SAFE, FINALIZED, Finality.FINAL),
    30106: ChainTerms(1.5, 2, SAFE, FINALIZED, Finality.FINAL),
    30109: ChainTerms(2.0, 12, 64, FINALIZED, Finality.FINAL),
    30110: replace(_ROLLUP, block_time=0.25, confirmations=40),
    30111: _ROLLUP,
    30184: _ROLLUP,
    30367: _HYPER,
    40161: replace(_TESTNET, block_time=12.0, safe=SAFE, final=FINALIZED),
    40231: replace(_TESTNET, block_time=0.25, safe=SAFE, final=FINALIZED),
    40232: replace(_TESTNET, safe=SAFE, final=FINALIZED),
    40245: replace(_TESTNET, safe=SAFE, final=FINALIZED),
    40362: replace(_HYPER, succeeds_at=Finality.INCLUDED),
}
"""By LayerZero's endpoint id."""


def terms_of(eid: int) -> ChainTerms:
    """Return the terms of a chain: those of embedded chains, or its defaults overridden by the operator's settings."""
    return _EMBEDDED if node_urls.is_embedded(eid) else public_terms_of(eid)


def public_terms_of(eid: int) -> ChainTerms:
    """Return the terms of a public chain, even if an embedded chain currently replaces it."""
    terms = DEFAULTS.get(eid, _MAINNET if eid < 40_000 else _TESTNET)
    if eid in settings().confirmations:
        terms = replace(terms, confirmations=settings().confirmations[eid])
    override = settings().chain_terms.get(eid)
    if override is None:
        return terms
    given = override.model_dump(exclude_unset=True)
    if "succeeds_at" in given:
        given["succeeds_at"] = Finality(given["succeeds_at"])
    return replace(terms, **given)


def confirmations(eid: int) -> int:
    """Return the number of blocks on top of a transaction's block before it counts as included."""
    return terms_of(eid).confirmations
