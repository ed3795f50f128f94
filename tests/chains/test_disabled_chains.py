"""Disabled chains: nothing new starts on them, operations that end something work, and work in progress finishes."""

import asyncio
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col

from backend.client import ApiProblem
from backend.controls import workflow
from backend.core import db
from backend.requests import service
from backend.requests.models import RequestRow
from backend.requests.schemas import RequestStatus
from tests.conftest import World
from tests.support.crash import killed, run, unqueued
from tests.support.firm import HYPEREVM, SEPOLIA
from tests.support.issuance import UNIT, Issuance, asset_body, orders_path

pytestmark = pytest.mark.long

WHY = "Ordered by the regulator."
INVESTOR = "0x52908400098527886E0F7030069857D2E4169EE7"


async def disable(firm: Issuance, eid: int = SEPOLIA) -> Any:
    return await firm.post(f"/chains/{(await firm.chain(eid))['id']}/disable")


def assert_names_the_way(firm: Issuance, problem: ApiProblem, chain: Any) -> None:
    """Check that a refusal says which chain is disabled and how to enable it."""
    assert (problem.status, problem.type.rsplit("/", 1)[-1]) == (409, "prerequisites-not-met"), problem
    entry = next(e for e in problem.prerequisites if e["state"] == "chain_enabled" and not e["satisfied"])
    assert entry["resolution"]["method"] == "POST"
    assert entry["resolution"]["path"].endswith(f"/orgs/{firm.id}/chains/{chain['id']}/enable")
    assert "chain_enabled" in problem.dependencyChain


async def test_disabled_chain_refuses_what_starts_and_serves_what_ends(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA, HYPEREVM)
    asset, treasury = await firm.asset(), await firm.treasury()
    market, party = await firm.market(asset), await firm.verified(INVESTOR)
    attestation = await firm.attest(party)
    order = await firm.order(market, treasury, "sell", 10**7, UNIT)
    at, mine = f"/assets/{asset['id']}", {"chain_eid": SEPOLIA, "reason": WHY}
    frozen = mine | {"address": treasury["address"], "amount": "5"}
    draft = {"name": "Coupon", "chain_eid": SEPOLIA, "recipients": [{"address": INVESTOR, "amount": "1"}]}
    distribution = await firm.post(f"{at}/distributions", draft)
    await firm.succeed((await firm.post(f"{at}/freeze", frozen))["requestId"])
    await firm.succeed((await firm.post(f"{at}/pause", mine))["requestId"])
    chain, known = await disable(firm), {"chain_eid": SEPOLIA}
    path = {"source_chain_eid": SEPOLIA, "destination_chain_eid": HYPEREVM, "reason": WHY}
    moved = {"from_address": treasury["address"], "to_address": INVESTOR, "amount": "1"}
    activation = {"chainEid": SEPOLIA, "merkleRoot": distribution["merkle_root"], "totalRecipients": 1}
    starting: list[tuple[str, str, dict[str, Any]]] = [
        ("POST", "/assets", asset_body()),
        ("PATCH", at, {"required_kyc_level": 1}),
        ("POST", "/attestations", known | {"party_id": party["id"]}),
        ("POST", f"{at}/mint", known | {"to_address": treasury["address"], "amount": "1"}),
        ("POST", f"{at}/burn", mine | {"address": treasury["address"], "amount": "1"}),
        ("POST", f"{at}/forced-transfer", mine | moved),
        ("POST", f"{at}/recover", mine | {"lost_address": treasury["address"], "new_address": INVESTOR}),
        ("POST", f"{at}/limit-path", path | {"amount": str(UNIT)}),
        ("POST", f"{at}/bridge", {"destination_chain_eid": HYPEREVM, "amount": "0"}),
        ("POST", f"{at}/markets", await firm.market_body(HYPEREVM)),
        ("POST", f"{at}/distributions", draft),
        ("POST", f"{at}/distributions/{distribution['id']}/activate", activation),
        ("POST", "/transfers", known | {"asset_id": asset["id"], "from_wallet_id": treasury["id"]}
         | {"to_address": INVESTOR, "amount": "1"}),
        ("POST", orders_path(market), {"side": "sell", "price": "1", "amount": "1", "wallet_id": treasury["id"]}),
    ]  # fmt: skip
    for method, place, body in starting:
        for query in ("", "?dry_run=true"):
            assert_names_the_way(firm, await firm.refused(method, place + query, 409, json=body), chain)
    await firm.succeed((await firm.patch(at, {"name": "Renamed"}))["requestId"])

    ending: list[tuple[str, str, Any]] = [
        ("DELETE", f"{orders_path(market)}/{order['id']}", None),
        ("POST", f"{at}/unfreeze", frozen),
        ("POST", f"{at}/freeze", frozen),
        ("POST", f"{at}/unpause", mine),
        ("POST", f"{at}/pause", {"reason": WHY}),
        ("POST", f"/attestations/{attestation['id']}/revoke", {"reason": WHY}),
        ("POST", f"{at}/distributions/{distribution['id']}/cancel", None),
    ]
    for method, place, body in ending:
        accepted = await firm.admin.call(method, f"{firm.base}{place}", json=body)
        await firm.succeed(accepted["requestId"])

    await firm.enable(SEPOLIA)
    await firm.succeed((await firm.post(f"{at}/unpause", mine))["requestId"])
    mint = known | {"to_address": treasury["address"], "amount": "1"}
    await firm.succeed((await firm.post(f"{at}/mint", mint))["requestId"])


