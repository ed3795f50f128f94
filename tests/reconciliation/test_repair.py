"""Repairs: rows that are wrong, missing or too many are those of the chain again, and the audit log says so."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio
import sqlalchemy as sa
from sqlmodel import col

from backend import db
from backend.attestations.schemas import AttestationStatus
from backend.chain import log_limits, registry, rereading, settlement, terms
from backend.chain.alarms import list_open
from backend.chain.deployment import contracts_of, operator
from backend.chain.models import AlarmKind, StateEventRow, TransactionStatus
from backend.chain.transactions import execute
from backend.distributions.models import ClaimRow
from backend.issuers.models import IssuerWalletRow
from backend.issuers.schemas import IssuerStatus
from backend.models import (
    AttestationRow,
    ChainAlarmRow,
    DeploymentRow,
    DistributionRow,
    MarketRow,
    OrderRow,
    ReconciliationRow,
    RequestRow,
    RequestStepRow,
    TokenTransferRow,
    TransactionRow,
)
from backend.reconciliation import service, transactions
from backend.requests.schemas import RequestStatus, StepStatus
from backend.status import notes
from tests.conftest import World
from tests.firm import SEPOLIA
from tests.issuance import UNIT, Issuance
from tests.nodes.options import PoolOptions
from tests.nodes.pool import in_front_of
from tests.reconciliation.conftest import Scene
from tests.reconciliation.test_reconcile import command

Rows = list[dict[str, Any]]


async def rows(scene: Scene, table: Any) -> Rows:
    """The firm's rows of a table, without what says when they were written."""
    async with db.worker() as session:
        found = await session.scalars(sa.select(table).where(table.organization_id == scene.firm.id))
        told = [row.model_dump(exclude={"id", "created_at", "updated_at"}) for row in found]
    return sorted(told, key=str)


async def write(scene: Scene, statement: Any) -> None:
    async with db.worker() as session:
        await session.execute(statement.where(statement.table.c.organization_id == scene.firm.id))


@pytest_asyncio.fixture(autouse=True, scope="module")
async def quiet(api: Any) -> AsyncIterator[None]:
    """Leave no alarm behind for other tests."""
    yield
    async with db.worker() as session:
        await session.execute(sa.delete(ChainAlarmRow).where(col(ChainAlarmRow.kind) == AlarmKind.DIFFERENCE))


async def repairs_of(scene: Scene) -> Rows:
    """The firm's entries about repairs, newest first."""
    found: Rows = (await scene.firm.get("/audit", params={"action": "chain.repaired"}))["audit"]
    return found


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


async def test_rows_that_the_chain_knows_nothing_of_are_deleted(scene: Scene) -> None:
    tables = (TokenTransferRow, OrderRow, ClaimRow)
    before = [await rows(scene, table) for table in tables]
    async with db.worker() as session:
        for table, changes in zip(tables, ({}, {"chain_order_id": 77}, {"index": 1}), strict=True):
            one = sa.select(table).where(table.organization_id == scene.firm.id).limit(1)
            found = (await session.scalars(one)).one()
            made = found.model_dump(exclude={"id"}) | {"tx_hash": "0x" + "77" * 32, "block_number": 10**9} | changes
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


async def test_repair_is_in_the_audit_log_with_what_was_and_what_is(scene: Scene) -> None:
    await write(scene, sa.update(DeploymentRow).values(supply=5))
    await scene.run(repairs=True)
    entry = (await repairs_of(scene))[0]
    assert (entry["subject"], entry["credential"]) == ({"type": "asset", "id": scene.asset["id"]}, "system")
    assert entry["before"] == {"chain_eid": SEPOLIA, "recorded supply": "5"}
    assert entry["after"] == {"chain_eid": SEPOLIA, "recorded supply": str(1_000 * UNIT)}
    assert (await scene.firm.get("/audit/verify"))["whole"]


async def test_balances_and_orders_are_named_in_the_audit_log(scene: Scene) -> None:
    await write(scene, sa.update(TokenTransferRow).values(amount=7))
    await write(scene, sa.update(OrderRow).values(filled=1))
    await scene.run(repairs=True)
    asset, market = sorted((await repairs_of(scene))[:2], key=lambda entry: str(entry["subject"]["type"]))
    assert f"balance of {scene.trader['address']}" in asset["after"]
    assert {"filled of order 1", "filled of order 2"} <= set(market["after"])


