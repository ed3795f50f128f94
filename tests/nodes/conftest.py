"""Node pools: replacing an embedded chain's node that counts as public, and in front of a plain chain."""

import subprocess
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import timedelta

import httpx
import pytest
import pytest_asyncio
from eth_utils.address import to_checksum_address

from backend.chain.devnet.install import binary
from backend.chain.finality import Finality
from backend.chain.indexer import index_pass, indexer
from backend.chain.rpc import node_urls, terms
from backend.chain.transactions import confirmation, settlement
from tests.chain.conftest import HOME_EID, Stage, open_rules, short_timeouts, stage
from tests.conftest import HOME
from tests.support.node_pool.callers import CHAIN_ID, SENDER, Caller, calling
from tests.support.node_pool.pool import NodePool, in_front_of
from tests.support.scratch import scratch
from tests.support.server import free_port

__all__ = ["open_rules", "short_timeouts", "stage"]

CONFIRMATIONS = 2


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The embedded chains count as public with short terms: nothing is replayed, and transactions wait for their
    confirmations."""
    short = replace(
        terms.DEFAULTS[HOME_EID], block_time=0.05, confirmations=CONFIRMATIONS, succeeds_at=Finality.INCLUDED
    )
    with monkeypatch.context() as patch:
        patch.setattr(node_urls, "is_embedded", lambda eid: False)
        patch.setattr(terms, "DEFAULTS", dict.fromkeys(terms.DEFAULTS, short))
        patch.setattr(confirmation, "_delays", lambda eid: iter(lambda: 0.02, None))
        patch.setattr(confirmation, "RESEND", {True: 0.05, False: 0.05})
        patch.setattr(index_pass, "WINDOW_TIME", 0.0)  # 64 blocks, as on a chain with long ones
        patch.setattr(settlement, "LEFT_ALONE", timedelta(0))
        patch.setattr(indexer, "NEXT", dict.fromkeys((True, False), (0.02, 0.02)))
        patch.setattr(indexer, "POLL", dict.fromkeys((True, False), 0.2))
        yield


@pytest_asyncio.fixture
async def pool(stage: Stage) -> AsyncIterator[NodePool]:
    """One healthy machine in front of the home chain, until a test changes its options (`NodePool.become`). With the
    fixture `public` no faucet funds wallets; `NodePool.fund` does."""
    async with in_front_of(HOME_EID) as made:
        yield made


@pytest.fixture(scope="module")
def anvil() -> Iterator[str]:
    """A chain that nothing else uses; its URL."""
    port = free_port()
    words = ["--port", str(port), "--chain-id", str(CHAIN_ID), "--accounts", "1", "--hardfork", "cancun", "--silent"]
    process = subprocess.Popen([str(binary(HOME)), *words, "--cache-path", str(scratch("anvil"))])
    url = f"http://127.0.0.1:{port}"
    with httpx.Client(transport=httpx.HTTPTransport(retries=6), trust_env=False) as client:
        client.post(url, json={"jsonrpc": "2.0", "id": 1, "method": "eth_chainId", "params": []})
    yield url
    process.terminate()
    process.wait(10)


@pytest_asyncio.fixture
async def caller(anvil: str) -> AsyncIterator[Caller]:
    """A pool of one healthy machine in front of that chain, and a funded sender."""
    async with calling(anvil) as made:
        await made.pool.fund(SENDER)
        await made.pool.mine(20)
        yield made


@pytest_asyncio.fixture
async def coin(caller: Caller) -> str:
    """A contract that emits a log with each mint."""
    receipt = await caller.call("eth_getTransactionReceipt", await caller.deploy())
    return str(to_checksum_address(receipt["contractAddress"]))
