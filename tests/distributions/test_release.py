"""Held recipients are released once they are eligible, and paid once."""

import asyncio
from typing import Any

import pytest
from eth_account import Account

from backend.chain.bindings import token
from backend.client import ApiProblem
from tests.conftest import World
from tests.distributions.test_distributions import activated, claim, terms_of
from tests.distributions.test_drafts import path_of
from tests.distributions.test_eligibility import attested, body_of
from tests.support.firm import HYPEREVM, SEPOLIA
from tests.support.issuance import Issuance

STRANGER = "0x52908400098527886E0F7030069857D2E4169EE7"


def release_of(made: Any, **more: Any) -> dict[str, Any]:
    return {"name": "Released", "chain_eid": SEPOLIA, "held_of": made["id"]} | more


async def holding(world: World) -> tuple[Issuance, Any, Any, Any]:
    """Return a firm, its asset, a draft with two held recipients, and the party of the second one."""
    firm = await Issuance.ready(world, SEPOLIA)
    asset, good = await firm.asset(), await attested(firm)
    late = await firm.verified(str(Account.create().address))
    people = [(STRANGER, 5), (good, 7), (late["wallet_address"], 9)]
    return firm, asset, await firm.post(path_of(asset), body_of(*people, blocked="hold")), late


async def released_by(firm: Issuance, asset: Any, made: Any) -> list[str | None]:
    held = (await firm.get(path_of(asset, made) + "/held-recipients"))["recipients"]
    return [one["released_by"] for one in held]


@pytest.mark.long
async def test_held_recipient_who_became_eligible_is_released_and_paid_once(world: World) -> None:
    firm, asset, made, late = await holding(world)
    path = path_of(asset)
    problem = await firm.refused("POST", path, 409, json=release_of(made))
    assert "is draft" in problem.detail
    made = await activated(firm, asset, made)
    problem = await firm.refused("POST", path, 409, json=release_of(made))
    assert "refuse every recipient" in problem.detail
    await firm.attest(late)

    plan = await firm.post(f"{path}?dry_run=true", release_of(made))
    assert (plan["check"]["eligible"], plan["check"]["blocked"], plan["impact"]["total_amount"]) == (1, 1, "9")
    assert await released_by(firm, asset, made) == [None, None]
    both = await asyncio.gather(
        *(firm.post(path, release_of(made, name=name)) for name in ("One", "Two")), return_exceptions=True
    )
    (second,) = (one for one in both if isinstance(one, dict))
    (lost,) = (one for one in both if isinstance(one, ApiProblem))
    assert lost.status == 409
    assert (second["held_of"], second["total_recipients"], second["total_amount"]) == (made["id"], 1, "9")
    assert await released_by(firm, asset, made) == [None, second["id"]]
    problem = await firm.refused("POST", path, 409, json=release_of(made))
    assert "refuse every recipient" in problem.detail

    second = await activated(firm, asset, second)
    wallet = late["wallet_address"]
    proof = await firm.get(path_of(asset, second) + f"/proofs/{wallet}")
    await claim(second, proof, (await firm.treasury())["address"])
    at = asset["deployments"][0]["token_address"]
    assert await token.balance_of(SEPOLIA, at, wallet) == 9
    assert (await firm.get(path_of(asset, second)))["status"] == "completed"
    assert await released_by(firm, asset, made) == [None, second["id"]]
    await firm.refused("POST", path, 409, json=release_of(made))


@pytest.mark.long
async def test_release_that_ends_without_a_payment_holds_its_recipients_again(world: World) -> None:
    firm, asset, made, late = await holding(world)
    path = path_of(asset)
    made = await activated(firm, asset, made)
    await firm.attest(late)
    deleted = await firm.post(path, release_of(made))
    await firm.delete(path_of(asset, deleted))
    assert await released_by(firm, asset, made) == [None, None]
    cancelled = await firm.post(path, release_of(made))
    await activated(firm, asset, cancelled)
    await firm.succeed((await firm.post(path_of(asset, cancelled) + "/cancel"))["requestId"])
    assert await released_by(firm, asset, made) == [None, None]
    again = await firm.post(path, release_of(made))
    assert await released_by(firm, asset, made) == [None, again["id"]]
    assert terms_of(again)["totalRecipients"] == 1
    await firm.succeed((await firm.post(path_of(asset, made) + "/cancel"))["requestId"])
    problem = await firm.refused("POST", path, 409, json=release_of(made))
    assert "is cancelled" in problem.detail


@pytest.mark.long
async def test_release_of_a_wrong_distribution_is_refused(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset, good = await firm.asset(), await attested(firm)
    made = await activated(firm, asset, await firm.post(path_of(asset), body_of((good, 5), blocked="hold")))
    problem = await firm.refused("POST", path_of(asset), 409, json=release_of(made))
    assert problem.detail == "No recipients are held in this distribution."
    await firm.refused("POST", path_of(asset), 422, json=release_of(made, total_amount="5"))
    await firm.refused("POST", path_of(asset), 404, json=release_of({"id": str(firm.id)}))
    await firm.enable(HYPEREVM)
    await firm.refused("POST", path_of(asset), 400, json=release_of(made, chain_eid=HYPEREVM))
    other = await Issuance.ready(world, SEPOLIA)
    theirs = await other.asset()
    await other.refused("POST", path_of(theirs), 404, json=release_of(made))