async def test_contract_is_read_in_pieces_of_the_log_range(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = log_limits.limits_of(SEPOLIA)
    monkeypatch.setattr(limits, "blocks", 3)

    before = await rows(scene, TokenTransferRow)
    await write(scene, sa.delete(TokenTransferRow))
    assert await rereading.reread(SEPOLIA, scene.asset["deployments"][0]["token_address"]) >= len(before)
    assert await rows(scene, TokenTransferRow) == before


async def test_unknown_contract_is_not_read(api: Any) -> None:
    assert await rereading.reread(SEPOLIA, "0x" + "11" * 20) == 0


async def test_revocation_found_on_the_chain_is_written(scene: Scene) -> None:
    firm = scene.firm
    made = await firm.attest(await firm.verified((await firm.post("/wallets", {"label": "Late"}))["address"]))
    call = registry.revoke((await contracts_of(SEPOLIA)).registry, made["uid"], "By hand")
    await firm.owner_call(call)
    report = await scene.run(repairs=True)
    assert report.differences == []
    told = await firm.get(f"/attestations/{made['id']}")
    assert (told["status"], told["proof"]["agrees"]) == (AttestationStatus.REVOKED, True)
    assert told["revocation_reason"] == "Found revoked on the chain."


async def test_what_cannot_be_repaired_is_an_alarm_until_it_is_gone(
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
    monkeypatch.setattr(notes, "_read_at", -notes.FRESH)
    told = (await world.client.call("GET", "/ready"))["notes"]
    assert any(note.startswith("Sepolia Devnet: ") and "between tables and chain" in note for note in told)
    assert address not in str(told)

    await write(scene, sa.update(DistributionRow).values(merkle_root=root))
    assert await scene.differences() == {}
    assert not [a for a in (await scene.firm.chain(SEPOLIA))["alarms"] if address in a["detail"]]


async def test_run_without_repair_opens_no_alarm(scene: Scene) -> None:
    await write(scene, sa.update(DeploymentRow).values(supply=5))
    assert ("token", "recorded supply") in await scene.differences()
    async with db.worker() as session:
        subjects = {row.subject for row in await list_open(session, SEPOLIA) if row.kind is AlarmKind.DIFFERENCE}
    assert scene.asset["deployments"][0]["token_address"] not in subjects
    await scene.run(repairs=True)


async def test_command_repairs_and_prints_what_it_repaired(scene: Scene) -> None:
    await write(scene, sa.update(DeploymentRow).values(supply=5))
    code, told = await command("--repair", "--json", "--chain", str(SEPOLIA))
    mine = [found for found in json.loads(told)["repaired"] if found["organization_id"] == str(scene.firm.id)]
    assert [(found["what"], found["table"]) for found in mine] == [("recorded supply", "5")]
    assert code == (1 if json.loads(told)["differences"] else 0)
    assert (await repairs_of(scene))[0]["credential"] == "operator"
    await write(scene, sa.update(DeploymentRow).values(supply=5))
    code, told = await command("--repair", "--chain", str(SEPOLIA))
    assert "Repaired 1 difference." in told.splitlines()


async def test_nightly_run_repairs_and_keeps_what_it_repaired(scene: Scene) -> None:
    await write(scene, sa.update(DeploymentRow).values(supply=5))
    async with db.worker() as session:
        await session.execute(sa.delete(ReconciliationRow))
    assert await service.once() is not None
    async with db.worker() as session:
        row = (await session.scalars(sa.select(ReconciliationRow))).one()
    assert "recorded supply" in {found["what"] for found in row.repaired}
    assert await scene.differences() == {}


@pytest.fixture
def swift(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that indexes looks for transactions at once."""
    monkeypatch.setattr(settlement, "SEARCH", 0.0)


async def newest(scene: Scene) -> TransactionRow:
    """The firm's newest confirmed transaction that a step of a request shows."""
    query = (
        sa.select(TransactionRow)
        .join(RequestStepRow, col(RequestStepRow.tx_hash) == col(TransactionRow.tx_hash))
        .where(col(TransactionRow.organization_id) == scene.firm.id, col(TransactionRow.request_id).is_not(None))
        .where(col(TransactionRow.status) == TransactionStatus.CONFIRMED)
        .order_by(col(TransactionRow.block_number).desc())
    )
    async with db.worker() as session:
        return (await session.scalars(query.limit(1))).one()


async def test_transaction_marked_failed_that_is_mined_is_corrected(scene: Scene, swift: None) -> None:
    row = await newest(scene)
    lost = {"status": TransactionStatus.FAILED, "block_number": None, "block_hash": None, "finality": None}
    async with db.worker() as session:
        await session.execute(sa.update(TransactionRow).where(col(TransactionRow.id) == row.id).values(**lost))
    report = await scene.run(repairs=True)
    assert [(found.kind, found.table, found.chain) for found in report.repaired] == [("transaction", "failed", "mined")]
    assert report.differences == []
    async with db.worker() as session:
        now = await session.get_one(TransactionRow, row.id)
    assert (now.status, now.block_number) == (TransactionStatus.CONFIRMED, row.block_number)


async def test_transaction_whose_block_is_not_on_the_chain_is_corrected(scene: Scene, swift: None) -> None:
    row = await newest(scene)
    wrong = {"block_hash": "0x" + "99" * 32}
    async with db.worker() as session:
        await session.execute(sa.update(TransactionRow).where(col(TransactionRow.id) == row.id).values(**wrong))
    report = await scene.run(repairs=True)
    assert [(found.kind, found.what) for found in report.repaired] == [("transaction", "block")]


async def test_request_that_failed_though_its_transaction_succeeded_is_an_alarm(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transactions, "CORRECTED_WITHIN", 5.0)
    row = await newest(scene)
    here, step = col(RequestRow.id) == row.request_id, col(RequestStepRow.tx_hash) == row.tx_hash
    problem = {"status": 503, "title": "Service Unavailable", "detail": "The chain did not answer."}
    await set_request(here, step, RequestStatus.FAILED, StepStatus.FAILED, problem)
    try:
        report = await scene.run(repairs=True)
        assert [(found.kind, found.what) for found in report.differences] == [("request", "status")]
        details = [alarm["detail"] for alarm in (await scene.firm.chain(SEPOLIA))["alarms"]]
        assert any("requests failed although their transactions succeeded; retry them" in words for words in details)
        assert str(row.request_id) not in str(details)
    finally:
        await set_request(here, step, RequestStatus.SUCCEEDED, StepStatus.SUCCEEDED, None)
    assert await scene.differences() == {}


async def set_request(here: Any, step: Any, status: RequestStatus, step_status: StepStatus, problem: Any) -> None:
    async with db.worker() as session:
        await session.execute(sa.update(RequestRow).where(here).values(status=status, problem=problem))
        await session.execute(sa.update(RequestStepRow).where(step).values(status=step_status))


async def test_attester_that_the_registry_removed_is_not_registered_any_more(world: World) -> None:
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
