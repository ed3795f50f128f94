"""Requests and records follow the chain: after a false failure, and after a reorg deeper than the confirmations."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
import pytest_asyncio
import sqlalchemy as sa
from eth_account import Account
from sqlmodel import col

from backend.chain.bindings import registry
from backend.chain.coordination import scheduler
from backend.chain.models import TransactionRow, TransactionStatus
from backend.chain.transactions import settlement
from backend.controls import calls, workflow
from backend.core import db
from backend.models import RequestRow
from tests.conftest import World
from tests.controls.issuer import Issuer, issuer
from tests.nodes import truth
from tests.nodes.conftest import CONFIRMATIONS
from tests.support.firm import SEPOLIA
from tests.support.node_pool.pool import NodePool

pytestmark = pytest.mark.long

UNIT = 10**18


@pytest_asyncio.fixture
async def firm(world: World) -> Issuer:
    """A firm with an asset. Request it before `public`: the faucet funds its wallets."""
    return await issuer(world)


@pytest_asyncio.fixture
async def buyer(firm: Issuer) -> Any:
    """The wallet of a buyer. Request it before `public`, as `firm`."""
    return await firm.trader()


async def until(is_so: Callable[[], Awaitable[bool]]) -> None:
    """Return when the condition is true."""
    async with asyncio.timeout(60):
        while not await is_so():  # noqa: ASYNC110 - something else changes it
            await asyncio.sleep(0.02)


async def mints(pool: NodePool, firm: Issuer) -> int:
    """Return how many mints of the asset were executed after the first."""
    answer = await truth.transfers(pool.node, firm.token_at)
    return sum(entry.from_address == truth.ZERO_ADDRESS for entry in answer) - 1


async def status(firm: Issuer, request: Any) -> str:
    """Return a request's status."""
    return str((await firm.get(f"/requests/{request['id']}"))["status"])


async def give_up(request: Any) -> None:
    """Mark a request and its transaction as failed, like one whose nonce another transaction used."""
    problem = {"type": "about:blank", "title": "Conflict", "status": 409, "detail": "The nonce was used."}
    transaction: dict[str, Any] = {
        "status": TransactionStatus.FAILED,
        "problem": {"detail": "The nonce was used.", "name": "NonceUsed"},
        "receipt": None,
        "block_number": None,
        "block_hash": None,
        "finality": None,
        "sent_at": db.now() - timedelta(hours=1),
        "updated_at": db.now() - timedelta(hours=1),
    }
    async with db.worker() as session:
        mine = col(TransactionRow.request_id) == request["id"]
        await session.execute(sa.update(TransactionRow).where(mine).values(**transaction))
        failed = {"status": "failed", "problem": problem, "can_retry": True}
        await session.execute(sa.update(RequestRow).where(col(RequestRow.id) == request["id"]).values(**failed))


async def test_retry_of_a_request_with_a_mined_transaction_executes_nothing_again(
    firm: Issuer, public: None, pool: NodePool
) -> None:
    pool.become(mines_every=2)
    request = await firm.do("mint", to_address=(await firm.treasury())["address"], amount=str(UNIT))
    await give_up(request)
    pool.become(lags=(0, 5), syncing_at=3, mines_every=2)
    if await status(firm, request) == "failed":
        await firm.post(f"/requests/{request['id']}/retry")
    await until(lambda: succeeded(firm, request))
    assert await mints(pool, firm) == 1


async def succeeded(firm: Issuer, request: Any) -> bool:
    return await status(firm, request) == "succeeded"


async def test_request_marked_failed_with_a_mined_transaction_is_corrected_and_audited(
    firm: Issuer, public: None, pool: NodePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settlement, "SEARCH", 0.0)
    pool.become(mines_every=2)
    request = await firm.do("mint", to_address=(await firm.treasury())["address"], amount=str(UNIT))
    await give_up(request)
    await pool.mine()
    scheduler.wake(SEPOLIA)
    await until(lambda: succeeded(firm, request))
    assert await mints(pool, firm) == 1
    entries = (await firm.get("/audit"))["audit"]
    corrected = [entry for entry in entries if entry["action"] == "request.corrected"]
    assert {entry["subject"]["id"] for entry in corrected} == {request["id"]}
    assert {entry["credential"] for entry in corrected} == {"system"}


