"""Included, safe and final blocks of a chain, by the chain's terms."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from backend.chain.finality import Finality
from backend.chain.rpc import node_urls
from backend.chain.rpc.json_rpc import Rpc
from backend.chain.rpc.terms import ChainTerms, terms_of
from backend.chain.rpc.transport import Request
from backend.core.runtime import runtime

UNTAGGED = 1_200.0
"""Seconds of blocks after which a block counts as safe or final on a node that does not know the tag: longer than
Ethereum and its rollups take to finalize (about 13 minutes)."""


@dataclass(frozen=True, slots=True)
class Heads:
    """The newest block of a chain, and the newest that is included, safe and final; 0 before the first one."""

    latest: int
    included: int
    safe: int
    final: int

    def of(self, block: int) -> Finality | None:
        """Return the finality of a block; None if it has too few confirmations."""
        if block > self.included:
            return None
        if block > self.safe:
            return Finality.INCLUDED
        return Finality.SAFE if block > self.final else Finality.FINAL


@dataclass
class KnownHeads:
    """Heads by chain. A block that was safe or final stays so, whichever machine answers next."""

    by_chain: dict[int, Heads] = field(default_factory=dict)


async def heads(rpc: Rpc) -> Heads:
    """Query a chain's heads. Raises ChainUnavailable and RpcError."""
    found, _ = await with_blocks(rpc, [])
    if node_urls.is_embedded(rpc.eid):
        return found
    seen = runtime.part(KnownHeads).by_chain
    seen[rpc.eid] = _joined(seen.get(rpc.eid, found), found)
    return seen[rpc.eid]


async def with_blocks(rpc: Rpc, numbers: Sequence[int]) -> tuple[Heads, dict[int, str]]:
    """Query one machine for its heads and for the hashes of blocks, without those it does not have. A block that is
    final for one machine may have been replaced for another, so its hash must come from the same one.

    Raises ChainUnavailable and RpcError.
    """
    terms = terms_of(rpc.eid)
    tags = [tag for tag in (terms.safe, terms.final) if isinstance(tag, str)]
    calls: list[Request] = [("eth_getBlockByNumber", [hex(number), False]) for number in numbers]
    calls += [("eth_getBlockByNumber", [tag, False]) for tag in tags]
    *answer, latest = await rpc.attempt([*calls, ("eth_blockNumber", [])])
    if isinstance(latest, Exception):
        raise latest
    blocks = [block if isinstance(block, dict) else None for block in answer]
    hashes = {number: block["hash"] for number, block in zip(numbers, blocks, strict=False) if block}
    named = zip(tags, blocks[len(numbers) :], strict=True)
    return _heads(terms, int(latest, 16), {tag: int(block["number"], 16) for tag, block in named if block}), hashes


def known(eid: int) -> Heads | None:
    """Return this process's latest heads of a public chain; None if it has not queried them yet."""
    return runtime.part(KnownHeads).by_chain.get(eid)


def forget(eid: int) -> None:
    """Forget the heads, because an operator rewinds the chain: final blocks must be queried again."""
    runtime.part(KnownHeads).by_chain.pop(eid, None)


def _heads(terms: ChainTerms, latest: int, tagged: dict[str, int]) -> Heads:
    included = max(0, latest - terms.confirmations)
    safe = min(included, _below(terms, terms.safe, latest, tagged))
    return Heads(latest, included, safe, min(safe, _below(terms, terms.final, latest, tagged)))


def _below(terms: ChainTerms, measure: str | int, latest: int, tagged: dict[str, int]) -> int:
    if isinstance(measure, str):
        if measure in tagged:
            return tagged[measure]
        measure = max(128, math.ceil(UNTAGGED / terms.block_time))
    return max(0, latest - measure)


def _joined(before: Heads, now: Heads) -> Heads:
    return Heads(
        max(before.latest, now.latest),
        max(before.included, now.included),
        max(before.safe, now.safe),
        max(before.final, now.final),
    )
