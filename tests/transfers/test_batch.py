"""Batches of transfers: each item is a request of its own; one run sends them, and leaves what it cannot finish to the
requests' own runs."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import pytest
import pytest_asyncio
import sqlalchemy as sa
from sqlmodel import col

from backend.chain.bindings import token
from backend.chain.indexer import indexer
from backend.chain.transactions import several
from backend.client import SignumClient
from backend.core import db
from backend.models import TransactionRow
from backend.requests import groups
from backend.transfers import group_workflow, workflow
from tests.approvals.second_person import asking
from tests.conftest import World
from tests.support.crash import run as run_alone
from tests.support.crash import unqueued
from tests.support.firm import SEPOLIA
from tests.support.issuance import UNIT, Issuance, steps_of

BATCH = "/transfers/batch"
STRANGER = "0x1000000000000000000000000000000000000001"


class Scene:
    """A token with 1,000 units in the treasury, and two people who may receive it."""

    def __init__(self, firm: Issuance, asset: Any, treasury: Any, receivers: list[Any]) -> None:
        self.firm, self.asset, self.treasury, self.receivers = firm, asset, treasury, receivers

    @classmethod
    async def of(cls, firm: Issuance) -> "Scene":
        """Create one."""
        asset = await firm.asset()
        return cls(firm, asset, await firm.treasury(), [await firm.trader() for _ in range(2)])

    def item(self, to: str, amount: int = UNIT) -> dict[str, Any]:
        """Return a transfer from the treasury."""
        return {
            "asset_id": self.asset["id"], "chain_eid": SEPOLIA, "from_wallet_id": self.treasury["id"],
            "to_address": to, "amount": str(amount),
        }  # fmt: skip

    def items(self, *amounts: int) -> list[dict[str, Any]]:
        """Return transfers to the receivers in turn."""
        return [self.item(self.receivers[i % 2]["address"], amount) for i, amount in enumerate(amounts)]

    async def waiting(self, *amounts: int) -> list[Any]:
        """Accept a batch whose run has not begun; return the acceptances."""
        with unqueued():
            answer = await self.firm.post(BATCH, {"items": self.items(*amounts)})
        assert answer["refused"] == 0, answer
        return [result["acceptance"] for result in answer["results"]]

    async def run(self, made: list[Any]) -> None:
        """Run a group, without the own runs of the requests that it leaves."""
        with unqueued():
            await groups._run(group_workflow.send, self.firm.id, [UUID(one["requestId"]) for one in made])

    async def statuses(self, made: list[Any]) -> list[tuple[str, str]]:
        """Return the status of each request and transfer."""
        requests = [await self.firm.get(f"/requests/{one['requestId']}") for one in made]
        records = [await self.firm.get(f"/transfers/{one['transferId']}") for one in made]
        return [(request["status"], record["status"]) for request, record in zip(requests, records, strict=True)]

    async def balances(self) -> list[int]:
        """Return what the receivers hold on the chain, in whole units."""
        at = self.asset["deployments"][0]["token_address"]
        return [await token.balance_of(SEPOLIA, at, one["address"]) // UNIT for one in self.receivers]


async def hashes(made: list[Any]) -> list[str]:
    """Return the transactions of requests, by nonce."""
    ids = [UUID(one["requestId"]) for one in made]
    query = sa.select(TransactionRow).where(col(TransactionRow.request_id).in_(ids))
    async with db.worker() as session:
        return [row.tx_hash for row in await session.scalars(query.order_by(col(TransactionRow.nonce)))]


def killed(*_: Any, **__: Any) -> Any:
    raise asyncio.CancelledError


@pytest_asyncio.fixture
async def scene(client: SignumClient) -> Scene:
    """A new token."""
    return await Scene.of(await Issuance.ready(World(client), SEPOLIA))


DONE = ("succeeded", "confirmed")


async def test_items_are_sent_and_shown_as_single_transfers_are_and_a_refused_one_does_not_stop_them(
    scene: Scene,
) -> None:
    firm = scene.firm
    items = [*scene.items(3 * UNIT, 4 * UNIT), scene.item(STRANGER), *scene.items(5 * UNIT)]
    plan = await firm.post(BATCH, {"items": items}, params={"dry_run": "true"})
    assert (plan["accepted"], plan["refused"]) == (3, 1)
    assert plan["results"][0]["plan"]["impact"]["changes"][1]["after"] == str(3 * UNIT)
    assert (await firm.get("/transfers"))["transfers"] == []

    key = {"idempotency-key": str(uuid4())}
    answer = await firm.post(BATCH, {"items": items}, headers=key)
    assert (answer["accepted"], answer["refused"]) == (3, 1)
    problem = answer["results"][2]["problem"]
    assert (problem["status"], [rule["rule"] for rule in problem["rules"]]) == (409, ["attestation"])
    assert await firm.post(BATCH, {"items": items}, headers=key) == answer
    made = [result["acceptance"] for result in answer["results"] if result["acceptance"]]
    for one in made:
        request = await firm.settle(one["requestId"])
        transfer = await firm.get(f"/transfers/{one['transferId']}")
        steps = steps_of(request)
        assert (request["status"], transfer["status"]) == DONE
        assert steps["transfer_sent"]["tx_hash"] == transfer["tx_hash"]
        assert steps["transfer_confirmed"]["detail"].endswith("read back from the chain.")
        log = (await firm.get("/audit", params={"subject": one["transferId"]}))["audit"]
        actions = [entry["action"] for entry in log]
        assert actions == ["transfer.confirmed", "transfer.submitting", "transfer.created"]
    assert request["title"].startswith(f"Transfer 5 {scene.asset['symbol']} from ")
    assert await scene.balances() == [8, 4]
    holders = {h["address"]: h["balance"] for h in (await firm.get(f"/assets/{scene.asset['id']}/holders"))["holders"]}
    assert [holders[one["address"]] for one in scene.receivers] == [str(8 * UNIT), str(4 * UNIT)]
    assert len(set(await hashes(made))) == len((await firm.get("/transfers"))["transfers"]) == 3


async def test_items_that_the_balance_does_not_cover_after_the_ones_before_them_are_refused(scene: Scene) -> None:
    answer = await scene.firm.post(BATCH, {"items": scene.items(600 * UNIT, 500 * UNIT, 400 * UNIT, 2000 * UNIT)})
    problems = [result["problem"] for result in answer["results"]]
    assert [problem and problem["status"] for problem in problems] == [None, 409, None, 409]
    symbol = scene.asset["symbol"]
    assert f"can send 1,000 {symbol}, and the items before this one already send 600 {symbol}" in problems[1]["detail"]
    assert problems[3]["rules"]
    for result in (answer["results"][0], answer["results"][2]):
        await scene.firm.settle(result["acceptance"]["requestId"])
    assert await scene.balances() == [1000, 0]


@pytest.mark.parametrize(
    ("place", "name", "count"), [(several, "execute", 0), (indexer, "catch_up", 2)], ids=["unsent", "sent"]
)
async def test_killed_group_is_continued_by_each_transfers_own_run_with_the_same_transactions(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, place: Any, name: str, count: int
) -> None:
    made = await scene.waiting(UNIT, 2 * UNIT)
    with monkeypatch.context() as patch:
        patch.setattr(place, name, killed)
        with pytest.raises(asyncio.CancelledError):
            await scene.run(made)
    before = await hashes(made)
    assert len(before) == count
    await scene.run(made)
    assert DONE not in await scene.statuses(made), "a group that has begun does nothing a second time"
    for one in made:
        await run_alone(workflow.send, workflow.send_failed, scene.firm.id, one["requestId"])
    assert await scene.statuses(made) == [DONE, DONE]
    after = await hashes(made)
    assert (len(after), after[:count]) == (2, before)
    assert await scene.balances() == [1, 2]


async def test_transfer_that_the_chain_refuses_in_a_group_fails_with_its_rule_and_the_others_are_sent(
    scene: Scene,
) -> None:
    firm = scene.firm
    made = await scene.waiting(UNIT, 2 * UNIT)
    changed = await firm.patch(
        f"/assets/{scene.asset['id']}", {"compliance_rules": {"max_tokens_per_holder": str(UNIT)}}
    )
    await firm.succeed(changed["requestId"])
    await scene.run(made)
    (first, second) = await scene.statuses(made)
    assert (first, second[0]) == (DONE, "running")
    await run_alone(workflow.send, workflow.send_failed, firm.id, made[1]["requestId"])
    assert (await scene.statuses(made))[1] == ("failed", "failed")
    failed = await firm.get(f"/requests/{made[1]['requestId']}")
    assert failed["problem"]["revert"]["error"] == "TransferRestricted"
    assert failed["problem"]["detail"] == "The receiver would hold more than the maximum."
    assert await scene.balances() == [1, 0]


async def test_each_item_waits_for_its_own_second_person(world: World) -> None:
    firm, _ = await asking(world, "transfer.send")
    scene = await Scene.of(firm)
    answer = await firm.post(BATCH, {"items": scene.items(UNIT, UNIT)})
    assert [result["acceptance"]["status"] for result in answer["results"]] == ["awaiting_approval"] * 2
    assert len((await firm.get("/approvals", params={"status": "pending"}))["approvals"]) == 2


async def test_items_count_towards_the_daily_limit_one_by_one(world: World) -> None:
    scene = await Scene.of(await Issuance.ready(world, SEPOLIA))
    await world.person(scene.firm.id)
    limited = await scene.firm.patch(f"/assets/{scene.asset['id']}/daily-limits", {"transfer": str(5 * UNIT)})
    await scene.firm.succeed(limited["requestId"])
    answer = await scene.firm.post(BATCH, {"items": scene.items(3 * UNIT, 3 * UNIT)})
    found = sorted(result["acceptance"]["status"] for result in answer["results"])
    assert found == ["awaiting_approval", "pending"]


async def test_transfer_of_another_organizations_wallet_or_asset_is_refused(scene: Scene, world: World) -> None:
    other = await Scene.of(await Issuance.ready(world, SEPOLIA))
    item = scene.items(UNIT)[0]
    items = [item | {"from_wallet_id": other.treasury["id"]}, item | {"asset_id": other.asset["id"]}, item]
    answer = await scene.firm.post(BATCH, {"items": items})
    assert [result["problem"] and result["problem"]["status"] for result in answer["results"]] == [404, 404, None]


async def test_key_that_has_expired_is_a_new_one_for_each_item(scene: Scene) -> None:
    body, key = {"items": scene.items(UNIT, UNIT)}, str(uuid4())
    with unqueued():
        first = await scene.firm.post(BATCH, body, headers={"idempotency-key": key})
        async with db.worker() as session:
            aged = sa.text("update idempotency_keys set created_at = created_at - interval '25 hours' where key = :key")
            await session.execute(aged, {"key": key})
        second = await scene.firm.post(BATCH, body, headers={"idempotency-key": key})
        again = await scene.firm.post(BATCH, body, headers={"idempotency-key": key})
    assert (second["accepted"], again) == (2, second)
    assert first["results"][0]["acceptance"]["transferId"] != second["results"][0]["acceptance"]["transferId"]


@pytest.mark.parametrize("count", [0, 201])
async def test_batch_without_items_or_with_too_many_is_refused(scene: Scene, count: int) -> None:
    items = scene.items(*[UNIT] * count)
    assert (await scene.firm.refused("POST", BATCH, 422, json={"items": items})).by_field().keys() == {"items"}


@pytest.mark.parametrize("kind", ["approvals", "daily limit"])
async def test_decision_that_is_needed_since_the_check_is_asked_for_each_item(
    world: World, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    scene = await Scene.of(await Issuance.ready(world, SEPOLIA))
    firm, rehearse = scene.firm, several.rehearse
    await world.person(firm.id)

    async def after_a_decision(intents: Any) -> Any:
        if kind == "approvals":
            await firm.patch("", {"approvals": ["transfer.send"]})
        else:
            limited = await firm.patch(f"/assets/{scene.asset['id']}/daily-limits", {"transfer": "1"})
            await firm.succeed(limited["requestId"])
        return await rehearse(intents)

    with monkeypatch.context() as patch:
        patch.setattr(several, "rehearse", after_a_decision)
        answer = await firm.post(BATCH, {"items": scene.items(UNIT, UNIT)})
    assert [result["acceptance"]["status"] for result in answer["results"]] == ["awaiting_approval"] * 2
    assert await scene.balances() == [0, 0]


async def test_transaction_that_is_not_confirmed_in_time_does_not_hold_up_the_others(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, finish = await scene.waiting(UNIT, 2 * UNIT), several.confirmation.finish

    async def slow(row: TransactionRow, *options: Any) -> Any:
        if str(row.request_id) == made[1]["requestId"]:
            await asyncio.Event().wait()
        return await finish(row, *options)

    with monkeypatch.context() as patch:
        patch.setattr(several, "STRAGGLERS", 0.2)
        patch.setattr(several.confirmation, "finish", slow)
        await scene.run(made)
    assert await scene.statuses(made) == [DONE, ("running", "submitting")]
    await run_alone(workflow.send, workflow.send_failed, scene.firm.id, made[1]["requestId"])
    assert await scene.statuses(made) == [DONE, DONE]
    assert await scene.balances() == [1, 2]
