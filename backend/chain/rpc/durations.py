"""Durations until a block of a chain is included, safe or final, in seconds and as text. Pure functions."""

import math
from typing import Final

from backend.chain.finality import Finality
from backend.chain.rpc.terms import FINALIZED, SAFE, ChainTerms

_MINUTE = 60.0
_ETHEREUM: Final = {SAFE: 6.5 * _MINUTE, FINALIZED: 13 * _MINUTE}
"""One and two epochs of 32 slots."""
_ROLLUP: Final = {SAFE: 5 * _MINUTE, FINALIZED: 20 * _MINUTE}
"""Until its batch is on Ethereum, and final there."""
TAG_SECONDS: Final[dict[int, dict[str, float]]] = {
    30101: _ETHEREUM,
    40161: _ETHEREUM,
    30102: {SAFE: 1.5, FINALIZED: 2.5},
    40102: {SAFE: 1.5, FINALIZED: 2.5},
    30106: {SAFE: 2.0, FINALIZED: 2.0},
    40106: {SAFE: 2.0, FINALIZED: 2.0},
    30109: {SAFE: 5.0, FINALIZED: 5.0},
    40267: {SAFE: 5.0, FINALIZED: 5.0},
    30367: {SAFE: 1.0, FINALIZED: 1.0},
    40362: {SAFE: 1.0, FINALIZED: 1.0},
}
"""By endpoint ID: seconds that a block tag is behind the newest block. Any other chain counts as a rollup."""


def tag_seconds(eid: int, tag: str) -> float:
    """Return how long it takes until a block is below a tag of a chain."""
    return 0.0 if tag == "latest" else TAG_SECONDS.get(eid, _ROLLUP)[tag]


def seconds(eid: int, terms: ChainTerms, finality: Finality) -> float:
    """Return how long it takes until a block of a chain is `finality`."""
    depth = {Finality.INCLUDED: terms.confirmations, Finality.SAFE: terms.safe, Finality.FINAL: terms.final}[finality]
    return tag_seconds(eid, depth) if isinstance(depth, str) else depth * terms.block_time


def in_words(duration: float) -> str:
    """Return a duration as text: "about 13 minutes"."""
    if duration < 1.5:
        return "about a second"
    if duration < 1.5 * _MINUTE:
        return f"about {math.ceil(duration)} seconds"
    return f"about {math.ceil(duration / _MINUTE)} minutes"


def success(eid: int, terms: ChainTerms) -> str:
    """Return a sentence that says when a request on a chain succeeds."""
    if terms.succeeds_at is Finality.INCLUDED and terms.confirmations == 0:
        return "Requests succeed as soon as their transactions are in a block."
    how_long = in_words(seconds(eid, terms, terms.succeeds_at))
    if terms.succeeds_at is Finality.INCLUDED:
        blocks = f"{terms.confirmations} confirmation{'' if terms.confirmations == 1 else 's'}"
        return f"Requests succeed when their transactions have {blocks} ({how_long})."
    return f"Requests succeed when their transactions are {terms.succeeds_at.value} ({how_long})."
