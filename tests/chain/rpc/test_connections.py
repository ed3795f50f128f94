"""Connections to a node: no call and no cancellation uses them up, and callers share them."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from backend.chain.errors import NodeBusy
from backend.chain.rpc import connections, node_urls, nodes, transport
from backend.chain.rpc.connections import PLACES, Lane
from backend.chain.rpc.json_rpc import Rpc
from backend.chain.rpc.nodes import Node, NodeFault, NodeList
from backend.chain.rpc.transport import Request
from backend.core import fair_places
from backend.core.runtime import runtime
from tests.support.firm import BASE, SEPOLIA
from tests.support.slow_node import SlowNode, slow_node

CALL: Sequence[Request] = [("eth_chainId", [])]
SLOW: Sequence[Request] = [("eth_gasPrice", [])]
UNFOLLOWED = 40_999
"""A chain that no indexer of a running server calls."""


@pytest_asyncio.fixture(autouse=True)
async def closed() -> AsyncIterator[None]:
    """No connections and refusals of other tests, and none left."""
    await connections.close()
    runtime.reset(connections.Refusals)
    yield
    await connections.close()
    runtime.reset(connections.Refusals, NodeList)


async def answers(node: Node) -> bool:
    """Return whether a call now passes."""
    async with asyncio.timeout(20):
        return bool((await transport.post(node, CALL))[0]["result"] == "0x1")


@pytest.mark.parametrize("turns", range(12))
async def test_calls_cancelled_at_any_moment_leave_a_working_node(turns: int) -> None:
    async with slow_node() as server:
        node = Node(server.url, SEPOLIA)
        for _ in range(2):
            calls = [asyncio.create_task(transport.post(node, CALL)) for _ in range(60)]
            for _ in range(turns):
                await asyncio.sleep(0)
            for call in calls:
                call.cancel()
            await asyncio.wait(calls)
        assert await answers(node)


async def held_up(node: Node, server: SlowNode, *callers: tuple[str, str], each: int) -> list[asyncio.Task[Any]]:
    """Let callers, each a name and its root, make this many slow calls; return those that are not answered."""
    calls = []
    for caller, root in callers:
        with fair_places.called_by(caller), fair_places.working_for(root):
            calls += [asyncio.create_task(transport.post(node, SLOW)) for _ in range(each)]
    await server.until("eth_gasPrice", PLACES[Lane.REQUESTS] // 2)
    return calls


async def ended(server: SlowNode, calls: Sequence[asyncio.Task[Any]]) -> None:
    """Let the node answer, until every call has ended."""
    await server.release()
    await asyncio.wait(calls)


async def test_node_works_after_a_crowd_that_gave_up_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connections.WAIT, Lane.REQUESTS, 0.05)
    async with slow_node("eth_gasPrice") as server:
        node = Node(server.url, SEPOLIA)
        calls = await held_up(node, server, ("ann", "a"), ("bob", "b"), ("cid", "c"), each=100)
        done, waiting = await asyncio.wait(calls, timeout=20, return_when=asyncio.FIRST_EXCEPTION)
        assert done, "the others wait for a place, and are refused"
        for call in list(waiting)[::3]:
            call.cancel()
        await ended(server, calls)
        assert await answers(node)
        with fair_places.called_by("ann"):
            assert await answers(node)


@pytest.mark.long
async def test_second_tenant_does_not_wait_for_the_backlog_of_the_first() -> None:
    async with slow_node("eth_gasPrice") as server:
        node = Node(server.url, SEPOLIA)
        calls = await held_up(node, server, ("ann", "a"), ("ada", "a"), ("amy", "a"), each=100)
        with fair_places.called_by("bob"), fair_places.working_for("b"):
            assert await answers(node), "the first holds half of the places at most"
        await ended(server, calls)


async def test_work_and_controls_have_places_of_their_own() -> None:
    async with slow_node("eth_gasPrice") as server:
        node = Node(server.url, SEPOLIA)
        calls = await held_up(node, server, ("ann", "a"), ("bob", "b"), each=100)
        await server.until("eth_gasPrice", PLACES[Lane.REQUESTS])
        assert await answers(node), "the indexer"
        with fair_places.working_for("a"):
            assert await answers(node), "a workflow of the tenant that has the backlog"
        with fair_places.called_by("ann"), fair_places.working_for("a"), fair_places.urgently():
            assert await answers(node), "a control that protects holders"
        await ended(server, calls)


async def test_control_does_not_wait_for_other_work_of_its_tenant() -> None:
    async with slow_node("eth_gasPrice") as server:
        node, calls = Node(server.url, SEPOLIA), []
        with fair_places.working_for("a"):
            calls += [asyncio.create_task(transport.post(node, SLOW)) for _ in range(100)]
            await server.until("eth_gasPrice", PLACES[Lane.WORK] // 2)
            with fair_places.urgently():
                assert await answers(node)
        await ended(server, calls)


async def test_control_of_a_request_gets_the_first_free_place_of_its_root() -> None:
    most = PLACES[Lane.URGENT] // 2
    async with slow_node("eth_gasPrice") as server:
        node, calls = Node(server.url, SEPOLIA), []
        for key, path in (("key", ("unit", "a")), ("other", ("leaf", "unit", "a")), ("ann", ("a",))):
            with fair_places.called_by(key), fair_places.working_for(*path), fair_places.urgently():
                calls += [asyncio.create_task(transport.post(node, SLOW)) for _ in range(most)]
        await server.until("eth_gasPrice", most)
        with fair_places.called_by("bob"), fair_places.working_for("a"), fair_places.urgently():
            control = asyncio.create_task(transport.post(node, CALL))
        with fair_places.working_for("a"), fair_places.urgently():
            assert await answers(node), "a run has places of its own"
        with fair_places.called_by("eve"), fair_places.working_for("b"), fair_places.urgently():
            assert await answers(node), "another root"
        await server.release_one()
        await control
        await ended(server, calls)


async def test_control_of_a_request_without_a_place_is_a_503(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connections.WAIT, Lane.URGENT, 0.01)
    async with slow_node("eth_gasPrice") as server:
        node = Node(server.url, SEPOLIA)
        with fair_places.called_by("ann"), fair_places.working_for("a"), fair_places.urgently():
            calls = [asyncio.create_task(transport.post(node, SLOW)) for _ in range(PLACES[Lane.URGENT])]
            done, _ = await asyncio.wait(calls, timeout=20, return_when=asyncio.FIRST_EXCEPTION)
            assert {type(call.exception()) for call in done} == {NodeBusy}
            await server.until("eth_gasPrice", PLACES[Lane.URGENT] // 4)
        await ended(server, calls)


@pytest.mark.long
async def test_slow_node_takes_no_connections_from_the_node_of_another_chain() -> None:
    async with slow_node("eth_gasPrice") as slow, slow_node() as other:
        calls = await held_up(Node(slow.url, SEPOLIA), slow, ("ann", "a"), ("bob", "b"), each=100)
        with fair_places.called_by("ann"), fair_places.working_for("a"):
            assert await answers(Node(other.url, BASE))
        await ended(slow, calls)


async def test_call_without_a_place_is_a_503_and_no_fault_of_the_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connections.WAIT, Lane.REQUESTS, 0.01)
    async with slow_node("eth_gasPrice") as server:
        urls = node_urls.urls_of
        monkeypatch.setattr(node_urls, "urls_of", lambda eid: [server.url] if eid == UNFOLLOWED else urls(eid))
        (node,) = nodes.of(UNFOLLOWED)
        node.is_known = True
        calls = await held_up(node, server, ("ann", "a"), each=PLACES[Lane.REQUESTS] // 2)
        with fair_places.called_by("ann"), fair_places.working_for("a"), pytest.raises(NodeBusy) as busy:
            await Rpc(UNFOLLOWED).request("eth_gasPrice")
        assert (busy.value.status, busy.value.headers) == (503, {"Retry-After": "5"})
        assert (node.failures, node.error) == (0, None)
        assert connections.refused(UNFOLLOWED) == 1
        await ended(server, calls)


async def test_response_that_never_ends_frees_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "TIMEOUT", aiohttp.ClientTimeout(total=0.2))
    async with slow_node("eth_gasPrice") as server:
        with pytest.raises(NodeFault, match="does not answer in time"):
            await transport.post(Node(server.url, SEPOLIA), SLOW)
