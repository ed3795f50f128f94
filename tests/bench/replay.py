"""Replay the same transactions with a bare script, on separate nodes with the earlier state.

It measures the remaining time without the API, the database and the workflows, in two ways: sequentially, waiting for
each receipt, as a script does; and all bytes in parallel, as fast as the nodes accept them.
"""

import gzip
import json
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from backend.chain.devnet.install import binary
from backend.chain.rpc.node_urls import EMBEDDED
from tests.support.scratch import scratch


class Node:
    """A node, over JSON-RPC."""

    def __init__(self, url: str) -> None:
        self._http = httpx.Client(base_url=url, timeout=120, trust_env=False)

    def call(self, method: str, *params: Any) -> Any:
        """Return the result. Raise SystemExit on an error, because the benchmark cannot continue."""
        answer = self._http.post("", json={"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).json()
        if "error" in answer:
            raise SystemExit(f"{method}: {answer['error']}")
        return answer["result"]

    def height(self) -> int:
        """Return the newest block's number."""
        return int(self.call("eth_blockNumber"), 16)


@dataclass(frozen=True)
class Before:
    """The chains before the measurement: state and height by endpoint id."""

    nodes: dict[int, Node]
    states: dict[int, str]
    heights: dict[int, int]

    def transactions(self) -> list[tuple[int, str]]:
        """Return (endpoint id, signed bytes) of the transactions mined since, in the order of each chain."""
        return [(eid, raw) for eid, node in self.nodes.items() for raw in _mined(node, self.heights[eid])]


def remember(home: Path) -> Before:
    """Read the chains of a running server."""
    chains = json.loads((home / "demo.json").read_text())["chains"]
    nodes = {chain["eid"]: Node(chain["rpc_url"]) for chain in chains}
    states = {eid: node.call("anvil_dumpState") for eid, node in nodes.items()}
    return Before(nodes, states, {eid: node.height() for eid, node in nodes.items()})


def _mined(node: Node, after: int) -> Iterator[str]:
    for number in range(after + 1, node.height() + 1):
        for tx_hash in node.call("eth_getBlockByNumber", hex(number), False)["transactions"]:
            yield node.call("eth_getRawTransactionByHash", tx_hash)


def one_by_one(home: Path, before: Before, transactions: list[tuple[int, str]]) -> float:
    """Return the seconds of a bare script that sends sequentially and waits for each receipt."""
    with _nodes(home, before) as nodes:
        began = time.perf_counter()
        for eid, raw in transactions:
            _confirm(nodes[eid], nodes[eid].call("eth_sendRawTransaction", raw))
        return time.perf_counter() - began


def in_parallel(home: Path, before: Before, transactions: list[tuple[int, str]]) -> float:
    """Return the seconds of the nodes alone: every transaction sent, then the receipts."""
    with _nodes(home, before) as nodes:
        began = time.perf_counter()
        sent = [(eid, nodes[eid].call("eth_sendRawTransaction", raw)) for eid, raw in transactions]
        for eid, tx_hash in sent:
            _confirm(nodes[eid], tx_hash)
        return time.perf_counter() - began


def _confirm(node: Node, tx_hash: str) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        receipt = node.call("eth_getTransactionReceipt", tx_hash)
        if receipt is not None:
            if receipt["status"] != "0x1":
                raise SystemExit(f"{tx_hash} was reverted when it was sent again")
            return
    raise SystemExit(f"{tx_hash} was not mined")


@contextmanager
def _nodes(home: Path, before: Before) -> Iterator[dict[int, Node]]:
    """Fresh nodes with the earlier state."""
    running, nodes = [], {}
    try:
        for eid, state in before.states.items():
            port = _free_port()
            file = home / f"replay-{eid}.json"
            file.write_bytes(gzip.decompress(bytes.fromhex(state.removeprefix("0x"))))
            words = f"--port {port} --chain-id {EMBEDDED[eid].chain_id} --accounts 0 --hardfork cancun --threads 1"
            command = [
                str(binary(home)),
                *words.split(),
                "--load-state",
                str(file),
                "--silent",
                "--cache-path",
                str(scratch("anvil")),
            ]
            running.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            _await_port(port)
            nodes[eid] = Node(f"http://127.0.0.1:{port}")
        yield nodes
    finally:
        for process in running:
            process.terminate()
            process.wait(10)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _await_port(port: int) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.01)
    raise SystemExit(f"no node listens on {port}")
