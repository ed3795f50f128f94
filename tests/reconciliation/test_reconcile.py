"""Tables and chains compared: no line if they agree, a line for every change on one side."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from backend.chain.bindings import registry, token
from backend.chain.deployment.contracts import contracts_of, operator
from backend.chain.indexer import streams
from backend.chain.rpc.node_urls import EmbeddedNodes
from backend.chain.rpc.nodes import NodeList
from backend.chain.transactions.execution import execute
from backend.core import db
from backend.core.runtime import runtime
from backend.core.settings import settings
from backend.markets import halts
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
from backend.reconciliation.differences import Difference, Report
from backend.reconciliation.service import reconcile
from tests.reconciliation.conftest import Scene
from tests.support.firm import SEPOLIA
from tests.support.issuance import UNIT

CHECKOUT = Path(__file__).resolve().parents[2]


async def test_reconciliation_without_differences_reports_none(scene: Scene) -> None:
    assert await scene.differences() == {}
    report = await reconcile([SEPOLIA], second_look=0.0)
    assert all(
        report.compared[kind] > 0 for kind in ("attesters", "attestations", "deployments", "balances", "markets")
    )


@pytest.mark.parametrize(
    ("table", "change", "kind", "what"),
    [
        (AttestationRow, {"kyc_level": 3}, "attestation", "statement"),
        (DeploymentRow, {"applied_rules": {}}, "token", "rule min_kyc_level"),
        (TokenTransferRow, {"amount": 7}, "balance", "balance"),
        (TokenTransferRow, {"amount": 7}, "token", "supply"),
        (MarketRow, {"taker_fee_bps": 31}, "market", "taker_fee_bps"),
        (MarketRow, {"status": "halted"}, "market", "halted"),
        (OrderRow, {"filled": 1}, "order", "filled"),
        (OrderRow, {"chain_order_id": 99}, "order", "status"),
    ],
)
async def test_changed_table_row_is_listed(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, table: Any, change: dict[str, Any], kind: str, what: str
) -> None:
    # A pass of the indexer, which any new block triggers, corrects halted markets automatically.
    others = [follow for follow in streams._follow_ups if follow is not halts.refresh]
    monkeypatch.setattr(streams, "_follow_ups", others)
    async with db.worker() as session:
        oldest = sa.select(table).where(table.organization_id == scene.firm.id).order_by(table.id).limit(1)
        row = (await session.scalars(oldest)).one()
        before = {name: getattr(row, name) for name in change}
    await _write(table, row.id, change)
    try:
        found = await scene.differences()
    finally:
        await _write(table, row.id, before)
    assert (kind, what) in found
    assert found[kind, what].table != found[kind, what].chain
    assert await scene.differences() == {}


async def _write(table: Any, row_id: UUID, values: dict[str, Any]) -> None:
    async with db.worker() as session:
        await session.execute(sa.update(table).where(table.id == row_id).values(**values))


async def test_distribution_is_compared_with_the_balance_of_its_currency(scene: Scene) -> None:
    at, quote = scene.distribution["distributor_address"], (await contracts_of(SEPOLIA)).quote_token
    row_id = UUID(scene.distribution["id"])
    await _write(DistributionRow, row_id, {"currency_address": quote})
    try:
        found = await scene.differences()
        assert {what for _, what in found} == {"currency", "unclaimed"}
        unclaimed, currency = found["distribution", "unclaimed"], found["distribution", "currency"]
        assert (unclaimed.table, unclaimed.chain) == (str(3 * UNIT), "0")
        assert (currency.table, currency.chain) == (quote, scene.asset["deployments"][0]["token_address"])
        await scene.firm.give(SEPOLIA, at, 4 * UNIT)
        assert set(await scene.differences()) == {("distribution", "currency")}
    finally:
        await _write(DistributionRow, row_id, {"currency_address": None})
    assert await scene.differences() == {}


async def test_missing_row_is_listed(scene: Scene) -> None:
    async with db.worker() as session:
        row = await session.get_one(OrderRow, UUID(scene.order["id"]))
        await session.execute(sa.delete(OrderRow).where(OrderRow.id == row.id))
    found = await scene.differences()
    async with db.worker() as session:
        session.add(OrderRow(**row.model_dump()))
    assert (found["market", "orders"].table, found["market", "orders"].chain) == ("1", "2")


@pytest.mark.long
async def test_change_on_chain_is_listed(scene: Scene) -> None:
    firm, at = scene.firm, (await contracts_of(SEPOLIA)).registry
    treasury = (await firm.treasury())["address"]
    name = str(firm.id)[:8]
    call = registry.remove_attester(at, treasury)
    await execute(call.intent(f"test:gone:{name}", eid=SEPOLIA, signer=await operator()))
    place = scene.asset["deployments"][0]["token_address"]
    rules = await token.rules(SEPOLIA, place)
    changed = type(rules).from_dict(rules.as_dict() | {"min_kyc_level": 2})
    await firm.owner_call(token.set_rules(place, changed))
    found = await scene.differences()
    assert (found["attester", "active"].table, found["attester", "active"].chain) == ("True", "False")
    assert (found["token", "rule min_kyc_level"].table, found["token", "rule min_kyc_level"].chain) == ("1", "2")
    assert ("attestation", "status") in found, "the attester is no longer trusted"

    code, on_chain = await command("--json", "--chain", str(SEPOLIA))
    assert code == 1
    listed = [d for d in json.loads(on_chain)["differences"] if d["organization_id"] == str(firm.id)]
    assert {(d["kind"], d["what"]) for d in listed} == set(found)
    code, on_chain = await command("--chain", str(SEPOLIA))
    assert code == 1
    assert on_chain.splitlines()[0].split() == list(Difference._fields)
    assert place in on_chain


async def command(*arguments: str) -> tuple[int, str]:
    """Run `signum reconcile` beside this process; return its exit code and output."""
    environment = os.environ | {"SIGNUM_HOME": str(settings().home)}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "backend.cli",
        "reconcile",
        *arguments,
        env=environment,
        cwd=CHECKOUT,
        stdout=asyncio.subprocess.PIPE,
    )
    on_chain, _ = await process.communicate()
    assert process.returncode is not None
    return process.returncode, on_chain.decode()


@pytest.mark.long
async def test_unknown_chain_is_reported(api: Any) -> None:
    code, _ = await command("--chain", "30101")
    assert code == 1


async def test_silent_chain_is_reported(api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(runtime.part(EmbeddedNodes).urls, SEPOLIA, "http://127.0.0.1:9")
    report = await reconcile([SEPOLIA], second_look=0.0)
    runtime.reset(NodeList)
    assert (report.differences, list(report.unreachable)) == ([], [SEPOLIA])
    assert report.exit_code == 2
    assert "does not answer" in report.as_table()


@pytest.mark.long
async def test_nightly_run_is_kept(api: Any) -> None:
    before = db.now()
    row = await service.once()
    async with db.worker() as session:
        kept = await session.get_one(ReconciliationRow, row.id)
    assert kept.created_at >= before
    assert kept.compared["deployments"] >= 0


def test_report_without_differences_exits_with_zero() -> None:
    report = Report(compared={"orders": 3, "markets": 1})
    assert (report.exit_code, report.as_table()) == (0, "Compared 1 markets, 3 orders: 0 differences.")
