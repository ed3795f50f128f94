"""Repairs: wrong, missing and surplus rows become those of the chain again, and the audit log records it."""

import json
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa
from sqlmodel import col

from backend.attestations.schemas import AttestationStatus
from backend.chain.alarms import list_open
from backend.chain.bindings import registry
from backend.chain.deployment.contracts import contracts_of, operator
from backend.chain.indexer import log_limits, reread
from backend.chain.models import AlarmKind, StateEventRow
from backend.chain.rpc import terms
from backend.chain.transactions.execution import execute
from backend.core import db
from backend.core.runtime import runtime
from backend.distributions.models import ClaimRow
from backend.issuers.models import IssuerWalletRow
from backend.issuers.schemas import IssuerStatus
from backend.models import (
    AttestationRow,
    DeploymentRow,
    DistributionRow,
    MarketRow,
    OrderRow,
    ReconciliationRow,
    TokenTransferRow,
)
from backend.reconciliation import service
from backend.status.notes import AlarmNotes
from tests.conftest import World
from tests.reconciliation.conftest import Scene
from tests.reconciliation.test_reconcile import command
from tests.support.firm import SEPOLIA
from tests.support.issuance import UNIT, Issuance
from tests.support.node_pool.options import PoolOptions
from tests.support.node_pool.pool import in_front_of

Rows = list[dict[str, Any]]


async def rows(scene: Scene, table: Any) -> Rows:
    """Return the firm's rows of a table, without the columns of write times."""
    async with db.worker() as session:
        found = await session.scalars(sa.select(table).where(table.organization_id == scene.firm.id))
        on_chain = [row.model_dump(exclude={"id", "created_at", "updated_at"}) for row in found]
    return sorted(on_chain, key=str)


async def write(scene: Scene, statement: Any) -> None:
    async with db.worker() as session:
        await session.execute(statement.where(statement.table.c.organization_id == scene.firm.id))


async def repairs_of(scene: Scene) -> Rows:
    """Return the firm's entries about repairs, newest first."""
    found: Rows = (await scene.firm.get("/audit", params={"action": "chain.repaired"}))["audit"]
    return found


@pytest.mark.long
@pytest.mark.parametrize(
    ("table", "change", "kind", "what"),
    [
        (TokenTransferRow, {"amount": 7}, "balance", "balance"),
        (TokenTransferRow, {"to_address": "0x" + "11" * 20}, "balance", "balance"),
        (DeploymentRow, {"applied_rules": {}}, "token", "rule min_kyc_level"),
        (DeploymentRow, {"supply": 5}, "token", "recorded supply"),
        (DeploymentRow, {"paused": True}, "token", "paused"),
        (DeploymentRow, {"venues": []}, "market", "settles"),
        (MarketRow, {"taker_fee_bps": 31}, "market", "taker_fee_bps"),
        (MarketRow, {"min_kyc_level": 4, "blocked_countries": ["USA"]}, "market", "rules"),
        (MarketRow, {"is_halted": True}, "market", "halted by owner"),
        (MarketRow, {"is_halted": True, "status": "halted"}, "market", "halted"),
        (MarketRow, {"volume": 1}, "market", "volume"),
        (OrderRow, {"filled": 1}, "order", "filled"),
        (OrderRow, {"price": 1}, "order", "price"),
        (OrderRow, {"status": "cancelled"}, "order", "status"),
        (OrderRow, {"maker_address": "0x" + "11" * 20}, "order", "maker"),
        (AttestationRow, {"kyc_level": 3}, "attestation", "statement"),
        (AttestationRow, {"status": "revoked"}, "attestation", "status"),
        (DistributionRow, {"claimed_amount": 1, "claimed_recipients": 2}, "distribution", "claimed"),
    ],
)
async def test_changed_row_is_read_from_the_chain_again(
    scene: Scene, table: Any, change: dict[str, Any], kind: str, what: str
) -> None:
    before, logged = await rows(scene, table), await repairs_of(scene)
    await write(scene, sa.update(table).values(**change))
    report = await scene.run(repairs=True)
    assert report.differences == []
    assert (kind, what) in {(found.kind, found.what) for found in report.repaired}
    assert await rows(scene, table) == before
    assert await scene.differences() == {}
    assert len(await repairs_of(scene)) > len(logged)


@pytest.mark.long
@pytest.mark.parametrize("table", [TokenTransferRow, OrderRow, StateEventRow])
async def test_missing_rows_are_read_from_the_chain_again(scene: Scene, table: Any) -> None:
    before = await rows(scene, table)
    assert before
    await write(scene, sa.delete(table))
    await write(scene, sa.update(DeploymentRow).values(venues=[]))
    report = await scene.run(repairs=True)
    assert report.differences == []
    assert report.repaired != []
    assert await rows(scene, table) == before


