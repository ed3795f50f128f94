"""The view of a machine of a node pool at one moment: it responds as a real node whose newest block is `height`."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from eth_account import Account
from eth_account.typed_transactions import TypedTransaction
from eth_utils.conversions import to_hex
from eth_utils.crypto import keccak
from hexbytes import HexBytes

from tests.support.node_pool import refusals
from tests.support.node_pool.anvil import Anvil
from tests.support.node_pool.branches import Branch, Json
from tests.support.node_pool.options import PoolOptions
from tests.support.node_pool.refusals import Refusal

STATE = {
    "eth_call": 1,
    "eth_estimateGas": 1,
    "eth_createAccessList": 1,
    "eth_getBalance": 1,
    "eth_getCode": 1,
    "eth_getTransactionCount": 1,
    "eth_getStorageAt": 2,
    "eth_feeHistory": 1,
}
"""Methods that read state, and where their block parameter is."""


@dataclass(frozen=True)
class View:
    """A machine at one moment. `old` is the branch that it still follows after a reorg.

    State (calls, estimates, balances, code) always comes from anvil, which has one branch only: a machine on the old
    branch reads state of the new one at its own height. Blocks, receipts, transactions, logs and nonces are those of
    the old branch.
    """

    height: int
    old: Branch | None
    is_syncing: bool
    options: PoolOptions
    _node: Anvil
    _dice: Random

    async def answer(self, method: str, parameters: Sequence[Any]) -> Any:
        """Return the result of a call. Raises Refusal."""
        if method in self.options.missing:
            raise refusals.no_method(method)
        if method in STATE:
            return await self._state(method, list(parameters))
        special = getattr(self, f"_{method.removeprefix('eth_')}", None) if method.startswith("eth_") else None
        if special is not None:
            return await special(*parameters)
        return await self._node.call(method, *parameters)

    async def _blockNumber(self) -> str:
        return hex(self.height)

    async def _syncing(self) -> Any:
        if not self.is_syncing:
            return False
        return {
            "startingBlock": "0x0",
            "currentBlock": hex(self.height),
            "highestBlock": hex(await self._node.height()),
        }

    # State

    async def _state(self, method: str, parameters: list[Any]) -> Any:
        place = STATE[method]
        tag = parameters[place] if len(parameters) > place else "latest"
        number = await self._readable(tag)
        at: str = "pending" if tag == "pending" and await self._is_at_head() else hex(number)
        if method == "eth_getTransactionCount" and self._old_at(number) is not None:
            return await self._old_count(parameters[0], number)
        try:
            return await self._node.call(method, *parameters[:place], at, *parameters[place + 1 :])
        except Refusal as error:
            if "BlockOutOfRange" in str(error):  # more blocks back than anvil keeps
                return self._forgotten(method, number)
            raise

    def _forgotten(self, method: str, number: int) -> Any:
        """State that anvil no longer keeps. A syncing machine is at a height where the chain was empty."""
        if not self.is_syncing:
            raise refusals.no_state(number, self._dice)
        if method in ("eth_estimateGas", "eth_createAccessList", "eth_feeHistory"):
            raise refusals.insufficient_funds()
        return "0x" if method in ("eth_call", "eth_getCode") else "0x0"

    async def _is_at_head(self) -> bool:
        return self.old is None and self.height == await self._node.height()

    async def _readable(self, tag: Any) -> int:
        """Return the block of a parameter, if this machine has its state."""
        number = await self._number(tag)
        if number is None or number > self.height:
            raise refusals.no_header()
        if self.options.history is not None and number < self.height - self.options.history:
            raise refusals.no_state(number, self._dice)
        return number

    async def _number(self, tag: Any) -> int | None:
        """Return the number that a block parameter names; None for a hash that this machine does not know."""
        if tag in (None, "latest", "pending"):
            return self.height
        if tag == "earliest":
            return 0
        if tag in ("safe", "finalized"):
            below = self.options.safe if tag == "safe" else self.options.final
            if below is None:
                raise refusals.no_tag(tag, self._dice)
            return max(0, self.height - below)
        if isinstance(tag, dict):
            if "blockNumber" in tag:
                return int(tag["blockNumber"], 16)
            return await self._number_of(tag["blockHash"])
        return int(tag, 16)

    async def _number_of(self, block_hash: str) -> int | None:
        if self.old is not None and (number := self.old.number_of(block_hash)) is not None:
            return number if number <= self.height else None
        block = await self._node.call("eth_getBlockByHash", block_hash, False)
        number = None if block is None else int(block["number"], 16)
        return None if number is None or number > self.height or self._old_at(number) is not None else number

    def _old_at(self, number: int) -> Branch | None:
        """Return the old branch, if it has a block of that number for this machine."""
        return self.old if self.old is not None and number > self.old.fork else None

    async def _old_count(self, address: str, number: int) -> str:
        assert self.old is not None
        before = await self._node.call("eth_getTransactionCount", address, hex(self.old.fork))
        return hex(int(before, 16) + self.old.sent_by(address, number))

    # Blocks

    async def _getBlockByNumber(self, tag: Any, full: bool = False) -> Json | None:
        number = await self._number(tag)
        if number is None or number > self.height:
            return None
        old = self._old_at(number)
        if old is not None:
            return old.block(number, full)
        block: Json | None = await self._node.call("eth_getBlockByNumber", hex(number), full)
        return block

    async def _getBlockByHash(self, block_hash: str, full: bool = False) -> Json | None:
        number = await self._number_of(block_hash)
        return None if number is None else await self._getBlockByNumber(hex(number), full)

    async def _getBlockReceipts(self, tag: Any) -> list[Json] | None:
        number = await self._number(tag)
        if number is None or number > self.height:
            return None
        old = self._old_at(number)
        if old is not None:
            return [entry for entry in old.receipts.values() if int(entry["blockNumber"], 16) == number]
        receipts: list[Json] = await self._node.call("eth_getBlockReceipts", hex(number))
        return receipts

    # Transactions

    async def _getTransactionReceipt(self, tx_hash: str) -> Json | None:
        return await self._mined("eth_getTransactionReceipt", tx_hash)

    async def _getTransactionByHash(self, tx_hash: str) -> Json | None:
        entry = await self._mined("eth_getTransactionByHash", tx_hash)
        if entry is not None:
            return entry
        response: Json | None = await self._node.call("eth_getTransactionByHash", tx_hash)
        # Every machine has the whole mempool; transactions mined above its head are still pending for it.
        return response and response | {"blockHash": None, "blockNumber": None, "transactionIndex": None}

    async def _mined(self, method: str, tx_hash: str) -> Json | None:
        if self.old is not None and tx_hash in self.old.receipts:
            is_receipt = method == "eth_getTransactionReceipt"
            entry = self.old.receipts[tx_hash] if is_receipt else self.old.transaction(tx_hash)
        else:
            entry = await self._node.call(method, tx_hash)
            if entry is not None and entry["blockNumber"] and self._old_at(int(entry["blockNumber"], 16)):
                return None
        if entry is None or not entry["blockNumber"] or int(entry["blockNumber"], 16) > self.height:
            return None
        return entry

    async def _sendRawTransaction(self, raw: str) -> str:
        try:
            signed = TypedTransaction.from_bytes(HexBytes(raw)).as_dict()
        except (TypeError, ValueError):
            return str(await self._node.call("eth_sendRawTransaction", raw))  # anvil refuses it in its own words
        await self._check_sender(str(Account.recover_transaction(raw)), signed)
        try:
            tx_hash = str(await self._node.call("eth_sendRawTransaction", raw))
            if self.options.automine:
                await self._node.call("anvil_mine", "0x1")
            return tx_hash
        except Refusal as error:
            if "nonce too low" in str(error):
                return to_hex(keccak(hexstr=raw))  # mined above this machine's head: it does not know, and accepts it
            if "already" in str(error):
                raise Refusal(-32000, "already known") from None
            raise

    async def _check_sender(self, sender: str, signed: Any) -> None:
        count = int(await self._state("eth_getTransactionCount", [sender, "latest"]), 16)
        if int(signed["nonce"]) < count:
            raise refusals.nonce_too_low(count, int(signed["nonce"]))
        cost = int(signed["gas"]) * int(signed.get("maxFeePerGas", 0)) + int(signed["value"])
        if int(await self._state("eth_getBalance", [sender, "latest"]), 16) < cost:
            raise refusals.insufficient_funds()

    # Logs

    async def _getLogs(self, query: Json) -> list[Json]:
        most = self.options.log_addresses
        if most is not None and isinstance(query.get("address"), list) and len(query["address"]) > most:
            raise refusals.too_many_addresses(most)
        first, last = await self._range(query)
        logs = await self._logs(query, first, min(last, self.height))
        if self.options.log_results is not None and len(logs) > self.options.log_results:
            raise refusals.too_many_logs(self.options.log_results, self._dice)
        return logs

    async def _range(self, query: Json) -> tuple[int, int]:
        if "blockHash" in query:
            number = await self._number_of(query["blockHash"])
            if number is None:
                raise refusals.unknown_block()
            return number, number
        first, last = await self._number(query.get("fromBlock")), await self._number(query.get("toBlock"))
        assert first is not None
        assert last is not None
        if self.options.log_range is not None and last - first + 1 > self.options.log_range:
            raise refusals.range_too_wide(self.options.log_range, self._dice)
        if last > self.height and self.options.refuses_logs_beyond_head:
            raise refusals.beyond_head()
        return first, last

    async def _logs(self, query: Json, first: int, last: int) -> list[Json]:
        if first > last:
            return []
        here = {key: value for key, value in query.items() if key != "blockHash"}
        last_known = last if self.old is None else min(last, self.old.fork)
        logs: list[Json] = []
        if first <= last_known:
            logs = await self._node.call("eth_getLogs", here | {"fromBlock": hex(first), "toBlock": hex(last_known)})
        return logs + (self.old.logs(first, last, query) if self.old is not None else [])
