"""A token at a block, as its chain says: what a pack states, and what a verification compares with it."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from backend.chain.abi.rule_sets import TokenRules
from backend.chain.bindings import token
from backend.chain.errors import RpcError
from backend.chain.indexer import supply_events
from backend.chain.rpc import node_urls
from backend.chain.rpc.json_rpc import connect
from backend.core.errors import NotFound, Unavailable
from backend.evidence import rules


@dataclass(frozen=True)
class TokenState:
    """A token at a block; `supply` in base units. Supply and rules are None before the token was there."""

    block_hash: str
    block_time: datetime
    supply: int | None = None
    rules_version: int | None = None
    rules: dict[str, Any] | None = None

    @property
    def rules_sha256(self) -> str | None:
        """Return the hash of the rules."""
        return None if self.rules is None else rules.rules_sha256(self.rules)


async def read(eid: int, at: str, block: int) -> TokenState:
    """Return a token at a block. Raises NotFound if the chain does not have the block, and Unavailable if its node does
    not provide the block's state."""
    rpc = await connect(eid)
    try:
        header, code = await rpc.batch(
            [("eth_getBlockByNumber", [hex(block), False]), ("eth_getCode", [at, hex(block)])]
        )
        if header is None:
            raise NotFound(f"The chain has no block {block:,}.")
        when = datetime.fromtimestamp(int(header["timestamp"], 16), UTC)
        if code in ("0x", "0x0"):
            return TokenState(header["hash"], when)
        supply, version, found = await rpc.read_many(
            [(token.NAME, at, name) for name in ("totalSupply", "rulesVersion", "rules")], block=block
        )
    except RpcError as error:
        why = " A devnet's node loses it when it is restarted." if node_urls.is_embedded(eid) else ""
        raise Unavailable(f"The chain's node does not keep the state of that block.{why}") from error
    return TokenState(header["hash"], when, int(supply), int(version), TokenRules.of_abi(found).as_dict())


async def read_events(eid: int, at: str, first: int, block: int) -> TokenState | None:
    """Return a token at a block whose state its node does not keep: its supply by mints and burns, without rules. None
    if the node does not list them all. `first` is the block of the token's creation."""
    supply = await supply_events.supply(eid, at, first, block)
    header = await (await connect(eid)).request("eth_getBlockByNumber", hex(block), False)
    if supply is None or header is None:
        return None
    return TokenState(header["hash"], datetime.fromtimestamp(int(header["timestamp"], 16), UTC), supply)