async def test_work_in_progress_on_a_disabled_chain_finishes_and_says_so(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset, treasury = await firm.asset(), await firm.treasury()
    mint = {"chain_eid": SEPOLIA, "to_address": treasury["address"], "amount": "1"}
    with unqueued():
        ids = [(await firm.post(f"/assets/{asset['id']}/mint", mint))["requestId"] for _ in range(3)]
        first, begun, unsent = ids
        assert await killed(workflow.control, firm.id, begun, moment=2)
    off = await disable(firm)
    assert (off["requests_in_progress"], (await firm.chain(SEPOLIA))["requests_in_progress"]) == (3, 3)
    notice = (await firm.get(f"/requests/{first}"))["notice"]
    name = off["display_name"]
    assert notice == f"{name} was disabled after this request was made. It finishes; nothing new starts there."
    await run(workflow.control, None, firm.id, first)
    done = await firm.get(f"/requests/{first}")
    assert (done["status"], done["notice"]) == ("succeeded", None)

    async with db.worker() as session:
        failed = sa.update(RequestRow).where(col(RequestRow.id).in_([UUID(begun), UUID(unsent)]))
        await session.execute(failed.values(status=RequestStatus.FAILED, can_retry=True))
    problem = await firm.refused("POST", f"/requests/{unsent}/retry", 409)
    assert_names_the_way(firm, problem, off)
    assert (await firm.retry(begun))["status"] == "succeeded", "its transaction is on the chain"


async def test_chain_is_disabled_after_requests_that_are_being_accepted(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset, treasury = await firm.asset(), await firm.treasury()
    write = service.write

    async def while_disabling(*args: Any, **options: Any) -> Any:
        monkeypatch.setattr(service, "write", write)
        disabling.append(asyncio.create_task(disable(firm)))
        async with asyncio.timeout(60):
            while not await _has_waiter():
                assert not disabling[0].done(), "a request is being accepted"
        return await write(*args, **options)

    disabling: list[asyncio.Task[Any]] = []
    monkeypatch.setattr(service, "write", while_disabling)
    mint = {"chain_eid": SEPOLIA, "to_address": treasury["address"], "amount": "1"}
    accepted = await firm.post(f"/assets/{asset['id']}/mint", mint)
    assert (await disabling[0])["enabled"] is False
    await firm.succeed(accepted["requestId"])
    assert_names_the_way(
        firm, await firm.refused("POST", f"/assets/{asset['id']}/mint", 409, json=mint), await disabling[0]
    )


async def _has_waiter() -> bool:
    async with db.worker() as session:
        waits = "select exists (select from pg_locks where not granted and locktype in ('transactionid', 'tuple'))"
        return bool(await session.scalar(sa.text(waits)))
