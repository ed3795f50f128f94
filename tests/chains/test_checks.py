"""The node check over the API."""

import asyncio
from collections.abc import Iterator

import pytest

from backend.chain.node_check import service
from backend.chain.node_check.report import Report
from backend.chain.rpc.node_urls import EmbeddedNodes
from backend.chains import node_checks
from backend.core.runtime import runtime
from backend.users.schemas import Role
from tests.conftest import World
from tests.support.faulty_node import in_front_of
from tests.support.firm import SEPOLIA, Firm, refused


@pytest.fixture(autouse=True)
def no_cached_check() -> Iterator[None]:
    """No cached result of another test."""
    runtime.reset(node_checks.Checks)
    yield
    runtime.reset(node_checks.Checks)


async def test_node_check_lists_node_capabilities(world: World) -> None:
    firm = await Firm.found(world)
    chain = await firm.chain(SEPOLIA)
    check = await firm.get(f"/chains/{chain['id']}/check")
    assert (check["chain_eid"], check["good_enough"], check["setting"]) == (SEPOLIA, True, None)
    (node,) = check["nodes"]
    assert (node["name"], node["answers"], node["summary"]) == ("Node 1", True, "Good enough.")
    lines = {line["name"]: line for line in node["lines"]}
    assert lines["Chain ID"] == {"name": "Chain ID", "level": "ok", "found": "1340161, as expected.", "effect": ""}
    assert {line["level"] for line in lines.values()} == {"ok"}


async def test_node_check_shows_no_url(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    firm = await Firm.found(world)
    chain = await firm.chain(SEPOLIA)
    monkeypatch.setitem(runtime.part(EmbeddedNodes).urls, SEPOLIA, "http://127.0.0.1:9/v2/5ecret")
    check = await firm.get(f"/chains/{chain['id']}/check")
    assert (check["good_enough"], check["nodes"][0]["answers"]) == (False, False)
    assert check["nodes"][0]["summary"] == "The node does not answer: no response."
    assert "127.0.0.1" not in str(check)
    assert "5ecret" not in str(check)


async def test_node_check_is_shared_for_a_minute(world: World) -> None:
    first, second = await Firm.found(world, "First"), await Firm.found(world, "Second")
    chain = await first.chain(SEPOLIA)
    async with in_front_of(SEPOLIA) as node:
        reply = await asyncio.gather(*(firm.get(f"/chains/{chain['id']}/check") for firm in (first, second, first)))
        assert await second.get(f"/chains/{chain['id']}/check") == reply[0] == reply[1] == reply[2]
        # The indexer queries this node too, but only a check sends bytes that no node can decode.
        assert [call["params"] for call in node.calls if call["method"] == "eth_sendRawTransaction"] == [["0x00"]]


async def test_failed_node_check_is_not_cached(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    firm = await Firm.found(world)
    chain = await firm.chain(SEPOLIA)

    async def broken(*_: object) -> Report:
        raise RuntimeError("broken")

    with monkeypatch.context() as patch:
        patch.setattr(service, "check", broken)
        await firm.refused("GET", f"/chains/{chain['id']}/check", 500)
    assert (await firm.get(f"/chains/{chain['id']}/check"))["good_enough"]


async def test_node_check_without_a_node_reports_it(world: World) -> None:
    firm = await Firm.found(world)
    chain = await firm.chain(40267)
    problem = await firm.refused("GET", f"/chains/{chain['id']}/check", 409)
    assert problem.detail == "This installation has no node for Polygon Amoy. Add its URL to SIGNUM_RPC_URLS."


async def test_node_check_requires_permission_to_see_chains(world: World) -> None:
    mine, other = await Firm.found(world, "Mine"), await Firm.found(world, "Other")
    chain = await mine.chain(SEPOLIA)
    client = await world.person(mine.id, Role.CLIENT)
    await refused(client, "GET", f"{mine.base}/chains/{chain['id']}/check", 403)
    await refused(mine.admin, "GET", f"{other.base}/chains/{chain['id']}/check", 403)


async def test_node_check_is_rate_limited(world: World, limits: None) -> None:
    firm = await Firm.found(world)
    chain = await firm.chain(SEPOLIA)
    for _ in range(10):
        await firm.get(f"/chains/{chain['id']}/check")
    await firm.refused("GET", f"/chains/{chain['id']}/check", 429)
