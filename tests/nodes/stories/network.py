"""The public network of the stories: two chains behind node pools, LayerZero's stand-in, and their faults."""

import asyncio
import json
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import httpx
from eth_abi.abi import decode
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak

from backend.chain.abi import codec
from backend.chain.devnet.install import binary
from tests.conftest import HOME
from tests.public.network import FUNCTIONS, SENT, STAND_IN
from tests.support.node_pool.anvil import Anvil
from tests.support.node_pool.options import Batches, PoolOptions
from tests.support.node_pool.pool import NodePool
from tests.support.node_pool.refusals import Refusal
from tests.support.server import free_port

BLOCK_TIME = 0.1
PER_BLOCK, LONGEST = 4, 0.5
"""A block waits until its chain has been asked this often since the last one, for this many seconds at most. Without
batches a block takes the indexer at least two requests, and two more to read it again; a slow machine sends fewer in a
tenth of a second, and would never read up to the newest block."""
SAFE, FINAL, DEEPEST = 6, 12, 10
"""Blocks below the head that are safe and final, and the deepest reorg."""
REMEMBERED = 400
"""Blocks whose state anvil keeps in memory."""
ETHER = 10**18


class Chain:
    """An anvil with a public chain's id behind a node pool. Its rich account stands for everyone except the product."""

    def __init__(self, eid: int, chain_id: int) -> None:
        self.eid, self.chain_id = eid, chain_id
        self.endpoint = self.currency = self.outsider = ""
        self.pool: NodePool
        self.node: Anvil
        self._process: subprocess.Popen[bytes] | None = None

    async def start(self, seed: int) -> None:
        """Start anvil and its pool, and create the contracts that existed before the product."""
        port = free_port()
        words = ["--port", str(port), "--chain-id", str(self.chain_id), "--accounts", "1", "--threads", "1"]
        words += ["--hardfork", "cancun", "--prune-history", str(REMEMBERED), "--silent"]
        self._process = subprocess.Popen([str(binary(HOME)), *words])  # noqa: ASYNC220 - it starts immediately
        url = f"http://127.0.0.1:{port}"
        async with httpx.AsyncClient(transport=httpx.AsyncHTTPTransport(retries=8), trust_env=False) as client:
            await client.post(url, json={"jsonrpc": "2.0", "id": 0, "method": "eth_chainId", "params": []})
        self.pool = NodePool(url, PoolOptions(seed=seed, safe=SAFE, final=FINAL))
        await self.pool.start()
        self.node = self.pool.node
        (account,) = await self.node.call("eth_accounts")
        self.outsider = to_checksum_address(account)
        eid = codec.encode([{"type": "uint32"}], [self.eid])
        self.endpoint = await self._create(STAND_IN["bytecode"] + eid.hex())
        self.currency = await self._create(codec.contract("TestUSD").creation(self.outsider))

    async def stop(self) -> None:
        """Stop the pool and anvil; nothing is kept."""
        await self.pool.stop()
        if self._process is not None:
            self._process.terminate()
            await asyncio.to_thread(self._process.wait, 10)

    async def _create(self, code: str) -> str:
        tx_hash = await self.node.call("eth_sendTransaction", {"from": self.outsider, "data": code, "gas": hex(10**7)})
        await self.pool.mine()
        receipt = await self.node.call("eth_getTransactionReceipt", tx_hash)
        return str(to_checksum_address(receipt["contractAddress"]))

    async def send(self, to: str, data: str, gas: int = 3_000_000) -> None:
        """Send a transaction of an external account; it is mined with the next block, unless a reorg drops it."""
        fields = {"from": self.outsider, "to": to, "data": data, "gas": hex(gas)}
        await self.node.call("eth_sendTransaction", fields)

    async def give(self, address: str, currency: int) -> None:
        """Give an account quote currency permanently: wait until it is below every reorg."""
        contract = codec.contract("TestUSD")
        await self.send(self.currency, contract.data("mint", address, currency))

    async def read(self, name: str, to: str, function: str, *values: Any) -> Any:
        """Return the result of a view function, from anvil."""
        contract = codec.contract(name)
        response = await self.node.call("eth_call", {"to": to, "data": contract.data(function, *values)}, "latest")
        return contract.answer(function, response)


