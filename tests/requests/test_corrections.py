"""Requests and their transactions after a changed outcome: found late, reorganized, and not final yet."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio

from backend.chain.bindings import registry, token
from backend.chain.deployment.contracts import contracts_of
from backend.chain.finality import Finality
from backend.chain.rpc import finality, floors, node_urls, terms
from backend.chain.rpc.json_rpc import Rpc, connect
from backend.chain.transactions import lost_transactions, settlement
from backend.core.errors import Conflict
from backend.requests import workflows
from backend.requests.runs import Run
from backend.server import sweep
from tests.chain.conftest import short_timeouts
from tests.chain.transactions.foreign_wallets import send_as
from tests.conftest import World
from tests.support.crash import run, unqueued
from tests.support.faulty_node import Faulty, in_front_of
from tests.support.firm import SEPOLIA
from tests.support.issuance import UNIT, Issuance, steps_of

pytestmark = pytest.mark.long

__all__ = ["short_timeouts"]


@pytest_asyncio.fixture
async def firm(world: World) -> Issuance:
    return await Issuance.ready(world, SEPOLIA)


@pytest_asyncio.fixture
async def node(firm: Issuance) -> AsyncIterator[Faulty]:
    async with in_front_of(SEPOLIA) as faulty:
        yield faulty


@pytest.fixture
def immediate_settlement(monkeypatch: pytest.MonkeyPatch) -> None:
    """Transactions are settled as soon as a test requests it."""
    monkeypatch.setattr(settlement, "LEFT_ALONE", timedelta(0))
    monkeypatch.setattr(settlement, "SEARCH", 0.0)
    monkeypatch.setattr(settlement, "RECHECK", timedelta(0))


def is_public(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    """From here on the chain counts as public, and its blocks come when a test mines them."""
    short = replace(terms.DEFAULTS[SEPOLIA], block_time=0.05, confirmations=0, **changes)
    monkeypatch.setattr(node_urls, "is_embedded", lambda eid: False)
    monkeypatch.setattr(terms, "DEFAULTS", dict.fromkeys(terms.DEFAULTS, short))
    finality.forget(SEPOLIA)


async def burn(firm: Issuance, asset: Any, amount: int) -> Any:
    """Accept a burn and return the acceptance."""
    address = (await firm.treasury())["address"]
    body = {"chain_eid": SEPOLIA, "address": address, "amount": str(amount), "reason": "Redeemed"}
    return await firm.post(f"/assets/{asset['id']}/burn", body)


async def corrections(firm: Issuance, request_id: str) -> list[str]:
    """Return the reasons of a request's corrections in the audit log, oldest first."""
    entries = (await firm.get("/audit", params={"limit": 100}))["audit"]
    mine = [one for one in entries if (one["action"], one["subject"]["id"]) == ("request.corrected", request_id)]
    return [entry["after"]["reason"] for entry in reversed(mine)]


async def supply(asset: Any) -> int:
    return await token.total_supply(SEPOLIA, asset["deployments"][0]["token_address"])


async def mine(chain: Rpc, blocks: int) -> None:
    await chain.request("anvil_mine", hex(blocks))