async def test_missing_claim_is_read_from_the_chain_again(scene: Scene) -> None:
    before = await rows(scene, ClaimRow), await rows(scene, DistributionRow)
    await write(scene, sa.delete(ClaimRow))
    await write(scene, sa.update(DistributionRow).values(claimed_amount=0, claimed_recipients=0))
    report = await scene.run(repairs=True)
    assert [(found.kind, found.what) for found in report.repaired] == [("distribution", "claimed")]
    assert (await rows(scene, ClaimRow), await rows(scene, DistributionRow)) == before


async def test_rows_unknown_to_the_chain_are_deleted(scene: Scene) -> None:
    tables = (TokenTransferRow, OrderRow, ClaimRow)
    before = [await rows(scene, table) for table in tables]
    async with db.worker() as session:
        for table, changes in zip(tables, ({}, {"chain_order_id": 77}, {"index": 1}), strict=True):
            one = sa.select(table).where(table.organization_id == scene.firm.id).limit(1)
            found = (await session.scalars(one)).one()
            made = (
                found.model_dump(exclude={"id", "request_id"})
                | {"tx_hash": "0x" + "77" * 32, "block_number": 10**9}
                | changes
            )
            session.add(table(**made))
    await write(scene, sa.update(DistributionRow).values(claimed_amount=1))
    report = await scene.run(repairs=True)
    assert report.differences == []
    assert [await rows(scene, table) for table in tables] == before


async def test_order_keeps_its_id_when_it_is_repaired(scene: Scene) -> None:
    path = f"/assets/{scene.asset['id']}/markets/{scene.market['id']}/orders"
    before = [order["id"] for order in (await scene.firm.get(path))["orders"]]
    await write(scene, sa.update(OrderRow).values(price=1, filled=9))
    await scene.run(repairs=True)
    assert [order["id"] for order in (await scene.firm.get(path))["orders"]] == before


async def test_repair_is_audited_with_before_and_after(scene: Scene) -> None:
    await write(scene, sa.update(DeploymentRow).values(supply=5))
    await scene.run(repairs=True)
    entry = (await repairs_of(scene))[0]
    assert (entry["subject"], entry["credential"]) == ({"type": "asset", "id": scene.asset["id"]}, "system")
    assert entry["before"] == {"chain_eid": SEPOLIA, "recorded supply": "5"}
    assert entry["after"] == {"chain_eid": SEPOLIA, "recorded supply": str(1_000 * UNIT)}
    assert (await scene.firm.get("/audit/verify"))["whole"]


@pytest.mark.long
async def test_repaired_balances_and_orders_are_named_in_the_audit_log(scene: Scene) -> None:
    await write(scene, sa.update(TokenTransferRow).values(amount=7))
    await write(scene, sa.update(OrderRow).values(filled=1))
    await scene.run(repairs=True)
    asset, market = sorted((await repairs_of(scene))[:2], key=lambda entry: str(entry["subject"]["type"]))
    assert f"balance of {scene.trader['address']}" in asset["after"]
    assert {"filled of order 1", "filled of order 2"} <= set(market["after"])


