"""A client of a node pool, for the tests of the pool itself."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from eth_account import Account

from backend.chain.abi import codec
from tests.support.node_pool.options import PoolOptions
from tests.support.node_pool.pool import NodePool

CHAIN_ID = 1_340_999
KEY = "0x" + "5e" * 32
SENDER = Account.from_key(KEY).address


class Caller:
    """Calls a pool as a client does."""

    def __init__(self, pool: NodePool) -> None:
        self.pool = pool
        self.http = httpx.AsyncClient(trust_env=False, timeout=20)

    async def call(self, method: str, *parameters: Any) -> Any:
        """Return the result of a call, or its error."""
        answer = (await self.post({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters})).json()
        return answer["result"] if "error" not in answer else answer["error"]

    async def post(self, body: Any) -> httpx.Response:
        """Return the response to a request."""
        return await self.http.post(self.pool.url, json=body)

    async def height(self) -> int:
        """Return the newest block that the pool reports."""
        return int(await self.call("eth_blockNumber"), 16)

    async def count(self) -> int:
        """Return the sender's nonce that the pool reports."""
        return int(await self.call("eth_getTransactionCount", SENDER, "latest"), 16)

    async def send(self, nonce: int | None = None, **changes: Any) -> str:
        """Send a transaction that transfers one wei, or with the `changes`; return its hash."""
        return str(await self.call("eth_sendRawTransaction", await self.signed(nonce, **changes)))

    async def signed(self, nonce: int | None = None, **changes: Any) -> str:
        """Return a signed transaction with the sender's next nonce, or another one."""
        if nonce is None:
            nonce = int(await self.pool.node.call("eth_getTransactionCount", SENDER, "pending"), 16)
        fields = {"type": 2, "chainId": CHAIN_ID, "nonce": nonce, "gas": 21_000, "value": 1, "to": "0x" + "11" * 20}
        fees = {"maxFeePerGas": 5 * 10**9, "maxPriorityFeePerGas": 10**9}
        return str(Account.from_key(KEY).sign_transaction(fields | fees | changes).raw_transaction.to_0x_hex())

    async def deploy(self) -> str:
        """Create a contract that emits a log with each mint; return the transaction's hash."""
        data = codec.contract("TestUSD").creation(SENDER)
        return await self.send(data=data, gas=3_000_000, to="", value=0)

    async def mint(self, coin: str) -> str:
        """Mint one unit; return the transaction's hash."""
        data = codec.contract("TestUSD").data("mint", SENDER, 1)
        return await self.send(to=coin, data=data, gas=200_000, value=0)


def batch(*methods: str) -> list[dict[str, Any]]:
    """Send calls without parameters as one request."""
    return [{"jsonrpc": "2.0", "id": number, "method": name, "params": []} for number, name in enumerate(methods)]


@asynccontextmanager
async def calling(anvil: str, **options: Any) -> AsyncIterator[Caller]:
    """A pool in front of a node, and its client."""
    pool = NodePool(anvil, PoolOptions(**options))
    await pool.start()
    caller = Caller(pool)
    try:
        yield caller
    finally:
        await caller.http.aclose()
        await pool.stop()