async def take_back(pool: NodePool, tx_hash: str) -> None:
    """Replace the block of a transaction, which is lost until it is sent again, and then not mined."""
    receipt = await pool.node.call("eth_getTransactionReceipt", tx_hash)
    await pool.mine(CONFIRMATIONS + 1)
    pool.become(automine=False, mines_every=None)
    await pool.replace(int(receipt["blockNumber"], 16), returned=0.0)
    await pool.mine()
    scheduler.wake(SEPOLIA)


async def test_request_runs_again_while_its_transaction_is_reorganized(
    firm: Issuer, public: None, pool: NodePool
) -> None:
    pool.become(mines_every=2)
    request = await firm.do("mint", to_address=(await firm.treasury())["address"], amount=str(UNIT))
    (tx_hash,) = {step["tx_hash"] for step in request["steps"] if step["tx_hash"]}
    await take_back(pool, tx_hash)
    await until(lambda: is_running(firm, request))
    assert await mints(pool, firm) == 0
    pool.become(automine=True, mines_every=2)
    await pool.mine()
    await until(lambda: succeeded(firm, request))
    assert await mints(pool, firm) == 1
    asset = await firm.get(f"/assets/{firm.of['id']}")
    assert asset["total_supply"] == str(1_001 * UNIT)


async def is_running(firm: Issuer, request: Any) -> bool:
    return await status(firm, request) == "running"


async def test_order_is_open_again_while_its_cancellation_is_reorganized(
    firm: Issuer, public: None, pool: NodePool
) -> None:
    pool.become(mines_every=2)
    market = await firm.market(firm.of)
    treasury = await firm.treasury()
    order = await firm.order(market, treasury, "sell", 10**6, UNIT)
    path = f"/assets/{market['asset_id']}/markets/{market['id']}/orders"
    accepted = await firm.delete(f"{path}/{order['id']}")
    request = await firm.succeed(accepted["requestId"])
    (tx_hash,) = {step["tx_hash"] for step in request["steps"] if step["tx_hash"]}

    async def has_status(wanted: str) -> bool:
        return bool((await firm.get(path))["orders"][0]["status"] == wanted)

    await until(lambda: has_status("cancelled"))
    await take_back(pool, tx_hash)
    await until(lambda: has_status("open"))
    await until(lambda: is_running(firm, request))
    pool.become(automine=True, mines_every=2)
    await pool.mine()
    await until(lambda: has_status("cancelled"))
    await until(lambda: succeeded(firm, request))


async def test_order_is_pending_while_its_transaction_is_reorganized_and_keeps_its_id(
    firm: Issuer, buyer: Any, public: None, pool: NodePool
) -> None:
    pool.become(mines_every=2)
    market = await firm.market(firm.of)
    treasury = await firm.treasury()
    sold = await firm.order(market, treasury, "sell", 10**6, 2 * UNIT)
    bought = await firm.order(market, buyer, "buy", 10**6, UNIT)
    at = f"/assets/{market['asset_id']}/markets/{market['id']}"

    async def is_as(bought_status: str, sold_status: str, volume: int) -> bool:
        orders = [(await firm.get(f"{at}/orders/{order['id']}"))["status"] for order in (bought, sold)]
        return orders == [bought_status, sold_status] and (await firm.get(at))["volume"] == str(volume)

    await until(lambda: is_as("filled", "partial", UNIT))
    (trade,) = (await firm.get(f"{at}/trades"))["trades"]
    await take_back(pool, bought["tx_hash"])
    await until(lambda: is_as("pending", "open", 0))
    assert (await firm.get(f"{at}/trades"))["trades"] == []
    pool.become(automine=True, mines_every=2)
    await pool.mine()
    await until(lambda: is_as("filled", "partial", UNIT))
    (again,) = (await firm.get(f"{at}/trades"))["trades"]
    assert (again["id"], again["taker_order_id"]) == (trade["id"], bought["id"])
    executed = (await firm.get("/audit", params={"action": "trade.executed"}))["audit"]
    assert [entry["subject"]["id"] for entry in executed] == [trade["id"]]


async def reorganized_freeze(firm: Issuer, pool: NodePool) -> Any:
    """Freeze tokens of the treasury and undo that with a reorg; return the freeze's request."""
    pool.become(mines_every=2)
    request = await firm.do("freeze", address=(await firm.treasury())["address"], amount=str(2 * UNIT))
    (tx_hash,) = {step["tx_hash"] for step in request["steps"] if step["tx_hash"]}
    await take_back(pool, tx_hash)
    return request