async def test_request_without_final_transactions_is_running_until_they_are_final(
    firm: Issuance, immediate_settlement: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asset, chain = await firm.asset(), await connect(SEPOLIA)
    with monkeypatch.context() as patch:
        is_public(patch, safe=3, final=6, succeeds_at=Finality.FINAL)
        accepted = await burn(firm, asset, 7 * UNIT)
        request = await firm.settle(accepted["requestId"])
        (step,) = [one for one in request["steps"] if one["tx_hash"]]
        assert (request["status"], request["awaits_finality"], step["finality"]) == ("running", True, "included")
        await mine(chain, 3)
        await settlement.settle(chain)
        request = await firm.get(f"/requests/{accepted['requestId']}")
        assert (request["status"], steps_of(request)[step["name"]]["finality"]) == ("running", "safe")
        await mine(chain, 3)
        await settlement.settle(chain)
    request = await firm.get(f"/requests/{accepted['requestId']}")
    assert (request["status"], request["awaits_finality"]) == ("succeeded", False)
    assert steps_of(request)[step["name"]]["finality"] == "final"
    assert await supply(asset) == 993 * UNIT


async def test_request_with_a_reorganized_transaction_runs_until_it_is_included_again(
    firm: Issuance, immediate_settlement: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asset, chain = await firm.asset(), await connect(SEPOLIA)
    with monkeypatch.context() as patch:
        is_public(patch, safe=30, final=60, succeeds_at=Finality.INCLUDED)
        accepted = await burn(firm, asset, 7 * UNIT)
        assert (await firm.settle(accepted["requestId"]))["status"] == "succeeded"
        await chain.request("evm_setAutomine", False)
        height = await chain.height()
        await chain.request("anvil_reorg", 1, [])
        await settlement.follow_reorg(chain, height - 1)
        request = await firm.get(f"/requests/{accepted['requestId']}")
        assert (request["status"], request["awaits_finality"]) == ("running", True)
        await chain.request("evm_setAutomine", True)
        await mine(chain, 1)
        await settlement.settle(chain)
        request = await firm.get(f"/requests/{accepted['requestId']}")
    assert request["status"] == "succeeded"
    assert await supply(asset) == 993 * UNIT
    assert await corrections(firm, accepted["requestId"]) == [
        "A chain reorganization removed the transaction from its block. It was sent again."
    ]


async def test_request_with_a_refused_reorganized_transaction_fails_with_the_reason(
    firm: Issuance, immediate_settlement: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asset, chain = await firm.asset(required_kyc_level=1), await connect(SEPOLIA)
    seller, buyer = await firm.trader(), await firm.trader()
    at = asset["deployments"][0]["token_address"]
    await firm.owner_call(token.transfer(at, seller["address"], 10 * UNIT))
    body = {
        "asset_id": asset["id"], "chain_eid": SEPOLIA, "from_wallet_id": seller["id"],
        "to_address": buyer["address"], "amount": str(4 * UNIT),
    }  # fmt: skip
    with monkeypatch.context() as patch:
        is_public(patch, safe=30, final=60, succeeds_at=Finality.INCLUDED)
        accepted = await firm.post("/transfers", body)
        assert (await firm.settle(accepted["requestId"]))["status"] == "succeeded"
        height = await chain.height()
        await chain.request("anvil_reorg", 1, [])
        await send_as(SEPOLIA, (await firm.treasury())["address"], token.pause(at))
        await settlement.follow_reorg(chain, height - 1)
        async with asyncio.timeout(30):
            while (await firm.get(f"/requests/{accepted['requestId']}"))["status"] == "running":
                await mine(chain, 1)
                await settlement.settle(chain)
    request = await firm.get(f"/requests/{accepted['requestId']}")
    assert (request["status"], request["problem"]["detail"]) == ("failed", "The token is paused.")
    transfer = await firm.get(f"/transfers/{accepted['transferId']}")
    assert (transfer["status"], transfer["failure"]) == ("failed", "The token is paused.")
    assert await token.balance_of(SEPOLIA, at, seller["address"]) == 10 * UNIT


async def marked_failed(firm: Issuance, node: Faulty, asset: Any) -> Any:
    """A burn that is mined while no machine returns its receipt, so that it is marked as failed; returns the
    acceptance."""
    node.does(lambda call: {"result": None} if call["method"] == "eth_getTransactionReceipt" else None)
    accepted = await burn(firm, asset, 7 * UNIT)
    request = await firm.fail(accepted["requestId"])
    assert "was used by another transaction" in request["problem"]["detail"]
    assert await supply(asset) == 993 * UNIT
    node.heals()
    return accepted


async def test_transaction_marked_failed_and_found_mined_is_corrected_with_its_request(
    firm: Issuance, node: Faulty, short_timeouts: None, immediate_settlement: None
) -> None:
    asset = await firm.asset()
    accepted = await marked_failed(firm, node, asset)
    chain = await connect(SEPOLIA)
    async with asyncio.timeout(30):
        while (await firm.get(f"/requests/{accepted['requestId']}"))["status"] == "failed":
            await settlement.settle(chain)
    assert (await firm.settle(accepted["requestId"], 2))["status"] == "succeeded"
    assert await supply(asset) == 993 * UNIT, "it is burnt once"
    assert await corrections(firm, accepted["requestId"]) == [
        "The transaction was marked failed but has been mined.",
        "The transaction is mined; the request continues.",
    ]


async def test_retry_of_a_request_with_a_mined_transaction_does_not_execute_it_again(
    firm: Issuance, node: Faulty, short_timeouts: None
) -> None:
    asset = await firm.asset()
    accepted = await marked_failed(firm, node, asset)
    request = await firm.retry(accepted["requestId"])
    assert request["status"] == "succeeded"
    assert await supply(asset) == 993 * UNIT, "it is burnt once"
    assert await corrections(firm, accepted["requestId"]) == ["The transaction was marked failed but has been mined."]


async def test_floor_is_raised_by_confirmed_blocks(firm: Issuance, monkeypatch: pytest.MonkeyPatch) -> None:
    asset = await firm.asset()
    with monkeypatch.context() as patch:
        is_public(patch, safe=30, final=60, succeeds_at=Finality.INCLUDED)
        accepted = await burn(firm, asset, UNIT)
        await firm.succeed(accepted["requestId"])
        height = await (await connect(SEPOLIA)).height()
        assert floors.known(SEPOLIA) == height
        assert await supply(asset) == 999 * UNIT


async def test_attestation_reordered_by_a_reorg_takes_its_new_identifier(
    firm: Issuance, immediate_settlement: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The registry counts attestations: in another order, each has another identifier."""
    chain, parties = await connect(SEPOLIA), []
    for _ in range(2):
        wallet = await firm.post("/wallets", {"label": f"Investor {len(parties)}"})
        parties.append(await firm.verified(wallet["address"]))
    other = await Issuance.ready(World(firm.admin.client), SEPOLIA)
    with monkeypatch.context() as patch:
        is_public(patch, safe=30, final=60, succeeds_at=Finality.INCLUDED)
        first = await firm.attest(parties[0])
        assert first["status"] == "active"
        height = await chain.height()
        await chain.request("anvil_reorg", 1, [])
        at = (await contracts_of(SEPOLIA)).registry
        call = registry.attest(at, subject=parties[1]["wallet_address"], level=1, country="SWE", accredited=False)
        await send_as(SEPOLIA, (await other.treasury())["address"], call)
        await settlement.follow_reorg(chain, height - 1)
        await mine(chain, 1)
        await settlement.settle(chain)
        assert (await firm.settle(first["request_id"], 2))["status"] == "succeeded"
    again = await firm.get(f"/attestations/{first['id']}")
    assert (again["status"], again["proof"]["agrees"]) == ("active", True)
    assert again["uid"] != first["uid"]


async def rerun(firm: Issuance, monkeypatch: pytest.MonkeyPatch, body: Callable[[list[float]], None]) -> Any:
    """Run a test's body for a request, with a clock in seconds that the body moves, while transactions are lost; return
    the request."""
    asset, clock = await firm.asset(), [0.0]

    async def are_lost(_: UUID) -> bool:
        return True

    async def work(_: Run) -> None:
        body(clock)

    async def nothing() -> None:
        return None

    monkeypatch.setattr(sweep, "once", nothing)  # it would end a request without a worker
    monkeypatch.setattr(lost_transactions, "may_concern", are_lost)
    monkeypatch.setattr(workflows, "AGAIN", 0.0)
    monkeypatch.setattr(workflows, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    with unqueued():
        accepted = await burn(firm, asset, UNIT)
    await run(work, None, firm.id, accepted["requestId"])
    return await firm.get(f"/requests/{accepted['requestId']}")


async def test_request_refused_after_a_reorg_of_a_long_run_is_run_again(
    firm: Issuance, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = list[float]()

    def refused_once(clock: list[float]) -> None:
        clock[0] += 2 * lost_transactions.LASTS.total_seconds()
        runs.append(clock[0])
        if len(runs) == 1:
            raise Conflict("The tokens are gone.")

    assert (await rerun(firm, monkeypatch, refused_once))["status"] == "succeeded"
    assert len(runs) == 2


async def test_request_refused_for_longer_than_a_reorg_lasts_fails(
    firm: Issuance, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusals = list[float]()

    def refused(clock: list[float]) -> None:
        clock[0] += 100.0
        refusals.append(clock[0])
        if len(refusals) < 20:
            raise Conflict("The tokens are gone.")

    request = await rerun(firm, monkeypatch, refused)
    assert request["status"] == "failed"
    assert request["problem"]["detail"] == "The tokens are gone."
    assert refusals == [100.0, 200.0, 300.0, 400.0, 500.0], "five minutes from the first, then none"