async def test_contract_is_read_in_chunks_of_the_log_range(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = log_limits.limits_of(SEPOLIA)
    monkeypatch.setattr(limits, "blocks", 3)

    before = await rows(scene, TokenTransferRow)
    await write(scene, sa.delete(TokenTransferRow))
    assert await reread.reread(SEPOLIA, scene.asset["deployments"][0]["token_address"]) >= len(before)
    assert await rows(scene, TokenTransferRow) == before


async def test_unknown_contract_is_not_read(api: Any) -> None:
    assert await reread.reread(SEPOLIA, "0x" + "11" * 20) == 0


@pytest.mark.long
async def test_revocation_found_on_the_chain_is_written(scene: Scene) -> None:
    firm = scene.firm
    made = await firm.attest(await firm.verified((await firm.post("/wallets", {"label": "Late"}))["address"]))
    call = registry.revoke((await contracts_of(SEPOLIA)).registry, made["uid"], "By hand")
    await firm.owner_call(call)
    report = await scene.run(repairs=True)
    assert report.differences == []
    on_chain = await firm.get(f"/attestations/{made['id']}")
    assert (on_chain["status"], on_chain["proof"]["agrees"]) == (AttestationStatus.REVOKED, True)
    assert on_chain["revocation_reason"] == "Found revoked on the chain."


@pytest.mark.long
async def test_unrepairable_difference_is_an_alarm_until_it_is_gone(
    scene: Scene, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, address = scene.distribution["merkle_root"], scene.distribution["distributor_address"]
    await write(scene, sa.update(DistributionRow).values(merkle_root="0x" + "99" * 32))
    report = await scene.run(repairs=True)
    assert [(found.kind, found.what) for found in report.differences] == [("distribution", "merkle_root")]
    assert report.exit_code == 1
    (alarm,) = [a for a in (await scene.firm.chain(SEPOLIA))["alarms"] if address in a["detail"]]
    assert (alarm["kind"], alarm["detail"]) == (
        "difference",
        f"The distribution {address} differs from its tables in merkle_root, and re-reading does not repair it. "
        f"Run signum reconcile --chain {SEPOLIA} for the list.",
    )
    runtime.reset(AlarmNotes)
    on_chain = (await world.client.call("GET", "/ready"))["notes"]
    assert any(note.startswith("Sepolia Devnet: ") and "between tables and chain" in note for note in on_chain)
    assert address not in str(on_chain)

    await write(scene, sa.update(DistributionRow).values(merkle_root=root))
    assert await scene.differences() == {}
    assert not [a for a in (await scene.firm.chain(SEPOLIA))["alarms"] if address in a["detail"]]


@pytest.mark.long
async def test_run_without_repair_raises_no_alarm(scene: Scene) -> None:
    await write(scene, sa.update(DeploymentRow).values(supply=5))
    assert ("token", "recorded supply") in await scene.differences()
    async with db.worker() as session:
        subjects = {row.subject for row in await list_open(session, SEPOLIA) if row.kind is AlarmKind.DIFFERENCE}
    assert scene.asset["deployments"][0]["token_address"] not in subjects
    await scene.run(repairs=True)


@pytest.mark.long
async def test_command_repairs_and_prints_the_repairs(scene: Scene) -> None:
    await write(scene, sa.update(DeploymentRow).values(supply=5))
    code, on_chain = await command("--repair", "--json", "--chain", str(SEPOLIA))
    mine = [found for found in json.loads(on_chain)["repaired"] if found["organization_id"] == str(scene.firm.id)]
    assert [(found["what"], found["table"]) for found in mine] == [("recorded supply", "5")]
    assert code == (1 if json.loads(on_chain)["differences"] else 0)
    assert (await repairs_of(scene))[0]["credential"] == "operator"
    await write(scene, sa.update(DeploymentRow).values(supply=5))
    code, on_chain = await command("--repair", "--chain", str(SEPOLIA))
    assert "Repaired 1 difference." in on_chain.splitlines()


@pytest.mark.long
async def test_nightly_run_repairs_and_stores_the_repairs(scene: Scene) -> None:
    await write(scene, sa.update(DeploymentRow).values(supply=5))
    async with db.worker() as session:
        await session.execute(sa.delete(ReconciliationRow))
    assert await service.once() is not None
    async with db.worker() as session:
        row = (await session.scalars(sa.select(ReconciliationRow))).one()
    assert "recorded supply" in {found["what"] for found in row.repaired}
    assert await scene.differences() == {}


@pytest.mark.long
async def test_attester_removed_from_the_registry_is_unregistered(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    wallet = (await firm.treasury())["address"]
    call = registry.remove_attester((await contracts_of(SEPOLIA)).registry, wallet)
    await execute(call.intent(f"test:removed:{firm.id}", eid=SEPOLIA, signer=await operator()))
    report = await service.reconcile([SEPOLIA], second_look=0.0, repairs=True)
    mine = [found for found in report.repaired if found.organization_id == str(firm.id)]
    assert [(found.kind, found.what, found.table, found.chain) for found in mine] == [
        ("attester", "active", "True", "False")
    ]
    async with db.worker() as session:
        query = sa.select(IssuerWalletRow).where(col(IssuerWalletRow.organization_id) == firm.id)
        assert (await session.scalars(query)).one().status is IssuerStatus.FAILED
    entry = (await firm.get("/audit", params={"action": "chain.repaired"}))["audit"][0]
    assert entry["subject"]["type"] == "issuer"


@pytest.mark.long
async def test_chain_without_older_state_is_compared_at_the_newest_block(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terms, "_EMBEDDED", replace(terms._EMBEDDED, history=0))
    async with in_front_of(SEPOLIA, PoolOptions(history=0)) as pool:
        await pool.mine(3)
        assert await scene.differences() == {}
        await write(scene, sa.update(TokenTransferRow).values(amount=7))
        report = await scene.run(repairs=True)
    assert report.differences == []
    assert ("balance", "balance") in {(found.kind, found.what) for found in report.repaired}
