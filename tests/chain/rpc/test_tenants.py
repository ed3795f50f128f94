"""Tenants share the places of a node: requests of the API count for their root organization."""

import asyncio
from typing import Any

import pytest

from backend.auth.scopes import Scope
from backend.chain.rpc import connections
from backend.chain.rpc.connections import Lane
from tests.conftest import World
from tests.support.faulty_node import Faulty, Json, in_front_of
from tests.support.issuance import SEPOLIA, Issuance

SLOW = "0x" + "5107" * 10
"""An address about which the node answers late."""
PATH = "/assets/{}/transfer-check"
CROWD = 14
"""Controls of one key: more than the 12 places for controls of a root."""


def check(firm: Issuance, asset: Any, to_address: str) -> "asyncio.Task[Any]":
    """Let a tenant ask its chain whether it may mint for an address."""
    body = {"chain_eid": SEPOLIA, "from_address": "0x" + "0" * 40, "to_address": to_address, "amount": "1"}
    return asyncio.create_task(firm.post(PATH.format(asset["id"]), body))


def freeze(firm: Issuance, asset: Any, key: dict[str, str], dry_run: bool) -> "asyncio.Task[Any]":
    """Let a key freeze the slow address, or preview that."""
    body = {"chain_eid": SEPOLIA, "address": SLOW, "amount": "1", "reason": "Test"}
    path = f"/assets/{asset['id']}/freeze?dry_run={str(dry_run).lower()}"
    return asyncio.create_task(firm.post(path, body, headers=key))


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
    monkeypatch.setitem(connections.PLACES, Lane.REQUESTS, 4)
    async with in_front_of(SEPOLIA) as node:
        gate = Gate(node, monkeypatch)
        backlog = [check(first, assets[0], SLOW) for _ in range(2)]
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


@pytest.mark.long
@pytest.mark.parametrize("dry_run", [True, False])
async def test_controls_of_an_organization_below_delay_no_control_of_the_one_above(
    world: World, monkeypatch: pytest.MonkeyPatch, dry_run: bool
) -> None:
    above = await Issuance.ready(world, SEPOLIA)
    below = await Issuance.ready(world, SEPOLIA, parent=above.id)
    assets = [await firm.asset() for firm in (above, below)]
    key = await world.key(below.id, Scope.ASSETS_WRITE, created_by=below.admin.user_id)
    async with in_front_of(SEPOLIA) as node:
        gate = Gate(node, monkeypatch)
        crowd = [freeze(below, assets[1], key, dry_run) for _ in range(CROWD)]
        async with asyncio.timeout(60):
            await gate.held.wait()
            paused = await above.post(f"/assets/{assets[0]['id']}/pause", {"chain_eid": SEPOLIA, "reason": "Test"})
            await above.succeed(paused["requestId"])
        assert not any(call.done() for call in crowd), "the node has answered none of them"
        gate.is_open.set()
        await asyncio.gather(*crowd)
