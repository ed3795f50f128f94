"""Embedded chains that are killed while requests run: they come back older, and no request fails for it."""

import asyncio
import os
import signal
from collections.abc import Callable

import pytest

from backend.chain.bindings import token
from backend.chain.devnet import anvil
from backend.chain.errors import Reverted
from backend.chain.indexer import indexer
from backend.chain.rpc import floors, node_urls
from backend.chain.rpc.json_rpc import Restoring, connect, restoring
from backend.chain.transactions.recovery import recover
from backend.core.connections.database import Database
from backend.core.runtime import runtime
from backend.core.settings import settings
from backend.requests import workflows
from backend.requests.runs import Run
from backend.requests.schemas import RequestStatus
from tests.conftest import World
from tests.requests.test_lanes import accepted, status_of
from tests.support.crash import sent
from tests.support.issuance import SEPOLIA, Issuance, asset_body

DEPLOYED = 4
OUT_OF_GAS = "The transaction ran out of gas: 33137 was enough when it was estimated, but not when it was mined."


def end(eid: int, number: signal.Signals) -> None:
    """Send a signal to a chain's node."""
    os.kill(runtime.part(anvil.NodeProcesses).running[eid].pid, number)


async def grow(eid: int) -> None:
    """Let a chain be as high as before: tests that treat it as a public one expect that it never gets shorter."""
    rpc = await connect(eid)
    if (missing := await floors.of(eid) - await rpc.height()) > 0:
        await rpc.request("anvil_mine", hex(missing))


class Refused:
    """Work that is refused in its first run, in which something happens."""

    def __init__(self, happens: Callable[[], object]) -> None:
        self.runs, self._happens = 0, happens

    async def work(self, run: Run) -> None:
        self.runs += 1
        if self.runs == 1:
            self._happens()
            raise Reverted(OUT_OF_GAS)


def restarted() -> None:
    """Let a node be another process than before."""
    path = node_urls.ports_file(settings().home).parent / f"{SEPOLIA}.pid"
    path.write_text(path.read_text() + " ")


async def test_refusal_while_a_chain_was_restarted_is_repeated(
    world: World, unswept: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workflows, "AGAIN", 0.0)
    acme, refused = await world.organization(), Refused(restarted)
    request = await accepted(acme)
    await workflows._run(refused.work, None, acme, request)
    assert (refused.runs, await status_of(request)) == (2, RequestStatus.SUCCEEDED)


async def test_refusal_of_a_chain_that_lives_is_final(world: World, unswept: None) -> None:
    acme, refused = await world.organization(), Refused(lambda: None)
    request = await accepted(acme)
    await workflows._run(refused.work, None, acme, request)
    assert (refused.runs, await status_of(request)) == (1, RequestStatus.FAILED)


async def test_chain_that_is_being_restored_is_not_read(world: World) -> None:
    rpc = await connect(SEPOLIA)
    anvil.mark(settings().home, [SEPOLIA])
    try:
        with pytest.raises(Restoring) as refused:
            await rpc.height()
        assert refused.value.headers == {"Retry-After": "2"}
        with restoring():
            assert await rpc.height() >= 0
    finally:
        await recover([SEPOLIA])
    assert await rpc.height() >= 0


async def test_chain_is_restored_after_the_database_returns(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both may die at the same time: the indexer survives that, and attempts it again."""
    anvil.mark(settings().home, [SEPOLIA])
    with monkeypatch.context() as without_database:
        without_database.setattr(runtime.part(Database), "url", "postgresql://signum@/signum?host=/nowhere")
        await indexer._revive()
        assert node_urls.is_restoring(SEPOLIA)
    await indexer._revive()
    assert not node_urls.is_restoring(SEPOLIA)
    assert await (await connect(SEPOLIA)).height() >= 0


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGKILL, pytest.param(signal.SIGSTOP, marks=pytest.mark.nightly)])
async def test_deployments_on_a_chain_that_dies_succeed(world: World, number: signal.Signals) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    made = await asyncio.gather(*(firm.post("/assets", asset_body(SEPOLIA)) for _ in range(DEPLOYED)))
    for count in (2, 5):
        async with asyncio.timeout(120):
            while len(await sent(firm.id)) < count:  # noqa: ASYNC110 - rows are written
                await asyncio.sleep(0.01)
        end(SEPOLIA, number)
    for accepted_ in made:
        await firm.succeed(accepted_["requestId"])
        asset = await firm.get(f"/assets/{accepted_['assetId']}")
        (deployment,) = asset["deployments"]
        supply = await token.total_supply(SEPOLIA, deployment["token_address"])
        assert (asset["status"], str(supply)) == ("active", asset_body()["initial_supply"])
    await grow(SEPOLIA)
