"""What nodes do wrong, on a real chain: every fault ends in a right and final state, or in a clear 503."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import httpx
import pytest
import pytest_asyncio
import sqlalchemy as sa

from backend import db
from backend.chain import answers, confirming, nonces, pricing, pushing, reopening, rpc, token, transactions
from backend.chain.calls import Call
from backend.chain.errors import ChainUnavailable, Reverted, RpcError
from backend.chain.models import SignerRow, TransactionRow, TransactionStatus
from backend.chain.outcome import Outcome
from backend.chain.pricing import Fees
from backend.chain.rpc import connect
from backend.chain.rule_sets import TokenRules
from backend.chain.transactions import execute, find
from tests.chain.conftest import HOME_EID, Stage
from tests.chain.faulty import HANG, SILENT, Faulty, Raw, in_front_of


@pytest_asyncio.fixture
async def node(stage: Stage) -> AsyncIterator[Faulty]:
    """The chain's node, which does right until a test says otherwise."""
    async with in_front_of(HOME_EID) as faulty:
        yield faulty


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes and transactions that are given up sooner."""
    monkeypatch.setattr(rpc, "TIMEOUT", httpx.Timeout(2.0))
    monkeypatch.setattr(confirming, "RESEND", {True: 0.05, False: 0.05})
    monkeypatch.setattr(pushing, "STUCK", {True: timedelta(seconds=0.2), False: timedelta(seconds=0.2)})


async def counted(address: str) -> int:
    """Transactions of an account that are mined."""
    return await nonces.count(await connect(HOME_EID), address)


async def row_of(key: str) -> TransactionRow:
    """The stored transaction of a key."""
    row = await find(key)
    assert row is not None
    return row


def passed(outcome: Outcome, row: TransactionRow) -> bool:
    """Whether a transaction is final and its row says the same."""
    mined = (row.status, row.tx_hash, row.block_number, row.block_hash)
    return mined == (TransactionStatus.CONFIRMED, outcome.tx_hash, outcome.block_number, outcome.block_hash)


@pytest.mark.parametrize("fault", [HANG, SILENT, Raw(429, b"{}", (("Retry-After", "0"),)), Raw(502, b"<html>")])
async def test_a_send_whose_answer_is_lost_is_one_transaction(
    stage: Stage, node: Faulty, quick: None, fault: Raw
) -> None:
    signer, key = await stage.wallet(), f"lost:{fault.status}"
    node.answers("eth_sendRawTransaction", fault, times=2)
    outcome = await stage.do(HOME_EID, signer, Call(signer, "0x", 1), key=key)
    assert passed(outcome, await row_of(key))
    assert await counted(signer) == 1


@pytest.mark.parametrize(
    "garbage",
    [
        Raw(200, b"\xff\xfenot json"),
        Raw(200, b"[" * 100_000),
        Raw(200, b"{}"),
        Raw(200, b"[]"),
        Raw(200, b'[{"id": "0", "result": "0x1"}]'),
        Raw(200, b'[{"id": 0}]'),
        Raw(200, b'[{"id": 0, "result": null}]'),
        Raw(200, b'[{"id": 0, "result": "one"}]'),
        Raw(200, b'[{"id": 0, "result": 17}]'),
        Raw(200, b'[{"id": 0, "error": "no"}]'),
    ],
)
async def test_garbage_is_a_503_that_names_the_chain(stage: Stage, node: Faulty, garbage: Raw) -> None:
    node.answers("eth_blockNumber", garbage)
    with pytest.raises(ChainUnavailable, match=f"chain {HOME_EID} answers with something that is no answer"):
        await (await connect(HOME_EID)).height()
    node.heals()
    assert await (await connect(HOME_EID)).height() > 0


@pytest.mark.parametrize(
    ("method", "lie"),
    [
        ("eth_getTransactionReceipt", {"transactionHash": "0x" + "1" * 64, "status": "0x1"}),
        ("eth_getTransactionReceipt", "mined"),
        ("eth_getTransactionReceipt", []),
        ("eth_getTransactionReceipt", Raw(200, b"]")),
    ],
)
async def test_a_garbled_receipt_is_no_receipt(stage: Stage, node: Faulty, quick: None, method: str, lie: Any) -> None:
    signer = await stage.wallet()
    key = f"garbled:{lie!s:.20}"
    node.answers(method, lie, times=3)
    outcome = await stage.do(HOME_EID, signer, Call(signer, "0x", 1), key=key)
    assert passed(outcome, await row_of(key))
    assert await counted(signer) == 1


async def test_an_answer_that_the_contract_would_not_give_is_a_503(stage: Stage, node: Faulty) -> None:
    at = await stage.token(HOME_EID)
    for lie in ("0x", "0x01"):
        node.answers("eth_call", lie)
        with pytest.raises(ChainUnavailable, match="does not answer as the contract would"):
            await token.total_supply(HOME_EID, at)
        node.heals()


async def test_a_limit_is_told_with_the_time_to_wait_and_kept(stage: Stage, node: Faulty) -> None:
    node.answers("eth_blockNumber", Raw(429, b"slow down", (("Retry-After", "7"),)), times=1)
    chain = await connect(HOME_EID)
    with pytest.raises(ChainUnavailable, match="limits the rate") as refused:
        await chain.height()
    assert refused.value.headers == {"Retry-After": "7"}
    asked = len(node.asked)
    with pytest.raises(ChainUnavailable):
        await chain.height()
    assert len(node.asked) == asked, "a node that wants to rest is left alone"


async def test_patience_outlasts_a_limit(stage: Stage, node: Faulty) -> None:
    node.answers("eth_blockNumber", Raw(429, b"", (("Retry-After", "0"),)), times=1)
    node.refuses("eth_blockNumber", -32005, "daily request count exceeded", times=1)
    with rpc.patience(60):
        assert await (await connect(HOME_EID)).height() > 0


async def test_a_nodes_own_error_is_a_503_without_its_words(stage: Stage, node: Faulty) -> None:
    node.refuses("eth_blockNumber", -32601, "the key abc123 has no access to this method")
    with pytest.raises(RpcError) as error:
        await (await connect(HOME_EID)).height()
    assert (error.value.status, "abc123" in error.value.detail) == (503, False)
    assert str(HOME_EID) in error.value.detail


@pytest.mark.parametrize("told", ["0x0", "0x1"])
async def test_a_nonce_that_is_told_too_low_is_not_believed(stage: Stage, node: Faulty, quick: None, told: str) -> None:
    signer = await stage.wallet()
    for _ in range(2):
        await stage.do(HOME_EID, signer, Call(signer, "0x", 1))
    node.answers("eth_getTransactionCount", told)
    outcome = await stage.do(HOME_EID, signer, Call(signer, "0x", 1), key=f"low:{told}")
    node.heals()
    assert passed(outcome, await row_of(f"low:{told}"))
    assert await counted(signer) == 3


async def test_a_nonce_that_is_told_too_high_leaves_no_gap(stage: Stage, node: Faulty, quick: None) -> None:
    """The transaction waits behind nonces that nobody has: they are used up, and nothing is done twice."""
    signer, receiver = await stage.wallet(), await stage.wallet()
    before = await rpc.native_balance(HOME_EID, receiver)
    node.answers("eth_getTransactionCount", "0x3", times=1)
    outcome = await stage.do(HOME_EID, signer, Call(receiver, "0x", 5), key="high")
    row = await row_of("high")
    assert (passed(outcome, row), row.nonce, row.earlier) == (True, 3, [])
    assert await counted(signer) == 4
    assert await rpc.native_balance(HOME_EID, receiver) == before + 5
    await reopening.settle_open(await connect(HOME_EID))
    following = await stage.do(HOME_EID, signer, Call(signer, "0x", 1), key="after high")
    assert (await row_of("after high")).nonce == 4
    assert following.block_number > 0


async def test_an_absurd_nonce_is_refused(stage: Stage, node: Faulty) -> None:
    signer = await stage.wallet()
    node.answers("eth_getTransactionCount", hex(2**60))
    with pytest.raises(ChainUnavailable, match="is not believed"):
        await stage.do(HOME_EID, signer, Call(signer, "0x", 1), key="absurd")
    node.heals()
    assert await find("absurd") is None
    await stage.do(HOME_EID, signer, Call(signer, "0x", 1), key="absurd")
    assert (await row_of("absurd")).nonce == 0


async def test_nonce_too_low_is_no_end_while_it_is_not_so(stage: Stage, node: Faulty, quick: None) -> None:
    signer = await stage.wallet()
    node.refuses("eth_sendRawTransaction", -32003, "nonce too low", times=4)
    outcome = await stage.do(HOME_EID, signer, Call(signer, "0x", 1), key="not too low")
    assert passed(outcome, await row_of("not too low"))


async def test_a_nonce_that_another_took_ends_it_and_the_retry_has_a_new_one(stage: Stage, quick: None) -> None:
    """The key is used elsewhere too: what was stored here can never be mined."""
    signer = await stage.wallet()
    intent = Call(signer, "0x", 1).intent("taken", eid=HOME_EID, signer=signer)
    await transactions._prepare(intent)
    chain = await connect(HOME_EID)
    await chain.request("anvil_impersonateAccount", signer)
    await chain.request("eth_sendTransaction", {"from": signer, "to": signer, "value": "0x2"})
    with pytest.raises(Reverted, match="was used by another transaction"):
        await execute(intent)
    assert (await row_of("taken")).status is TransactionStatus.FAILED
    await execute(intent)
    assert ((await row_of("taken")).status, (await row_of("taken")).nonce) == (TransactionStatus.CONFIRMED, 1)


async def test_a_dropped_transaction_is_sent_again(stage: Stage, quick: None) -> None:
    signer, chain = await stage.wallet(), await connect(HOME_EID)
    async with held(chain):
        waiting = asyncio.create_task(stage.do(HOME_EID, signer, Call(signer, "0x", 1), key="dropped"))
        first = await stored("dropped")
        await in_pool(chain, first.tx_hash)
        await chain.request("anvil_dropTransaction", first.tx_hash)
        again = await pooled(chain, signer, lambda tx_hash: True)
    outcome = await waiting
    row = await row_of("dropped")
    assert passed(outcome, row)
    assert again in row.hashes
    assert await counted(signer) == 1


async def test_a_stuck_transaction_gets_more_fee_under_its_nonce(stage: Stage, quick: None) -> None:
    """Its fee is below what a block asks for meanwhile: it is replaced by rule, and only one of them is mined."""
    signer, chain = await stage.wallet(), await connect(HOME_EID)
    told: list[str] = []
    async with held(chain):
        intent = Call(signer, "0x", 1).intent("stuck", eid=HOME_EID, signer=signer)

        async def hear(tx_hash: str) -> None:
            told.append(tx_hash)

        waiting = asyncio.create_task(execute(intent, on_stored=hear))
        first = await stored("stuck")
        await in_pool(chain, first.tx_hash)
        await pooled(chain, signer, lambda tx_hash: tx_hash != first.tx_hash)
    outcome = await waiting
    row = await row_of("stuck")
    assert passed(outcome, row)
    assert row.nonce == first.nonce
    assert first.tx_hash in row.hashes
    assert told[0] == first.tx_hash
    assert row.tx_hash in told
    assert (row.max_fee or 0) * 8 >= (first.max_fee or 0) * 9
    assert (row.tip or 0) * 8 >= (first.tip or 0) * 9
    assert await counted(signer) == 1


async def test_where_the_replaced_one_is_mined_after_all_the_row_is_that_one(
    stage: Stage, node: Faulty, quick: None
) -> None:
    signer, chain = await stage.wallet(), await connect(HOME_EID)
    async with held(chain):
        waiting = asyncio.create_task(stage.do(HOME_EID, signer, Call(signer, "0x", 1), key="replaced"))
        first = await stored("replaced")
        await in_pool(chain, first.tx_hash)

        def swallows_others(call: dict[str, Any]) -> dict[str, Any] | None:
            is_other = call["method"] == "eth_sendRawTransaction" and call["params"][0] != first.raw
            return {"result": "0x" + "0" * 64} if is_other else None

        node.does(swallows_others)
        await bumped("replaced", first.tx_hash)
    outcome = await waiting
    row = await row_of("replaced")
    assert passed(outcome, row)
    assert (row.tx_hash, row.raw) == (first.tx_hash, first.raw)
    assert first.tx_hash not in [entry["tx_hash"] for entry in row.earlier]


async def test_too_little_gas_that_no_node_takes_is_estimated_again(stage: Stage, node: Faulty, quick: None) -> None:
    signer = await stage.wallet()
    node.answers("eth_estimateGas", "0x10", times=1)  # below what any transaction costs
    outcome = await stage.do(HOME_EID, signer, Call(signer, "0x", 1), key="intrinsic")
    row = await row_of("intrinsic")
    assert (passed(outcome, row), row.nonce) == (True, 0)
    assert await counted(signer) == 1


async def test_out_of_gas_is_told_and_the_retry_has_enough(stage: Stage, node: Faulty, open_rules: TokenRules) -> None:
    at = await stage.token(HOME_EID, open_rules)
    node.answers("eth_estimateGas", hex(24_000), times=1)
    mint = token.mint(at, stage.treasury, 7)
    with pytest.raises(Reverted, match="ran out of gas") as failed:
        await stage.do(HOME_EID, stage.treasury, mint, key="gas")
    assert (failed.value.name, failed.value.resolution) == ("OutOfGas", "Try it again: the gas is estimated anew.")
    row = await row_of("gas")
    assert (row.status, (row.problem or {})["name"]) == (TransactionStatus.FAILED, "OutOfGas")
    await stage.do(HOME_EID, stage.treasury, mint, key="gas")
    assert await token.total_supply(HOME_EID, at) == 7


async def test_a_node_of_another_chain_signs_nothing(stage: Stage, node: Faulty) -> None:
    signer = await stage.wallet()
    node.answers("eth_chainId", "0x1")
    with pytest.raises(ChainUnavailable, match="is of another chain"):
        await stage.do(HOME_EID, signer, Call(signer, "0x", 1), key="elsewhere")
    assert await find("elsewhere") is None


async def test_a_silence_ends_the_wait_and_not_the_transaction(
    stage: Stage, node: Faulty, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confirming, "SILENCE", 0.5)
    signer = await stage.wallet()
    node.answers("eth_getTransactionReceipt", Raw(503, b""))
    call = Call(signer, "0x", 1)
    with pytest.raises(ChainUnavailable, match="sent but not confirmed yet"):
        await stage.do(HOME_EID, signer, call, key="silence")
    assert (await row_of("silence")).status is TransactionStatus.SUBMITTING
    node.heals()
    outcome = await stage.do(HOME_EID, signer, call, key="silence")
    assert passed(outcome, await row_of("silence"))
    assert await counted(signer) == 1


async def test_what_nobody_waits_for_is_brought_to_its_end(
    stage: Stage, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reopening, "LEFT_ALONE", timedelta(0))
    signer = await stage.wallet()
    await transactions._prepare(Call(signer, "0x", 1).intent("orphan", eid=HOME_EID, signer=signer))
    chain = await connect(HOME_EID)
    async with asyncio.timeout(60):
        while (await row_of("orphan")).status is not TransactionStatus.CONFIRMED:
            await reopening.settle_open(chain)
    assert await counted(signer) == 1


def test_fees_rise_by_an_eighth_or_to_todays_price_and_not_beyond_reason() -> None:
    assert pricing.raised(Fees(800, 80), Fees(100, 10)) == Fees(901, 91)
    assert pricing.raised(Fees(800, 80), Fees(2_000, 200)) == Fees(2_000, 200)
    assert pricing.raised(Fees(900, 90), Fees(100, 10)) is None
    assert pricing.raised(Fees(1, 0), Fees(1, 0)) == Fees(2, 1)


def test_answers_are_put_in_order() -> None:
    asked = [("eth_blockNumber", []), ("eth_getCode", ["0x0", "latest"])]
    told = [{"id": 1, "result": "0x"}, {"id": 0, "result": "0x10"}]
    assert [answer["result"] for answer in answers.ordered(asked, told)] == ["0x10", "0x"]
    with pytest.raises(answers.Garbage):
        answers.ordered(asked, [told[0], told[0]])


class held:
    """A chain that mines nothing meanwhile; at the end it mines what it has, and goes on by itself."""

    def __init__(self, chain: rpc.Rpc) -> None:
        self._chain = chain

    async def __aenter__(self) -> None:
        await self._chain.request("evm_setAutomine", False)

    async def __aexit__(self, *_: object) -> None:
        await self._chain.request("evm_setAutomine", True)
        await self._chain.request("evm_mine")


async def stored(key: str) -> TransactionRow:
    """The transaction, once it is stored."""
    async with asyncio.timeout(60):
        while (row := await find(key)) is None:  # noqa: ASYNC110 - a row appears
            await asyncio.sleep(0.005)
    return row


async def bumped(key: str, first: str) -> TransactionRow:
    """The transaction, once it has another hash."""
    async with asyncio.timeout(60):
        while (row := await row_of(key)).tx_hash == first:  # noqa: ASYNC110 - a row changes
            await asyncio.sleep(0.005)
    return row


async def in_pool(chain: rpc.Rpc, tx_hash: str) -> None:
    async with asyncio.timeout(60):
        while await chain.request("eth_getTransactionByHash", tx_hash) is None:  # noqa: ASYNC110 - the node's pool
            await asyncio.sleep(0.005)


async def pooled(chain: rpc.Rpc, signer: str, fits: Any) -> str:
    """The hash of a transaction of the signer in the node's pool."""
    async with asyncio.timeout(60):
        while True:
            pool = (await chain.request("txpool_content"))["pending"]
            mine = next((theirs for who, theirs in pool.items() if who.lower() == signer.lower()), {})
            for entry in mine.values():
                if fits(entry["hash"]):
                    return str(entry["hash"])
            await asyncio.sleep(0.005)


async def test_every_signer_is_one_row(stage: Stage) -> None:
    signer = await stage.wallet()
    await asyncio.gather(*(stage.do(HOME_EID, signer, Call(signer, "0x", 1)) for _ in range(3)))
    async with db.worker() as session:
        rows = (await session.execute(sa.select(SignerRow.next_nonce).where(SignerRow.address == signer))).all()
    assert rows == [(3,)]
