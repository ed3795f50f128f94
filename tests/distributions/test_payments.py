"""The organization pays recipients, on real chains."""

import asyncio
from typing import Any

import pytest

from backend.chain.bindings import token
from backend.users.schemas import Role
from tests.conftest import World
from tests.distributions.test_distributions import (
    STRANGER,
    activated,
    claim,
    draft_distribution,
    path_of,
    terms_of,
)
from tests.support.firm import refused
from tests.support.issuance import SEPOLIA, UNIT, Issuance

KEPT = "0x00000000000000000000000000000000000000A1"


async def paying(world: World, *others: tuple[str, int]) -> tuple[Issuance, Any, Any, Any]:
    """Return a firm, its asset, an active distribution, and the custody wallet to which it pays 5."""
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset(required_kyc_level=2)
    wallet = await firm.trader()
    made = await draft_distribution(firm, asset, (wallet["address"], 5 * UNIT), *others)
    return firm, asset, await activated(firm, asset, made), wallet


def pay_of(asset: Any, made: Any, address: str) -> str:
    return path_of(asset, made) + f"/recipients/{address}/pay"


async def test_recipient_is_paid_once_also_when_asked_twice(world: World) -> None:
    firm, asset, made, wallet = await paying(world, (STRANGER, UNIT))
    path = pay_of(asset, made, wallet["address"])
    plan = await firm.post(f"{path}?dry_run=true")
    assert plan["steps"] == ["Amount paid to the recipient"]
    assert (plan["impact"]["address"], plan["impact"]["amount"]) == (wallet["address"], str(5 * UNIT))
    at = asset["deployments"][0]["token_address"]
    before = await token.balance_of(SEPOLIA, at, wallet["address"])
    assert (await firm.get(path_of(asset, made)))["claimed_recipients"] == 0

    first, second = await asyncio.gather(firm.post(path), firm.post(path))
    assert first["requestId"] == second["requestId"]
    request = await firm.succeed(first["requestId"])
    assert request["title"].startswith(f"Pay 5 {asset['symbol']} of Dividend to ")
    [step] = request["steps"]
    assert step["tx_hash"]
    assert step["detail"] == f"5 {asset['symbol']} paid to {wallet['address']}."
    assert await token.balance_of(SEPOLIA, at, wallet["address"]) == before + 5 * UNIT
    record = await firm.get(path_of(asset, made))
    assert (record["status"], record["claimed_recipients"]) == ("active", 1)
    problem = await firm.refused("POST", path, 409)
    assert problem.detail == "This amount was already claimed."


async def test_payment_that_the_token_or_the_state_refuses_is_not_accepted(world: World) -> None:
    firm, asset, made, wallet = await paying(world, (STRANGER, UNIT))
    problem = await firm.refused("POST", pay_of(asset, made, STRANGER), 409)
    assert {rule["code"] for rule in problem.rules} == {9}, "not attested"
    assert problem.rules[0]["resolution"]["path"].startswith("/orgs/")
    problem = await firm.refused("POST", pay_of(asset, made, KEPT), 404)
    assert problem.detail == "This address is not a recipient of the distribution."
    viewer = await world.person(firm.id, Role.VIEWER)
    await refused(viewer, "POST", f"{firm.base}{pay_of(asset, made, wallet['address'])}", 403)
    draft = await draft_distribution(firm, asset, (wallet["address"], UNIT))
    problem = await firm.refused("POST", pay_of(asset, draft, wallet["address"]), 409)
    assert "is draft" in problem.detail
    await firm.succeed((await firm.post(path_of(asset, made) + "/cancel"))["requestId"])
    problem = await firm.refused("POST", pay_of(asset, made, wallet["address"]), 409)
    assert "is cancelled" in problem.detail


async def test_payment_of_an_amount_claimed_in_the_meantime_succeeds(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm, asset, made, wallet = await paying(world, (STRANGER, UNIT))
    proof = await firm.get(path_of(asset, made) + f"/proofs/{wallet['address']}")
    from backend.distributions import workflow

    send, is_claimed, asked = workflow.write, workflow.distributor.is_claimed, []

    async def claim_first(*args: Any, **options: Any) -> Any:
        if not asked:
            asked.append(True)
            await claim(made, proof, wallet["address"])
        return await send(*args, **options)

    monkeypatch.setattr(workflow, "write", claim_first)
    accepted = await firm.post(pay_of(asset, made, wallet["address"]))
    request = await firm.succeed(accepted["requestId"])
    assert request["steps"][0]["detail"].endswith("It was claimed in the meantime.")
    assert asked
    assert await is_claimed(SEPOLIA, made["distributor_address"], proof["index"])
    assert (await firm.get(path_of(asset, made)))["claimed_amount"] == str(5 * UNIT)


async def test_payment_from_a_distribution_with_only_a_root_is_refused(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset()
    listed = await draft_distribution(firm, asset, (STRANGER, 5))
    made = await firm.post(path_of(asset), {"name": "Root", "chain_eid": SEPOLIA, "total_amount": "5"})
    made = await activated(firm, asset, made, terms_of(listed))
    problem = await firm.refused("POST", pay_of(asset, made, STRANGER), 404)
    assert "only a root" in problem.detail