def nature(dice: Random, is_plain: bool) -> dict[str, Any]:
    """Capabilities of a provider. `is_plain`: the chain's terms expect the latest state only, few logs and no tags."""
    # If only the latest state is available, only a whole batch shows its machine: `signum chain check` says that such a
    # node without batches is not good enough.
    batches = Batches.ANSWERED if is_plain else dice.choice([*[Batches.ANSWERED] * 5, *list(Batches)[1:]])
    return {
        "batches": batches,
        "most_calls": dice.choice([None, None, 10]),
        "splits_batches": not is_plain and dice.random() < 0.2,
        "log_range": 50 if is_plain else dice.choice([None, 2_000, 50, 5]),
        "log_results": dice.choice([10_000, 20]),
        "refuses_logs_beyond_head": dice.random() < 0.3,
        "history": 0 if is_plain else dice.choice([None, 128]),
        "safe": None if is_plain else SAFE,
        "final": None if is_plain else FINAL,
        "missing": frozenset(dice.sample(["eth_maxPriorityFeePerGas", "eth_feeHistory"], dice.randint(0, 2))),
        "automine": False,
    }


def weather(dice: Random) -> dict[str, Any]:
    """The state of the machines for a while."""
    return {
        "seed": dice.randrange(2**32),
        "machines": dice.randint(1, 4),
        "most_behind": dice.choice([0, 0, 3, 8, 20]),
        "syncing_at": dice.choice([None, None, None, 3]),
        "rate_limited": dice.choice([0.0, 0.0, 0.02, 0.08]),
        "retry_after": dice.choice([0, 0, 1]),
        "gateway_errors": dice.choice([0.0, 0.0, 0.03]),
        "lost": dice.choice([0.0, 0.3, 1.0]),
        "hangs": dice.random() < 0.1,
        "switches_within": dice.choice([0, 5, 40]),
        "returned": dice.choice([1.0, 0.7, 0.0]),
    }


class Network:
    """Sepolia, whose requests succeed at finality, and Base Sepolia, which behaves as HyperEVM's public RPC."""

    def __init__(self, seed: int, log: Path) -> None:
        self._dice = Random(f"{seed}:network")
        self._log = log
        self.chains = {eid: Chain(eid, chain_id) for eid, chain_id in ((40161, 11155111), (40245, 84532))}
        self.first, self.second = self.chains.values()
        self.reorgs = 0
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Start the chains, which mine by the clock, and the executor."""
        for chain in self.chains.values():
            await chain.start(self._dice.randrange(2**32))
            chain.pool.become(automine=False)
            chain.pool.keep_mining(BLOCK_TIME, PER_BLOCK, LONGEST)
        self._tasks.append(asyncio.create_task(deliver(self.chains)))

    async def stop(self) -> None:
        """Stop everything."""
        self.calm()
        for task in self._tasks:
            task.cancel()
        for chain in self.chains.values():
            await chain.stop()

    def settings(self) -> dict[str, str]:
        """Return the settings of an operator for these chains."""
        terms: dict[str, Any] = {"block_time": BLOCK_TIME, "confirmations": 2}
        tags = terms | {"safe": "safe", "final": "finalized", "succeeds_at": "final"}
        plain = terms | {"safe": SAFE, "final": FINAL, "succeeds_at": "included", "log_range": 50, "history": 0}
        by_eid = {str(eid): chain for eid, chain in self.chains.items()}
        return {
            "SIGNUM_RPC_URLS": json.dumps({eid: chain.pool.url for eid, chain in by_eid.items()}),
            "SIGNUM_ENDPOINTS": json.dumps({eid: chain.endpoint for eid, chain in by_eid.items()}),
            "SIGNUM_QUOTE_TOKENS": json.dumps({eid: chain.currency for eid, chain in by_eid.items()}),
            "SIGNUM_CHAIN_TERMS": json.dumps({str(self.first.eid): tags, str(self.second.eid): plain}),
        }

    def rage(self) -> None:
        """Start changing the machines' state and reorganizing the chains, each after a number of requests."""
        self.change_providers()
        for chain in self.chains.values():
            self._tasks += [asyncio.create_task(self._change(chain)), asyncio.create_task(self._reorganize(chain))]

    async def _change(self, chain: Chain) -> None:
        while True:
            options = weather(self._dice)
            chain.pool.become(**options)
            self._note(chain, f"{options}")
            await asked(chain, self._dice.randint(20, 150))

    async def _reorganize(self, chain: Chain) -> None:
        while True:
            await asked(chain, self._dice.randint(40, 300))
            depth = self._dice.randint(1, DEEPEST)
            await chain.pool.reorg(depth)
            self.reorgs += 1
            self._note(chain, f"a reorg of {depth} blocks, now at {await chain.node.height()}")

    def _note(self, chain: Chain, what: str) -> None:
        with self._log.open("a") as log:
            log.write(f"{datetime.now(UTC).isoformat()} {chain.eid} {what}\n")

    def change_providers(self) -> None:
        """Switch to other providers while no server runs: a provider's capabilities do not change while it is used."""
        for chain in self.chains.values():
            options = nature(self._dice, chain is self.second)
            chain.pool.reset(**options)
            self._note(chain, f"{options}")

    @property
    def sent(self) -> int:
        """How many transactions reached the nodes."""
        return sum(chain.pool.sent for chain in self.chains.values())

    @property
    def asked(self) -> int:
        """How many requests reached the nodes."""
        return sum(chain.pool.requests for chain in self.chains.values())

    async def buried(self, blocks: int) -> None:
        """Return when each chain has this many more blocks."""
        for chain in self.chains.values():
            until = await chain.node.height() + blocks
            while await chain.node.height() < until:  # noqa: ASYNC110 - the chain has no event
                await asyncio.sleep(BLOCK_TIME)

    async def height(self) -> int:
        """Return the number of blocks of both chains."""
        return sum([await chain.node.height() for chain in self.chains.values()])

    def calm(self) -> None:
        """Switch the pools to single healthy machines, and let the chains only grow."""
        while len(self._tasks) > 1:
            self._tasks.pop().cancel()
        for chain in self.chains.values():
            chain.pool.reset(automine=False, safe=SAFE, final=FINAL)


