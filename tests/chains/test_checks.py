"""The node check over the API."""

import asyncio
from collections.abc import Iterator

import pytest

from backend.chain import endpoints
from backend.chain.node_check import service
from backend.chain.node_check.report import Report
from backend.chains import checks
from backend.members.schemas import Role
from tests.chain.faulty import in_front_of
from tests.conftest import World
from tests.firm import SEPOLIA, Firm, refused


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """No result of another test is given."""
    checks._checks.clear()
    yield
    checks._checks.clear()


async def test_node_check_lists_what_the_node_supports(world: World) -> None:
    firm = await Firm.found(world)
    chain = await firm.chain(SEPOLIA)
    check = await firm.get(f"/chains/{chain['id']}/check")
    assert (check["chain_eid"], check["good_enough"], check["setting"]) == (SEPOLIA, True, None)
    (node,) = check["nodes"]
    assert (node["name"], node["answers"], node["summary"]) == ("Node 1", True, "Good enough.")
    lines = {line["name"]: line for line in node["lines"]}
    assert lines["Chain id"] == {"name": "Chain id", "level": "ok", "found": "1340161.", "effect": ""}
    assert {line["level"] for line in lines.values()} == {"ok"}


async def test_node_check_shows_no_url(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    firm = await Firm.found(world)
    chain = await firm.chain(SEPOLIA)
    monkeypatch.setitem(endpoints._running, SEPOLIA, "http://127.0.0.1:9/v2/5ecret")
    check = await firm.get(f"/chains/{chain['id']}/check")
    assert (check["good_enough"], check["nodes"][0]["answers"]) == (False, False)
    assert check["nodes"][0]["summary"] == "The node does not answer: no response."
    assert "127.0.0.1" not in str(check)
    assert "5ecret" not in str(check)


async def test_node_check_runs_once_a_minute_for_everybody(world: World) -> None:
    first, second = await Firm.found(world, "First"), await Firm.found(world, "Second")
    chain = await first.chain(SEPOLIA)
    async with in_front_of(SEPOLIA) as node:
        told = await asyncio.gather(*(firm.get(f"/chains/{chain['id']}/check") for firm in (first, second, first)))
        assert await second.get(f"/chains/{chain['id']}/check") == told[0] == told[1] == told[2]
        # The indexer asks this node too, but nobody except a check sends bytes that no node can decode.
        assert [call["params"] for call in node.calls if call["method"] == "eth_sendRawTransaction"] == [["0x00"]]


async def test_node_check_that_broke_is_not_kept(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    firm = await Firm.found(world)
    chain = await firm.chain(SEPOLIA)

    async def broken(*_: object) -> Report:
        raise RuntimeError("broken")

    with monkeypatch.context() as patch:
        patch.setattr(service, "check", broken)
        await firm.refused("GET", f"/chains/{chain['id']}/check", 500)
    assert (await firm.get(f"/chains/{chain['id']}/check"))["good_enough"]


async def test_node_check_without_a_node_says_so(world: World) -> None:
    firm = await Firm.found(world)
    chain = await firm.chain(40267)
    problem = await firm.refused("GET", f"/chains/{chain['id']}/check", 409)
    assert problem.detail == "This installation has no node for Polygon Amoy. Add its URL to SIGNUM_RPC_URLS."


async def test_node_check_is_for_those_who_may_see_chains(world: World) -> None:
    mine, other = await Firm.found(world, "Mine"), await Firm.found(world, "Other")
    chain = await mine.chain(SEPOLIA)
    client = await world.person(mine.id, Role.CLIENT)
    await refused(client, "GET", f"{mine.base}/chains/{chain['id']}/check", 403)
    await refused(mine.admin, "GET", f"{other.base}/chains/{chain['id']}/check", 403)


async def test_node_check_is_limited(world: World, limits: None) -> None:
    firm = await Firm.found(world)
    chain = await firm.chain(SEPOLIA)
    for _ in range(10):
        await firm.get(f"/chains/{chain['id']}/check")
    await firm.refused("GET", f"/chains/{chain['id']}/check", 429)
