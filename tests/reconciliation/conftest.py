"""A firm with every kind of record on one chain."""

import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest_asyncio
import sqlalchemy as sa
from sqlmodel import col

from backend.chain.bindings import distributor
from backend.chain.indexer import indexer
from backend.chain.models import AlarmKind, ChainAlarmRow
from backend.chain.transactions.execution import execute
from backend.core import db
from backend.reconciliation.differences import Difference, Report
from backend.reconciliation.service import reconcile
from tests.conftest import World
from tests.support.issuance import SEPOLIA, UNIT, Issuance


@pytest_asyncio.fixture(autouse=True, scope="module")
async def clear_alarms(api: Any) -> AsyncIterator[None]:
    """Leave no alarm behind for other tests."""
    yield
    async with db.worker() as session:
        await session.execute(sa.delete(ChainAlarmRow).where(col(ChainAlarmRow.kind) == AlarmKind.DIFFERENCE))


@dataclass
class Scene:
    """The firm: an attested trader with an open order and a partially filled one, and a half-claimed distribution."""

    firm: Issuance
    asset: Any
    market: Any
    order: Any
    trader: Any
    distribution: Any

    async def run(self, *, repairs: bool = False) -> Report:
        """A run over the chain, and its results for this firm."""
        report = await reconcile([SEPOLIA], second_look=0.0, repairs=repairs)
        assert report.unreachable == {}
        mine = str(self.firm.id)
        report.differences = [found for found in report.differences if found.organization_id == mine]
        report.repaired = [found for found in report.repaired if found.organization_id == mine]
        return report

    async def differences(self) -> dict[tuple[str, str], Difference]:
        """Return this firm's differences, by kind and field."""
        return {(found.kind, found.what): found for found in (await self.run()).differences}


@pytest_asyncio.fixture(scope="module")
async def scene(client: Any) -> AsyncIterator[Scene]:
    firm = await Issuance.ready(World(client), SEPOLIA)
    asset = await firm.asset(required_kyc_level=1)
    market = await firm.market(asset)
    trader = await firm.trader()
    distribution = await half_claimed(firm, asset, trader)
    order = await firm.order(market, trader, "buy", 10**6, 5 * UNIT)
    await firm.order(market, trader, "sell", 2 * 10**6, UNIT)
    yield Scene(firm, asset, market, order, trader, distribution)


async def half_claimed(firm: Issuance, asset: Any, trader: Any) -> Any:
    """A distribution to two wallets, of which the trader has claimed."""
    other = await firm.trader()
    recipients = [{"address": wallet["address"], "amount": str(3 * UNIT)} for wallet in (trader, other)]
    path = f"/assets/{asset['id']}/distributions"
    made = await firm.post(path, {"name": "Dividend", "chain_eid": SEPOLIA, "recipients": recipients})
    path += f"/{made['id']}"
    terms = {"chainEid": SEPOLIA, "merkleRoot": made["merkle_root"], "totalRecipients": 2}
    await firm.post(f"{path}/activate", terms)
    await firm.succeed((await firm.get(path))["request_id"])
    record, proof = await firm.get(path), await firm.get(f"{path}/proofs/{trader['address']}")
    call = distributor.claim(
        record["distributor_address"], proof["index"], proof["address"], int(proof["amount"]), proof["proof"]
    )
    outcome = await execute(call.intent(f"test:{secrets.token_hex(8)}", eid=SEPOLIA, signer=trader["address"]))
    await indexer.catch_up(SEPOLIA, outcome.block_number)
    return await firm.get(path)
