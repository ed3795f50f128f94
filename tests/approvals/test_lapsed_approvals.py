"""Retries of approved requests: an approval lapses 7 days after it was given."""

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlmodel import col

from backend.bridges import delivery
from backend.controls import workflow as controls
from backend.core import db
from backend.core.db import now
from backend.core.errors import Conflict
from backend.models import ApprovalRow
from tests.approvals.second_person import WHY, approve, asking, waiting
from tests.bridges.delivery import ended
from tests.conftest import World
from tests.support.firm import BASE, SEPOLIA
from tests.support.issuance import UNIT

pytestmark = pytest.mark.long


async def given(approval: Any, days: float) -> None:
    """Let an approval have been given some days ago."""
    async with db.worker() as session:
        this = sa.update(ApprovalRow).where(col(ApprovalRow.id) == approval["id"])
        await session.execute(this.values(decided_at=now() - timedelta(days=days)))


async def fails(*_: object, **__: object) -> Any:
    """Fail a step as a refusing chain does."""
    raise Conflict("The chain refused it.")


async def test_retry_seven_days_after_the_approval_needs_a_new_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm, second = await asking(world, "token.pause")
    asset = await firm.asset()
    path = f"/assets/{asset['id']}"
    approval = await waiting(firm, await firm.post(f"{path}/pause", {"reason": WHY}))
    with monkeypatch.context() as patched:
        patched.setattr(controls, "write", fails)
        assert (await approve(firm, second, approval))["status"] == "failed"
        await given(approval, 6.9)
        assert (await firm.retry(approval["request_id"]))["status"] == "failed"
    await given(approval, 7.1)
    problem = await firm.refused("POST", f"/requests/{approval['request_id']}/retry", 409)
    assert "approved this request more than 7 days ago" in problem.detail
    assert "Send the request again; a second person has to approve it." in problem.detail
    assert (await firm.get(f"/requests/{approval['request_id']}"))["status"] == "failed"
    again = await waiting(firm, await firm.post(f"{path}/pause", {"reason": WHY}))
    assert (await approve(firm, second, again))["status"] == "succeeded"


async def test_bridge_whose_packet_was_sent_is_retried_after_seven_days(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm, second = await asking(world, "bridge.send", eids=(SEPOLIA, BASE))
    asset = await firm.asset()
    body = {"destination_chain_eid": BASE, "amount": str(UNIT)}
    accepted = await firm.post(f"/assets/{asset['id']}/bridge", body)
    approval = await waiting(firm, accepted)
    with monkeypatch.context() as patched:
        patched.setattr(delivery, "_identify", fails)
        assert (await approve(firm, second, approval))["status"] == "failed"
    await given(approval, 8)
    await firm.retry(approval["request_id"])
    assert (await ended(firm, approval["request_id"]))["status"] == "succeeded"
