"""Blocks of an embedded chain for transfers that were never sent, so that holders can be read at one of them.

A block that is in the chain's future would count as a transfer that came after every time.
"""

from dataclasses import dataclass

from backend.chain.devnet import clock
from backend.chain.indexer import indexer
from backend.chain.rpc.json_rpc import connect
from tests.bench.many_rows_sql import EID

NUMBER = 200
"""A node can be asked for its state at any of so many blocks."""
_ONE = "0x600160005260206000f3"
"""A contract that answers 1 to every call: so much of each token an account has, and it is frozen."""


@dataclass(frozen=True)
class Blocks:
    """Consecutive blocks, a second apart."""

    first: int
    began: int
    """Unix seconds."""

    @property
    def middle(self) -> int:
        """Return the block up to which half of the transfers came."""
        return self.first + NUMBER // 2 - 1

    @property
    def middle_time(self) -> int:
        """Return its time, Unix seconds."""
        return self.began + NUMBER // 2 - 1


async def mine(tokens: list[str]) -> Blocks:
    """Mine the blocks, with contracts at the addresses of the tokens, and wait until the indexer has read them."""
    rpc = await connect(int(EID))
    for token in tokens:
        await rpc.request("anvil_setCode", token, _ONE)
    first = await rpc.height() + 1
    await rpc.request("anvil_mine", hex(NUMBER), "0x1")
    clock.advance(NUMBER)  # the chain is ahead of the machine now
    times = [int((await rpc.request("eth_getBlockByNumber", hex(n), False))["timestamp"], 16) for n in _ends(first)]
    if times[1] - times[0] != NUMBER - 1:
        raise SystemExit(f"the blocks are not a second apart: {times}")
    await indexer.catch_up(int(EID), first + NUMBER - 1)
    return Blocks(first, times[0])


def _ends(first: int) -> tuple[int, int]:
    return first, first + NUMBER - 1
