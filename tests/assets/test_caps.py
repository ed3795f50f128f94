"""Caps over several chains: the sum stays the same, however holders are distributed."""

from typing import Any

import pytest

from backend.assets import caps
from backend.assets.rules import Held
from backend.chain.bindings import token
from backend.chain.errors import Reverted
from backend.chain.indexer import indexer
from tests.assets.test_updates import at
from tests.conftest import World
from tests.support.firm import HYPEREVM, SEPOLIA
from tests.support.issuance import UNIT, Issuance

pytestmark = pytest.mark.long


async def held_by(firm: Issuance, asset: Any, count: int, amount: int = UNIT) -> list[str]:
    """Number of attested holders on the first chain."""
    addresses = [(await firm.trader())["address"] for _ in range(count)]
    for address in addresses:
        outcome = await firm.owner_call(token.mint(at(asset), address, amount))
        await indexer.catch_up(SEPOLIA, outcome.block_number)
    return addresses


async def bridged(firm: Issuance, asset: Any) -> Any:
    """Bring the asset to a second chain."""
    accepted = await firm.post(f"/assets/{asset['id']}/bridge", {"destination_chain_eid": HYPEREVM})
    await firm.succeed(accepted["requestId"])
    return await firm.get(f"/assets/{asset['id']}")


async def shares_of(asset: Any) -> list[tuple[int, int]]:
    found = [await token.rules(eid, at(asset, eid)) for eid in (SEPOLIA, HYPEREVM)]
    return [(rules.max_holders, rules.max_tokens_per_holder // UNIT) for rules in found]


async def test_second_chain_gets_the_holder_cap_that_the_first_leaves(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA, HYPEREVM)
    asset = await firm.asset(max_holders=4, compliance_rules={"max_tokens_per_holder": str(100 * UNIT)})
    await held_by(firm, asset, 2)
    (whale,) = await held_by(firm, asset, 1, 70 * UNIT)
    asset = await bridged(firm, asset)
    # Equal parts would be 2 and 2, 50 and 50: with the existing three, five could hold, and one of them 120.
    assert await shares_of(asset) == [(3, 70), (1, 30)]
    with pytest.raises(Reverted) as refusal:
        await firm.owner_call(token.mint(at(asset), whale, 1))
    assert refusal.value.code == 15
    await held_by_refused(firm, asset)

    accepted = await firm.patch(f"/assets/{asset['id']}", {"max_holders": 10})
    await firm.succeed(accepted["requestId"])
    assert await shares_of(asset) == [(5, 70), (5, 30)]
    problem = await firm.refused("PATCH", f"/assets/{asset['id']}", 409, json={"max_holders": 3})
    assert "3 of it is taken already" in problem.detail


async def held_by_refused(firm: Issuance, asset: Any) -> None:
    one_more = await firm.trader()
    with pytest.raises(Reverted) as refusal:
        await firm.owner_call(token.mint(at(asset), one_more["address"], UNIT))
    assert refusal.value.code == 14


async def test_asset_at_its_holder_cap_cannot_use_a_second_chain(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA, HYPEREVM)
    asset = await firm.asset(max_holders=2)
    await held_by(firm, asset, 2)
    body = {"destination_chain_eid": HYPEREVM}
    problem = await firm.refused("POST", f"/assets/{asset['id']}/bridge", 409, json=body)
    assert "2 of it is taken already" in problem.detail
    assert (await token.rules(SEPOLIA, at(asset))).max_holders == 2


async def test_holder_added_while_caps_are_written_is_counted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first read is outdated; the sum still stays the same."""
    firm = await Issuance.ready(world, SEPOLIA, HYPEREVM)
    asset = await firm.asset(max_holders=4)
    await held_by(firm, asset, 3)
    real, looks = caps.held, []

    async def late(*arguments: Any) -> Held:
        looks.append(await real(*arguments))
        return Held({SEPOLIA: 1}) if len(looks) == 1 else looks[-1]

    monkeypatch.setattr(caps, "held", late)
    asset = await bridged(firm, asset)
    assert [maximum for maximum, _ in await shares_of(asset)] == [3, 1]
    assert len(looks) == 3
