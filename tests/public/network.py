"""A small public network: chains without Signum's contracts, LayerZero's stand-in on them, and its executor."""

import json
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from eth_abi.abi import decode
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak

from backend.chain.abi import codec
from backend.chain.abi.calls import Call
from backend.chain.devnet.install import binary
from tests.conftest import HOME
from tests.support.scratch import scratch
from tests.support.server import free_port

STAND_IN: dict[str, Any] = json.loads((Path(__file__).parent / "EndpointStandIn.json").read_text())
FUNCTIONS: dict[str, Any] = {item["name"]: item for item in STAND_IN["abi"] if item["type"] == "function"}
SENT = "0x" + keccak(text="PacketSent(bytes,bytes,address)").hex()
ETHER = 10**18


class PublicChain:
    """A plain anvil with a public chain's id. Its own rich account stands for everyone who used the chain before."""

    def __init__(self, eid: int, chain_id: int, block_time: int | None = None) -> None:
        self.eid, self._chain_id, self._block_time = eid, chain_id, block_time
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._http = httpx.Client(trust_env=False, timeout=30)
        self._process: subprocess.Popen[bytes] | None = None
        self.endpoint = self.currency = self.outsider = ""

    def start(self) -> None:
        """Its state before Signum: an endpoint and a currency. They have the same addresses at every start."""
        mining = ["--block-time", str(self._block_time)] if self._block_time else []
        address = ["--port", str(self.port), "--chain-id", str(self._chain_id), "--accounts", "1"]
        states = ["--cache-path", str(scratch("anvil"))]
        self._process = subprocess.Popen([str(binary(HOME)), *address, "--silent", *mining, *states])
        self._until(lambda: self._answers())
        (account,) = self.rpc("eth_accounts")
        self.outsider = to_checksum_address(account)
        arguments = codec.encode([{"type": "uint32"}], [self.eid])
        self.endpoint = self.create(STAND_IN["bytecode"] + arguments.hex())
        self.currency = self.create(codec.contract("TestUSD").creation(self.outsider))

    def stop(self) -> None:
        """Stop permanently: nothing is kept."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(10)

    def _answers(self) -> bool:
        try:
            return int(self.rpc("eth_chainId"), 16) == self._chain_id
        except httpx.TransportError:
            return False

    def _until(self, done: Callable[[], bool], seconds: float = 60) -> None:
        waiting = threading.Event()
        for _ in range(int(seconds / 0.02)):
            if done():
                return
            waiting.wait(0.02)
        raise AssertionError("the chain does not do it")

    def rpc(self, method: str, *parameters: Any) -> Any:
        """Make one call; a refusal is a RuntimeError."""
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
        answer = self._http.post(self.url, json=body).json()
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["result"]

    def send(self, to: str | None, data: str = "0x", value: int = 0) -> dict[str, Any]:
        """Send and mine a transaction of an external account."""
        fields = {"from": self.outsider, "data": data, "value": hex(value)} | ({"to": to} if to else {})
        tx_hash = self.rpc("eth_sendTransaction", fields)
        self._until(lambda: self.rpc("eth_getTransactionReceipt", tx_hash) is not None)
        receipt: dict[str, Any] = self.rpc("eth_getTransactionReceipt", tx_hash)
        return receipt

    def create(self, code: str) -> str:
        """Create a contract of an external account and return its address."""
        return str(to_checksum_address(self.send(None, code)["contractAddress"]))

    def give(self, address: str, currency: int = 0, wei: int = ETHER) -> None:
        """Give native currency, and some of the quote currency."""
        self.send(address, value=wei)
        if currency:
            self.send(self.currency, codec.contract("TestUSD").data("mint", address, currency))

    def do(self, call: Call) -> None:
        """Call one of Signum's contracts from an external account."""
        assert self.send(call.to, call.data, call.value)["status"] == "0x1"

    def config_of(self, token: str, remote: int) -> tuple[int, list[int]]:
        """Return confirmations and required DVNs of a token's outgoing path, as the endpoint has them."""
        data = _data("getConfig", token, self.endpoint, remote, 2)
        (raw,) = decode(
            ["bytes"], bytes.fromhex(self.rpc("eth_call", {"to": self.endpoint, "data": data}, "latest")[2:])
        )
        ((confirmations, _, _, _, required, _),) = decode(["(uint64,uint8,uint8,uint8,address[],address[])"], raw)
        return confirmations, [int(dvn, 16) for dvn in required]

    def sender_of(self, tx_hash: str) -> str:
        """Return who sent a transaction."""
        return str(to_checksum_address(self.rpc("eth_getTransactionByHash", tx_hash)["from"]))


class Executor(threading.Thread):
    """LayerZero's part: it verifies each packet, and tries once to deliver it with the gas its options bought."""

    def __init__(self, chains: Mapping[int, PublicChain]) -> None:
        super().__init__(daemon=True)
        self._chains = chains
        self._ended = threading.Event()
        self._seen: set[bytes] = set()
        self.tried: list[bool] = []
        """For each packet, whether its delivery succeeded."""

    def run(self) -> None:
        """Run until stopped."""
        while not self._ended.wait(0.2):
            for chain in self._chains.values():
                for packet, options in _sent(chain):
                    if packet[81:113] not in self._seen:
                        self._seen.add(packet[81:113])
                        self._carry(packet, options)

    def _carry(self, packet: bytes, options: bytes) -> None:
        destination = self._chains[int.from_bytes(packet[45:49])]
        sender, nonce = packet[13:45], int.from_bytes(packet[1:9])
        origin = {"srcEid": int.from_bytes(packet[9:13]), "sender": sender, "nonce": nonce}
        receiver, guid, message = to_checksum_address(packet[61:81]), packet[81:113], packet[113:]
        destination.send(destination.endpoint, _data("verify", origin, receiver, keccak(guid + message)))
        call = {
            "from": destination.outsider,
            "to": destination.endpoint,
            "data": _data("lzReceive", origin, receiver, guid, message, b""),
            "gas": hex(int.from_bytes(options[6:22])),
        }
        try:
            destination.rpc("eth_call", call, "latest")
        except RuntimeError:
            self.tried.append(False)
            return
        self.tried.append(destination.send(destination.endpoint, call["data"])["status"] == "0x1")

    def end(self) -> None:
        """Stop."""
        self._ended.set()
        self.join(10)


def _sent(chain: PublicChain) -> list[tuple[bytes, bytes]]:
    try:
        query = {"fromBlock": "0x0", "toBlock": "latest", "address": chain.endpoint, "topics": [SENT]}
        logs = chain.rpc("eth_getLogs", query)
    except httpx.TransportError:
        return []
    answer = (decode(["bytes", "bytes", "address"], bytes.fromhex(log["data"][2:])) for log in logs)
    return [(packet, options) for packet, options, _ in answer]


def _data(function: str, *values: Any) -> str:
    item = FUNCTIONS[function]
    selector = keccak(text=f"{function}({','.join(codec.signature_type(i) for i in item['inputs'])})")[:4]
    return "0x" + (selector + codec.encode(item["inputs"], values)).hex()


@contextmanager
def public_network() -> Iterator[tuple[PublicChain, PublicChain, Executor]]:
    """Sepolia, which mines immediately, and Base Sepolia, which mines every second and is not started yet."""
    sepolia, base = PublicChain(40161, 11155111), PublicChain(40245, 84532, block_time=1)
    executor = Executor({chain.eid: chain for chain in (sepolia, base)})
    sepolia.start()
    try:
        yield sepolia, base, executor
    finally:
        executor.end() if executor.is_alive() else None
        for chain in (sepolia, base):
            chain.stop()
