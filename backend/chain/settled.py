"""State of a chain that counts: read as deep as a request there succeeds, by the chain's terms."""

from collections.abc import Awaitable, Callable
from typing import Final

from backend.chain import finality
from backend.chain.errors import RpcError
from backend.chain.finality import Heads
from backend.chain.rpc import Rpc
from backend.chain.terms import Finality, reaches, terms_of
from backend.chain.transport import is_pruned

Look = Callable[[int | None], Awaitable[bool]]
"""Reads something at a block, or at the newest one."""
MOST = 10_000
_seen: Final[dict[tuple[int, str], int]] = {}
"""By chain and subject, the newest block when something was first seen in the newest state."""


async def block(rpc: Rpc) -> int:
    """Return the newest block that is deep enough."""
    return _deep(rpc, await finality.heads(rpc))


async def holds(rpc: Rpc, subject: str, look: Look) -> bool:
    """Whether something that does not end once it is so holds deep enough.

    A node that keeps no older state is asked twice: it has to hold still once the block of the first look is deep.
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
    key = (rpc.eid, subject)
    if not await look(None):
        _seen.pop(key, None)
        return False
    if len(_seen) >= MOST:
        _seen.clear()
    return _seen.setdefault(key, heads.latest) <= deep


async def is_included(rpc: Rpc, tx_hash: str) -> bool:
    """Whether a transaction is in a block that is deep enough."""
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
