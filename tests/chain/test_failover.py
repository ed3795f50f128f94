"""Several nodes of one chain: the first that does its part is asked, and the chain's state says what the others do."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio
import sqlalchemy as sa
from pydantic import ValidationError

from backend import db
from backend.chain import endpoints, health, indexer, nodes, rpc
from backend.chain.calls import Call
from backend.chain.errors import ChainUnavailable
from backend.chain.rpc import connect
from backend.chains.rules import UNWATCHED, state
from backend.chains.schemas import ChainStatus
from backend.db import now
from backend.models import ChainRow
from backend.settings import Settings
from tests.chain.conftest import Stage
from tests.chain.faulty import Faulty, Raw
from tests.chain.watching import passed, row_of
from tests.conftest import World
from tests.issuance import SEPOLIA, Issuance


@pytest_asyncio.fixture
async def pair(api: Any, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Faulty, Faulty]]:
    """Two nodes in front of one chain, in this order."""
    real = endpoints.urls_of(SEPOLIA)[0]
    both = (Faulty(real), Faulty(real))
    servers = [await asyncio.start_server(one.handle, "127.0.0.1", 0) for one in both]
    urls = [f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}" for server in servers]
    before = endpoints.urls_of
    monkeypatch.setattr(endpoints, "urls_of", lambda eid: urls if eid == SEPOLIA else before(eid))
    monkeypatch.setattr(health, "AGAIN", 0.0)
    nodes._nodes.clear()
    yield both
    nodes._nodes.clear()
    for one, server in zip(both, servers, strict=True):
        one.release()
        server.close()


async def shown(world: World) -> Any:
    """The chain as an organization sees it."""
    firm = await Issuance.ready(world, SEPOLIA)
    chains = (await firm.get("/chains"))["chains"]
    return next(chain for chain in chains if chain["xchain_eid"] == SEPOLIA)


async def test_the_second_node_takes_over_and_the_chain_is_degraded(world: World, pair: tuple[Faulty, Faulty]) -> None:
    first, second = pair
    chain = await connect(SEPOLIA)
    await chain.height()
    assert (len(first.asked) > 0, second.asked) == (True, [])
    first.does(lambda call: Raw(500, b""))
    assert await chain.height() > 0
    await indexer.catch_up(SEPOLIA, await chain.height())
    found = await shown(world)
    assert (found["status"], found["lag"]) == ("degraded", 0)
    assert found["last_error"] == "1 of 2 nodes cannot be used; the last one answers with status 500."
    assert found["height"] > 0

    first.heals()
    for node in nodes.of(SEPOLIA):
        node.passed_over_until = 0.0
    await indexer.catch_up(SEPOLIA, await chain.height())
    found = await shown(world)
    assert (found["status"], found["last_error"]) == ("active", None)


async def test_a_transaction_ends_over_whichever_node_is_there(stage: Stage, pair: tuple[Faulty, Faulty]) -> None:
    first, second = pair
    signer = await stage.wallet()
    first.answers("eth_sendRawTransaction", Raw(429, b"", (("Retry-After", "30"),)), times=1)
    second.answers("eth_getTransactionReceipt", Raw(200, b"garbage"), times=3)
    outcome = await stage.do(SEPOLIA, signer, Call(signer, "0x", 1), key="failover")
    assert passed(outcome, await row_of("failover"))


async def test_without_any_node_it_is_down_and_says_why(pair: tuple[Faulty, Faulty]) -> None:
    for node in pair:
        node.does(lambda call: Raw(503, b""))
    with pytest.raises(ChainUnavailable, match="answers with status 503"):
        await (await connect(SEPOLIA)).height()
    async with asyncio.timeout(60):
        while (await state_of_row())[0] is not ChainStatus.DOWN:
            indexer.wake(SEPOLIA)
            await asyncio.sleep(0.05)
    assert (await state_of_row())[1] == "The node of the chain 40161 answers with status 503."


async def state_of_row() -> tuple[ChainStatus, str | None]:
    async with db.worker() as session:
        row = (await session.execute(sa.select(ChainRow).where(ChainRow.xchain_eid == SEPOLIA))).scalar_one()
    return row.status, row.last_error


async def test_a_node_that_lags_behind_is_passed_over(
    pair: tuple[Faulty, Faulty], monkeypatch: pytest.MonkeyPatch
) -> None:
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
    assert await rpc.heights(SEPOLIA) == [height + health.BEHIND + 1] * 2


def test_what_was_found_long_ago_says_nothing() -> None:
    time = now()
    assert state(ChainStatus.ACTIVE, None, None, time) == (ChainStatus.ACTIVE, None)
    assert state(ChainStatus.DEGRADED, "why", time - timedelta(seconds=20), time) == (ChainStatus.DEGRADED, "why")
    status, error = state(ChainStatus.ACTIVE, None, time - UNWATCHED, time)
    assert status is ChainStatus.DOWN
    assert error is not None
    assert error.startswith("Nobody has looked at this chain since")


def test_urls_are_one_or_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGNUM_RPC_URLS", '{"40161": "https://a.example", "40245": ["https://b.example", "http://c"]}')
    assert Settings().rpc_urls == {40161: ["https://a.example"], 40245: ["https://b.example", "http://c"]}
    for wrong in ('{"40161": []}', '{"40161": "ws://5ecret"}', '{"40161": ""}', '{"40161": 7}', '["https://a"]'):
        monkeypatch.setenv("SIGNUM_RPC_URLS", wrong)
        with pytest.raises(ValidationError) as refused:
            Settings()
        assert all("5ecret" not in error["msg"] for error in refused.value.errors())
