"""Which blocks of a chain are included, safe and final, by the chain's terms."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from backend.chain import endpoints
from backend.chain.rpc import Rpc
from backend.chain.terms import ChainTerms, Finality, terms_of
from backend.chain.transport import Request

UNTAGGED = 1_200.0
"""Seconds of blocks after which a block counts as safe or final on a node that does not know the tag: longer than
Ethereum takes to finalize (about 13 minutes), and rollups with it."""


@dataclass(frozen=True, slots=True)
class Heads:
    """The newest block of a chain, and the newest that is included, safe and final; 0 where there is none yet."""

    latest: int
    included: int
    safe: int
    final: int

    def of(self, block: int) -> Finality | None:
        """Return how sure a block is; None where too few blocks lie on top of it."""
        if block > self.included:
            return None
        if block > self.safe:
            return Finality.INCLUDED
        return Finality.SAFE if block > self.final else Finality.FINAL


_known: dict[int, Heads] = {}
"""By chain. A block that was safe or final stays so, whichever machine answers next."""


async def heads(rpc: Rpc) -> Heads:
    """Ask a chain how far it is. Raises ChainUnavailable and RpcError."""
    found, _ = await with_blocks(rpc, [])
    if endpoints.is_embedded(rpc.eid):
        return found
    _known[rpc.eid] = _joined(_known.get(rpc.eid, found), found)
    return _known[rpc.eid]


async def with_blocks(rpc: Rpc, numbers: Sequence[int]) -> tuple[Heads, dict[int, str]]:
    """Ask one machine how far the chain is for it and for the hashes of blocks, without those it does not have. A block
    that is final for one machine may have been replaced for another, so its hash has to come from the same one.

    Raises ChainUnavailable and RpcError.
    """
    terms = terms_of(rpc.eid)
    tags = [tag for tag in (terms.safe, terms.final) if isinstance(tag, str)]
    calls: list[Request] = [("eth_getBlockByNumber", [hex(number), False]) for number in numbers]
    calls += [("eth_getBlockByNumber", [tag, False]) for tag in tags]
    *told, latest = await rpc.attempt([*calls, ("eth_blockNumber", [])])
    if isinstance(latest, Exception):
        raise latest
    blocks = [block if isinstance(block, dict) else None for block in told]
    hashes = {number: block["hash"] for number, block in zip(numbers, blocks, strict=False) if block}
    named = zip(tags, blocks[len(numbers) :], strict=True)
    return _heads(terms, int(latest, 16), {tag: int(block["number"], 16) for tag, block in named if block}), hashes


def known(eid: int) -> Heads | None:
    """Return what this process last heard of a public chain; None where it has not asked yet."""
    return _known.get(eid)


def forget(eid: int) -> None:
    """An operator rewinds the chain: what was final is to be asked again."""
    _known.pop(eid, None)


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
