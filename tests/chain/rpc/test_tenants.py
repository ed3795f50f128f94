"""Tenants share the places of a node: requests of the API count for their root organization."""

import asyncio
from typing import Any

import pytest

from backend.chain.rpc import connections
from backend.chain.rpc.connections import Lane
from tests.conftest import World
from tests.support.faulty_node import Faulty, Json, in_front_of
from tests.support.issuance import SEPOLIA, Issuance

SLOW = "0x" + "5107" * 10
"""An address about which the node answers late."""
PATH = "/assets/{}/transfer-check"


def check(firm: Issuance, asset: Any, to_address: str) -> "asyncio.Task[Any]":
    """Let a tenant ask its chain whether it may mint for an address."""
    body = {"chain_eid": SEPOLIA, "from_address": "0x" + "0" * 40, "to_address": to_address, "amount": "1"}
    return asyncio.create_task(firm.post(PATH.format(asset["id"]), body))


class Gate:
    """Holds a node's calls about the slow address."""

    def __init__(self, node: Faulty, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count, self.held, self.is_open = 0, asyncio.Event(), asyncio.Event()
        self._answer = node._answer
        monkeypatch.setattr(node, "_answer", self._late)

    async def _late(self, calls: list[Json]) -> bytes | None:
        if SLOW[2:] in str(calls):
            self.count += 1
            if self.count == 2:
                self.held.set()
            await self.is_open.wait()
        return await self._answer(calls)


@pytest.mark.long
async def test_backlog_of_a_tenant_delays_its_own_root_but_no_other_and_no_control(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = await Issuance.ready(world, SEPOLIA), await Issuance.ready(world, SEPOLIA)
    below = await Issuance.ready(world, SEPOLIA, parent=first.id)
    assets = [await firm.asset() for firm in (first, second, below)]
    monkeypatch.setattr(connections, "PLACES", {Lane.REQUESTS: 4, Lane.WORK: 24})
    async with in_front_of(SEPOLIA) as node:
        gate = Gate(node, monkeypatch)
        backlog = [check(first, assets[0], SLOW)]
        async with asyncio.timeout(60):
            await gate.held.wait()
            backlog.append(check(below, assets[2], "0x" + "1" * 40))
            assert "allowed" in await check(second, assets[1], "0x" + "1" * 40)
            paused = await first.post(f"/assets/{assets[0]['id']}/pause", {"chain_eid": SEPOLIA, "reason": "Test"})
            await first.succeed(paused["requestId"])
        assert not any(call.done() for call in backlog), "the root holds half of the places"
        gate.is_open.set()
        for call in backlog:
            assert "allowed" in await call