async def asked(chain: Chain, requests: int) -> None:
    """Return after a number of requests to a chain's pool: events follow the work, not the clock."""
    until = chain.pool.requests + requests
    while chain.pool.requests < until:  # noqa: ASYNC110 - others ask
        await asyncio.sleep(0.02)


async def deliver(chains: Mapping[int, Chain]) -> None:
    """LayerZero's part: packets that are final on their chain are verified and delivered on their destination, again if
    a reorg undid that."""
    while True:
        await asyncio.sleep(0.5)
        for chain in chains.values():
            with suppress(Refusal, httpx.TransportError):
                last = max(0, await chain.node.height() - FINAL)
                query = {"fromBlock": "0x0", "toBlock": hex(last), "address": chain.endpoint, "topics": [SENT]}
                for log in await chain.node.call("eth_getLogs", query):
                    packet, options, _ = decode(["bytes", "bytes", "address"], bytes.fromhex(log["data"][2:]))
                    await _carry(chains[int.from_bytes(packet[45:49])], packet, options)


async def _carry(destination: Chain, packet: bytes, options: bytes) -> None:
    sender, nonce, source = packet[13:45], int.from_bytes(packet[1:9]), int.from_bytes(packet[9:13])
    receiver, guid, message = to_checksum_address(packet[61:81]), packet[81:113], packet[113:]
    origin = {"srcEid": source, "sender": sender, "nonce": nonce}
    lazy = int(await _view(destination, "lazyInboundNonce", receiver, source, sender), 16)
    waiting = int(await _view(destination, "inboundPayloadHash", receiver, source, sender, nonce), 16)
    if not waiting:
        if nonce > lazy:
            await destination.send(destination.endpoint, _data("verify", origin, receiver, keccak(guid + message)))
        return
    data, gas = _data("lzReceive", origin, receiver, guid, message, b""), int.from_bytes(options[6:22])
    call = {"from": destination.outsider, "to": destination.endpoint, "data": data, "gas": hex(gas)}
    await destination.node.call("eth_call", call, "latest")
    await destination.send(destination.endpoint, data, gas)


async def _view(chain: Chain, function: str, *values: Any) -> str:
    return str(await chain.node.call("eth_call", {"to": chain.endpoint, "data": _data(function, *values)}, "latest"))


def _data(function: str, *values: Any) -> str:
    item = FUNCTIONS[function]
    selector = keccak(text=f"{function}({','.join(codec.signature_type(i) for i in item['inputs'])})")[:4]
    return "0x" + (selector + codec.encode(item["inputs"], values)).hex()