async def test_request_during_a_reorg_of_its_precondition_is_a_503(firm: Issuer, public: None, pool: NodePool) -> None:
    treasury = (await firm.treasury())["address"]
    request = await reorganized_freeze(firm, pool)
    answer = await firm.no("unfreeze", 503, address=treasury, amount=str(UNIT))
    assert "reorganization of the chain" in answer.detail
    await until(lambda: is_running(firm, request))
    answer = await firm.no("unfreeze", 503, address=treasury, amount=str(UNIT))
    assert "A reorganization of the chain" in answer.detail
    pool.become(automine=True, mines_every=2)
    await pool.mine()
    await until(lambda: succeeded(firm, request))
    await firm.do("unfreeze", address=treasury, amount=str(UNIT))
    assert await firm.frozen(treasury) == UNIT


async def test_freeze_during_a_reorg_of_an_earlier_freeze_adds_up(firm: Issuer, public: None, pool: NodePool) -> None:
    treasury = (await firm.treasury())["address"]
    before = await reorganized_freeze(firm, pool)
    more = asyncio.create_task(firm.do("freeze", address=treasury, amount=str(3 * UNIT)))
    await until(lambda: is_running(firm, before))
    pool.become(automine=True, mines_every=2)
    await pool.mine()
    await until(lambda: succeeded(firm, before))
    await more
    assert await firm.frozen(treasury) == 5 * UNIT


async def test_freeze_read_while_a_lost_freeze_is_mined_again_adds_up(
    firm: Issuer, public: None, pool: NodePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    treasury = (await firm.treasury())["address"]
    before = await reorganized_freeze(firm, pool)
    was_read, was_mined = threading.Event(), threading.Event()

    async def ends_after_it_was_mined(*arguments: Any) -> Any:
        found = await calls.call_of(*arguments)
        was_read.set()
        await asyncio.to_thread(was_mined.wait, 60)
        return found

    monkeypatch.setattr(workflow, "calls", SimpleNamespace(**vars(calls) | {"call_of": ends_after_it_was_mined}))
    more = asyncio.create_task(firm.do("freeze", address=treasury, amount=str(3 * UNIT)))
    assert await asyncio.to_thread(was_read.wait, 60)
    pool.become(automine=True, mines_every=2)
    await pool.mine()
    await until(lambda: succeeded(firm, before))
    was_mined.set()
    await more
    assert await firm.frozen(treasury) == 5 * UNIT


async def test_refusal_is_final_when_every_transaction_is_in_its_block(
    firm: Issuer, public: None, pool: NodePool
) -> None:
    treasury = (await firm.treasury())["address"]
    pool.become(mines_every=2)
    await firm.do("freeze", address=treasury, amount=str(UNIT))
    await firm.do("unfreeze", address=treasury, amount=str(UNIT))
    answer = await firm.no("unfreeze", 409, address=treasury, amount=str(UNIT))
    assert answer.detail == "Nothing of this account is frozen."


async def test_request_survives_a_read_during_a_reorg_of_its_transaction(
    firm: Issuer, public: None, pool: NodePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool.become(mines_every=2)
    read, answer = registry.attestation, list[registry.Attestation]()
    reads, lost, was_read = threading.Event(), threading.Event(), threading.Event()

    async def while_it_is_lost(eid: int, at: str, uid: str) -> registry.Attestation:
        monkeypatch.setattr(registry, "attestation", read)
        reads.set()
        await asyncio.to_thread(lost.wait, 60)
        answer.append(await read(eid, at, uid))
        was_read.set()
        return answer[0]

    monkeypatch.setattr(registry, "attestation", while_it_is_lost)
    party = await firm.verified(Account.create().address)
    accepted = await firm.post("/attestations", {"party_id": party["id"], "chain_eid": SEPOLIA})
    assert await asyncio.to_thread(reads.wait, 60)
    (step, _) = (await firm.get(f"/requests/{accepted['requestId']}"))["steps"]
    await take_back(pool, step["tx_hash"])
    lost.set()
    assert await asyncio.to_thread(was_read.wait, 60)
    pool.become(automine=True, mines_every=2)
    await pool.mine()
    await firm.succeed(accepted["requestId"])
    assert not answer[0].is_valid
