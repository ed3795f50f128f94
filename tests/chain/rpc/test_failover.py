"""Several nodes of one chain: the first working one is used, and the chain's state shows the others."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio
import sqlalchemy as sa
from pydantic import ValidationError

from backend.chain.abi.calls import Call
from backend.chain.coordination import scheduler
from backend.chain.errors import ChainUnavailable
from backend.chain.indexer import indexer
from backend.chain.rpc import health, json_rpc, node_urls, nodes
from backend.chain.rpc.json_rpc import connect
from backend.chain.rpc.nodes import NodeList
from backend.chains.rules import UNWATCHED, state
from backend.core import db
from backend.core.db import now
from backend.core.fields import ChainStatus
from backend.core.runtime import runtime
from backend.core.settings import Settings
from backend.models import ChainRow
from tests.chain.conftest import Stage
from tests.chain.transactions.observation import passed, row_of
from tests.conftest import World
from tests.support.faulty_node import Faulty, Raw
from tests.support.issuance import SEPOLIA, Issuance


@pytest_asyncio.fixture
async def pair(api: Any, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Faulty, Faulty]]:
    """Two nodes in front of one chain, in this order."""
    real = node_urls.urls_of(SEPOLIA)[0]
    both = (Faulty(real), Faulty(real))
    servers = [await asyncio.start_server(one.handle, "127.0.0.1", 0) for one in both]
    urls = [f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}" for server in servers]
    before = node_urls.urls_of
    monkeypatch.setattr(node_urls, "urls_of", lambda eid: urls if eid == SEPOLIA else before(eid))
    monkeypatch.setattr(health, "AGAIN", 0.0)
    runtime.reset(NodeList)
    yield both
    runtime.reset(NodeList)
    for one, server in zip(both, servers, strict=True):
        one.release()
        server.close()


async def shown(world: World) -> Any:
    """The chain as an organization sees it."""
    firm = await Issuance.ready(world, SEPOLIA)
    chains = (await firm.get("/chains"))["chains"]
    return next(chain for chain in chains if chain["xchain_eid"] == SEPOLIA)


@pytest.mark.long
async def test_second_node_takes_over_and_the_chain_is_degraded(world: World, pair: tuple[Faulty, Faulty]) -> None:
    first, second = pair
    chain = await connect(SEPOLIA)
    await chain.height()
    assert (len(first.asked) > 0, second.asked) == (True, [])
    first.does(lambda call: Raw(500, b""))
    assert await chain.height() > 0
    await indexer.catch_up(SEPOLIA, await chain.height())
    found = await shown(world)
    assert (found["status"], found["lag"]) == ("degraded", 0)
    assert found["last_error"] == "1 of 2 nodes cannot be used; the last error is: answers with status 500."
    assert found["height"] > 0

    first.heals()
    for node in nodes.of(SEPOLIA):
        node.passed_over_until = 0.0
    await indexer.catch_up(SEPOLIA, await chain.height())
    found = await shown(world)
    assert (found["status"], found["last_error"]) == ("active", None)


async def test_transaction_completes_over_any_available_node(stage: Stage, pair: tuple[Faulty, Faulty]) -> None:
    first, second = pair
    signer = await stage.wallet()
    first.answers("eth_sendRawTransaction", Raw(429, b"", (("Retry-After", "30"),)), times=1)
    second.answers("eth_getTransactionReceipt", Raw(200, b"garbage"), times=3)
    outcome = await stage.do(SEPOLIA, signer, Call(signer, "0x", 1), key="failover")
    assert passed(outcome, await row_of("failover"))


async def test_chain_without_a_node_is_down_with_a_reason(pair: tuple[Faulty, Faulty]) -> None:
    for node in pair:
        node.does(lambda call: Raw(503, b""))
    with pytest.raises(ChainUnavailable, match="answers with status 503"):
        await (await connect(SEPOLIA)).height()
    async with asyncio.timeout(60):
        while (await state_of_row())[0] is not ChainStatus.DOWN:
            scheduler.wake(SEPOLIA)
            await asyncio.sleep(0.05)
    assert (await state_of_row())[1] == "The node of the chain 40161 answers with status 503."


async def state_of_row() -> tuple[ChainStatus, str | None]:
    async with db.worker() as session:
        row = (await session.execute(sa.select(ChainRow).where(ChainRow.xchain_eid == SEPOLIA))).scalar_one()
    return row.status, row.last_error


async def test_lagging_node_is_skipped(pair: tuple[Faulty, Faulty], monkeypatch: pytest.MonkeyPatch) -> None:
    first, _ = pair
    height = await (await connect(SEPOLIA)).height()
    await (await connect(SEPOLIA)).request("anvil_mine", hex(health.BEHIND + 1))
    first.answers("eth_blockNumber", hex(height))
    monkeypatch.setattr(health, "SURVEY", -1.0)
    await health.survey(SEPOLIA)
    assert [node.error for node in nodes.of(SEPOLIA)] == [f"is {health.BEHIND + 1} blocks behind the others", None]
    assert await (await connect(SEPOLIA)).height() > height
    first.heals()
    await health.survey(SEPOLIA)
    assert nodes.faulty(SEPOLIA) == []
    assert await json_rpc.heights(SEPOLIA) == [height + health.BEHIND + 1] * 2


def test_chain_status_from_an_old_check_is_down() -> None:
    time = now()
    assert state(ChainStatus.ACTIVE, None, None, time) == (ChainStatus.ACTIVE, None)
    assert state(ChainStatus.DEGRADED, "why", time - timedelta(seconds=20), time) == (ChainStatus.DEGRADED, "why")
    status, error = state(ChainStatus.ACTIVE, None, time - UNWATCHED, time)
    assert status is ChainStatus.DOWN
    assert error is not None
    assert error.startswith("This chain was last checked at")


def test_rpc_urls_are_one_or_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGNUM_RPC_URLS", '{"40161": "https://a.example", "40245": ["https://b.example", "http://c"]}')
    assert Settings().rpc_urls == {40161: ["https://a.example"], 40245: ["https://b.example", "http://c"]}
    for wrong in ('{"40161": []}', '{"40161": "ws://5ecret"}', '{"40161": ""}', '{"40161": 7}', '["https://a"]'):
        monkeypatch.setenv("SIGNUM_RPC_URLS", wrong)
        with pytest.raises(ValidationError) as refused:
            Settings()
        assert all("5ecret" not in error["msg"] for error in refused.value.errors())
