"""Attestations that are accepted together: one run writes and reads back all of them, and leaves what it cannot finish
to the requests' own runs."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import pytest
import pytest_asyncio
import sqlalchemy as sa
from dbos import DBOS
from eth_account import Account
from sqlmodel import col

from backend.attestations import group_workflow, service, workflow
from backend.attestations.schemas import REPLACED
from backend.chain.bindings import registry
from backend.chain.deployment.contracts import contracts_of, operator
from backend.chain.transactions import several
from backend.chain.transactions.execution import execute
from backend.client import SignumClient
from backend.core import db
from backend.core.db import now
from backend.core.errors import SignumError
from backend.models import RequestRow, TransactionRow
from backend.requests import groups, workflows
from backend.requests.service import GROUP
from backend.server import sweep
from tests.conftest import World
from tests.support.crash import unqueued
from tests.support.firm import SEPOLIA, Firm
from tests.support.issuance import BASE
from tests.support.runs import result_of

BATCH = "/attestations/batch"


@pytest_asyncio.fixture(scope="module")
async def firm(client: SignumClient) -> Firm:
    """An issuer."""
    return await Firm.issuing(World(client), SEPOLIA, BASE)


async def accepted(firm: Firm, count: int, *eids: int, **options: Any) -> list[Any]:
    """Attest new parties on chains in one batch; return the acceptances."""
    parties = [await firm.verified(Account.create().address) for _ in range(count)]
    items = [{"party_id": party["id"], "chain_eid": eid} for party in parties for eid in eids or (SEPOLIA,)]
    found = await firm.post(BATCH, {"items": items}, **options)
    assert found["refused"] == 0, found
    return [result["acceptance"] for result in found["results"]]


async def waiting(firm: Firm, count: int) -> list[Any]:
    """Accept a batch whose run has not begun."""
    with unqueued():
        return await accepted(firm, count)


async def run(firm: Firm, acceptances: list[Any]) -> None:
    """Run a group as the engine does, without the own runs of the requests that it leaves."""
    with unqueued():
        await groups._run(group_workflow.issue, firm.id, [UUID(one["requestId"]) for one in acceptances])


async def run_alone(firm: Firm, acceptance: Any) -> None:
    await workflows._run(workflow.issue, workflow._issue_failed, firm.id, UUID(acceptance["requestId"]))


async def statuses(firm: Firm, acceptances: list[Any]) -> list[tuple[str, str]]:
    """Return the status of each request and of its attestation."""
    requests = [await firm.get(f"/requests/{one['requestId']}") for one in acceptances]
    records = [await firm.get(f"/attestations/{one['attestationId']}") for one in acceptances]
    return [(request["status"], record["status"]) for request, record in zip(requests, records, strict=True)]


async def sent(acceptances: list[Any]) -> list[TransactionRow]:
    """Return the transactions of requests, by nonce."""
    ids = [UUID(one["requestId"]) for one in acceptances]
    query = sa.select(TransactionRow).where(col(TransactionRow.request_id).in_(ids))
    async with db.worker() as session:
        return list(await session.scalars(query.order_by(col(TransactionRow.nonce))))


def killed(*_: Any, **__: Any) -> Any:
    raise asyncio.CancelledError


DONE, OPEN = ("succeeded", "active"), ("running", "pending")


async def test_batch_over_chains_is_written_read_back_and_recorded_as_single_attestations_are(firm: Firm) -> None:
    made = await accepted(firm, 3, SEPOLIA, BASE)
    for one in made:
        request = await firm.settle(one["requestId"])
        found = await firm.get(f"/attestations/{one['attestationId']}")
        assert (request["status"], found["status"], found["proof"]["agrees"]) == ("succeeded", "active", True)
        first, second = request["steps"]
        assert (first["status"], first["tx_hash"], second["status"]) == ("succeeded", found["tx_hash"], "succeeded")
        assert first["detail"].startswith("Attested in block ")
        assert second["detail"].startswith("Valid at block ")
        assert all(step["started_at"] and step["finished_at"] for step in (first, second))
        log = (await firm.get("/audit", params={"subject": one["attestationId"]}))["audit"]
        assert [entry["action"] for entry in log] == ["attestation.active", "attestation.created"]
        assert log[0]["actor"] == log[1]["actor"] is not None
    transactions = await sent(made)
    assert len(transactions) == len(made) == 6
    for eid in (SEPOLIA, BASE):
        nonces = [row.nonce for row in transactions if row.chain_eid == eid]
        assert nonces == list(range(nonces[0], nonces[0] + 3))
    assert (await firm.get("/audit/verify"))["whole"]


async def test_repeated_batch_returns_the_same_acceptances(firm: Firm) -> None:
    parties = [await firm.verified(Account.create().address) for _ in range(2)]
    body, key = {"items": [{"party_id": p["id"], "chain_eid": SEPOLIA} for p in parties]}, str(uuid4())
    with unqueued():
        first = await firm.post(BATCH, body, headers={"idempotency-key": key})
        longer = {"items": [*body["items"], {"party_id": str(uuid4()), "chain_eid": SEPOLIA}]}
        again = await firm.post(BATCH, body, headers={"idempotency-key": key})
        assert again == first
        await firm.refused("POST", BATCH, 422, json=longer, headers={"idempotency-key": key})
    for party in parties:
        assert len((await firm.get("/attestations", params={"party_id": party["id"]}))["attestations"]) == 1


async def test_new_attestation_of_a_group_replaces_the_wallets_earlier_one(firm: Firm) -> None:
    parties = [await firm.verified(Account.create().address) for _ in range(2)]
    items = [{"party_id": party["id"], "chain_eid": SEPOLIA} for party in parties]
    batches = []
    for _ in range(2):
        results = (await firm.post(BATCH, {"items": items}))["results"]
        batches.append([result["acceptance"] for result in results])
        for one in batches[-1]:
            await firm.settle(one["requestId"])
    earlier, later = batches
    assert await statuses(firm, later) == [DONE, DONE]
    assert await statuses(firm, earlier) == [("succeeded", "revoked")] * 2
    old = await firm.get(f"/attestations/{earlier[0]['attestationId']}")
    assert (old["revocation_reason"], old["revoked_at"] is not None) == (REPLACED, True)


async def test_attestation_that_is_no_longer_true_is_not_sent_and_the_others_are(firm: Firm) -> None:
    made = await waiting(firm, 3)
    record = await firm.get(f"/attestations/{made[1]['attestationId']}")
    await firm.admin.call("PATCH", f"/identity/parties/{record['party_id']}", json={"wallet_address": None})
    await run(firm, made)
    assert await statuses(firm, made) == [DONE, OPEN, DONE]
    assert len(await sent(made)) == 2
    await run_alone(firm, made[1])
    request = await firm.get(f"/requests/{made[1]['requestId']}")
    assert (request["status"], "it has another wallet" in request["problem"]["detail"]) == ("failed", True)


@pytest.mark.parametrize(
    ("place", "name", "count"), [(several, "execute", 0), (registry, "attestations", 2)], ids=["unsent", "sent"]
)
async def test_killed_group_is_continued_by_each_requests_own_run_with_the_same_transactions(
    firm: Firm, monkeypatch: pytest.MonkeyPatch, place: Any, name: str, count: int
) -> None:
    made = await waiting(firm, 2)
    with monkeypatch.context() as patch:
        patch.setattr(place, name, killed)
        with pytest.raises(asyncio.CancelledError):
            await run(firm, made)
    before = [row.tx_hash for row in await sent(made)]
    assert len(before) == count
    await run(firm, made)
    assert await statuses(firm, made) == [OPEN, OPEN], "a group that has begun does nothing a second time"
    for one in made:
        await run_alone(firm, one)
    assert await statuses(firm, made) == [DONE, DONE]
    after = [row.tx_hash for row in await sent(made)]
    assert (len(after), after[:count]) == (2, before)


async def test_request_that_another_process_ended_as_interrupted_has_the_result_of_its_group(
    firm: Firm, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, read = await waiting(firm, 2), registry.attestations

    async def interrupted(*place: Any) -> Any:
        first = UUID(made[0]["requestId"])
        assert await workflows.abandon(firm.id, first, 1, SignumError(sweep.INTERRUPTED))
        assert (await statuses(firm, made))[0][0] == "failed"
        return await read(*place)

    with monkeypatch.context() as patch:
        patch.setattr(registry, "attestations", interrupted)
        await run(firm, made)
    assert await statuses(firm, made) == [DONE, DONE]


async def test_restarted_group_enqueues_each_requests_own_run(firm: Firm, monkeypatch: pytest.MonkeyPatch) -> None:
    made = await waiting(firm, 2)
    with monkeypatch.context() as patch:
        patch.setattr(registry, "attestations", killed)
        with pytest.raises(asyncio.CancelledError):
            await run(firm, made)
    await groups._run(group_workflow.issue, firm.id, [UUID(one["requestId"]) for one in made])
    for one in made:
        await result_of(f"{one['requestId']}:1")
    assert await statuses(firm, made) == [DONE, DONE]


async def test_refusal_of_the_chain_fails_each_request_with_its_reason(world: World) -> None:
    firm = await Firm.issuing(world)
    made = await waiting(firm, 2)
    at, issuer = (await contracts_of(SEPOLIA)).registry, (await firm.get("/issuer"))["wallets"][0]["address"]
    removal = registry.remove_attester(at, issuer).intent(f"test:{firm.id}", eid=SEPOLIA, signer=await operator())
    await execute(removal)
    await run(firm, made)
    assert await statuses(firm, made) == [OPEN, OPEN]
    assert await sent(made) == []
    for one in made:
        await run_alone(firm, one)
        request = await firm.get(f"/requests/{one['requestId']}")
        assert (request["status"], request["can_retry"]) == ("failed", True)
        assert "not a registered attester" in request["problem"]["detail"]


async def test_group_whose_maker_lost_the_role_signs_nothing(world: World) -> None:
    firm = await Firm.issuing(world)
    made = await waiting(firm, 2)
    async with db.worker() as session:
        await session.execute(
            sa.text("update members set role = 'viewer' where organization_id = :id"), {"id": firm.id}
        )
    await run(firm, made)
    for one in made:
        await run_alone(firm, one)
    assert await sent(made) == []
    async with db.worker() as session:
        rows = await session.scalars(sa.select(RequestRow).where(col(RequestRow.organization_id) == firm.id))
        assert {row.status for row in rows if str(row.id) in {one["requestId"] for one in made}} == {"denied"}


async def test_waiting_group_is_not_taken_for_lost(firm: Firm, monkeypatch: pytest.MonkeyPatch) -> None:
    made = await waiting(firm, 2)
    ids = [UUID(one["requestId"]) for one in made]
    async with db.worker() as session:
        names = {
            row.arguments[GROUP]
            for row in await session.scalars(sa.select(RequestRow).where(col(RequestRow.id).in_(ids)))
        }
        await session.execute(
            sa.update(RequestRow).where(col(RequestRow.id).in_(ids)).values(updated_at=now() - sweep.SETTLED * 2)
        )
    (name,) = names
    known = DBOS.get_workflow_status_async

    class Queued:
        """A run that waits in its queue."""

        status = "ENQUEUED"

    async def status(run_id: str) -> Any:
        return Queued() if run_id == name else await known(run_id)

    with monkeypatch.context() as patch:
        patch.setattr(DBOS, "get_workflow_status_async", status)
        await sweep.once()
    assert await statuses(firm, made) == [("accepted", "pending")] * 2
    await sweep.once()
    assert await statuses(firm, made) == [("failed", "failed")] * 2


async def test_large_batch_runs_in_groups_of_a_bounded_number(firm: Firm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "MOST", 2)
    made = await accepted(firm, 5)
    for one in made:
        await firm.settle(one["requestId"])
    assert await statuses(firm, made) == [DONE] * 5
    async with db.transaction(firm.id) as session:
        rows = await session.scalars(sa.select(RequestRow).where(col(RequestRow.kind) == service.ISSUE))
        mine = {one["requestId"] for one in made}
        names = [row.arguments[GROUP] for row in rows if str(row.id) in mine]
    assert sorted(names.count(name) for name in set(names)) == [1, 2, 2]
