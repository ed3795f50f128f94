"""Reads of confirmed state: at the block depth at which a request on the chain succeeds, by the chain's terms."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from backend.chain.errors import RpcError
from backend.chain.finality import Finality
from backend.chain.rpc import finality
from backend.chain.rpc.finality import Heads
from backend.chain.rpc.json_rpc import Rpc
from backend.chain.rpc.terms import reaches, terms_of
from backend.chain.rpc.transport import is_pruned
from backend.core.runtime import runtime

Look = Callable[[int | None], Awaitable[bool]]
"""Reads something at a block, or at the newest one."""
MOST = 10_000


@dataclass
class Sightings:
    """By chain and subject, the newest block when something was first seen in the newest state."""

    blocks: dict[tuple[int, str], int] = field(default_factory=dict)


async def block(rpc: Rpc) -> int:
    """Return the newest block that is deep enough."""
    return _deep(rpc, await finality.heads(rpc))


async def holds(rpc: Rpc, subject: str, look: Look) -> bool:
    """Return whether a permanent fact is true at a deep enough block.

    A node without older state is asked twice: the fact must still be true once the block of the first read is deep
    enough.
    """
    heads = await finality.heads(rpc)
    deep = _deep(rpc, heads)
    history = terms_of(rpc.eid).history
    if history is None or heads.latest - deep <= history:
        try:
            return await look(deep)
        except RpcError as error:
            if not is_pruned(error):
                raise
    return await _held(rpc, subject, look, heads, deep)


async def _held(rpc: Rpc, subject: str, look: Look, heads: Heads, deep: int) -> bool:
    key, seen = (rpc.eid, subject), runtime.part(Sightings).blocks
    if not await look(None):
        seen.pop(key, None)
        return False
    if len(seen) >= MOST:
        seen.clear()
    return seen.setdefault(key, heads.latest) <= deep


async def is_included(rpc: Rpc, tx_hash: str) -> bool:
    """Return whether a transaction is in a block that is deep enough."""
    receipt = await rpc.request("eth_getTransactionReceipt", tx_hash)
    if receipt is None:
        return False
    level = (await finality.heads(rpc)).of(int(receipt["blockNumber"], 16))
    if not reaches(level, terms_of(rpc.eid).succeeds_at):
        return False
    found = await rpc.request("eth_getBlockByNumber", receipt["blockNumber"], False)
    return found is not None and bool(found["hash"] == receipt["blockHash"])


def _deep(rpc: Rpc, heads: Heads) -> int:
    wanted = terms_of(rpc.eid).succeeds_at
    return {Finality.INCLUDED: heads.included, Finality.SAFE: heads.safe, Finality.FINAL: heads.final}[wanted]
