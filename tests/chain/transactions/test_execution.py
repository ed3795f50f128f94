"""The transaction store: nonces, keys, refusals, crashes."""

import asyncio
import sys
from typing import Any

import pytest
import sqlalchemy as sa

from backend.chain.abi.calls import Call
from backend.chain.abi.rule_sets import TokenRules
from backend.chain.bindings import quote_token, registry, token
from backend.chain.deployment.contracts import contracts_of, operator
from backend.chain.devnet import anvil
from backend.chain.errors import InsufficientFunds, Reverted
from backend.chain.models import TransactionRow, TransactionStatus
from backend.chain.rpc.json_rpc import connect
from backend.chain.signing.wallet_provider import provider
from backend.chain.transactions import execution
from backend.chain.transactions.execution import execute, find
from backend.core import db
from backend.core.errors import BadRequest
from backend.engine.row_json import ROWS
from tests.chain.conftest import HOME_EID, Stage


@pytest.mark.long
async def test_twenty_concurrent_transactions_of_one_signer_get_twenty_nonces(stage: Stage) -> None:
    signer, receiver = await stage.wallet(), await stage.wallet()
    await asyncio.gather(*(stage.do(HOME_EID, signer, Call(receiver, "0x", 1)) for _ in range(20)))
    async with db.worker() as session:
        found = sa.select(TransactionRow.nonce, TransactionRow.status).where(TransactionRow.signer == signer)
        rows = (await session.execute(found)).all()
    assert sorted(nonce for nonce, _ in rows) == list(range(20))
    assert {status for _, status in rows} == {TransactionStatus.CONFIRMED}


async def test_transactions_with_the_same_key_are_one_transaction(stage: Stage) -> None:
    signer = await stage.wallet()
    call = Call(signer, "0x", 1)
    first = await stage.do(HOME_EID, signer, call, key="once")
    again = await stage.do(HOME_EID, signer, call, key="once")
    assert again == first
    concurrent = await asyncio.gather(*(stage.do(HOME_EID, signer, call, key="twice") for _ in range(5)))
    assert len({outcome.tx_hash for outcome in concurrent}) == 1
    assert await (await connect(HOME_EID)).request("eth_getTransactionCount", signer, "latest") == "0x2"


async def test_call_that_would_revert_is_rejected_and_uses_no_nonce(stage: Stage, open_rules: TokenRules) -> None:
    at, stranger = await stage.token(HOME_EID, open_rules, supply=10**18), await stage.wallet()
    with pytest.raises(Reverted) as refused:
        await stage.do(HOME_EID, stage.treasury, token.transfer(at, stranger, 1), key="refused")
    error = ROWS.deserialize(ROWS.serialize(refused.value))
    assert (error.name, error.code) == ("TransferRestricted", 9)
    assert error.detail == "The receiver has no valid attestation."
    assert error.resolution.startswith("Obtain an attestation")
    assert error.status == 409
    assert await find("refused") is None

    await stage.attest(HOME_EID, stranger)
    await stage.do(HOME_EID, stage.treasury, token.transfer(at, stranger, 1), key="refused")
    assert await token.balance_of(HOME_EID, at, stranger) == 1


@pytest.mark.long
async def test_mined_revert_is_decoded_stored_and_retried(stage: Stage, open_rules: TokenRules) -> None:
    """The state changes between simulation and block: mining is held while the sender's balance is spent."""
    at = await stage.token(HOME_EID, open_rules, supply=100)
    holder = await stage.wallet()
    await stage.attest(HOME_EID, holder)
    await stage.do(HOME_EID, stage.treasury, token.mint(at, holder, 10))
    rpc = await connect(HOME_EID)
    await rpc.request("evm_setAutomine", False)
    try:
        # Both are simulated on the same state and mined together; only the first can succeed.
        both = asyncio.gather(
            *(stage.do(HOME_EID, holder, token.transfer(at, stage.treasury, 10), key=f"raced:{i}") for i in range(2)),
            return_exceptions=True,
        )
        await until_pending(rpc, 2)
        await rpc.request("evm_mine")
        results = await both
    finally:
        await rpc.request("evm_setAutomine", True)
    failed = [(i, r) for i, r in enumerate(results) if isinstance(r, Reverted)]
    assert len(failed) == 1
    number, _ = failed[0]
    row = await find(f"raced:{number}")
    assert row is not None
    assert row.status is TransactionStatus.FAILED
    assert row.problem is not None
    assert row.problem["detail"]

    await stage.do(HOME_EID, stage.treasury, token.mint(at, holder, 10))
    await stage.do(HOME_EID, holder, token.transfer(at, stage.treasury, 10), key=f"raced:{number}")
    kept = await find(f"raced:{number}#failed{row.nonce}")
    assert kept is not None
    assert kept.tx_hash == row.tx_hash


async def until_pending(rpc: Any, count: int) -> None:
    async with asyncio.timeout(60):
        while int((await rpc.request("txpool_status"))["pending"], 16) < count:  # noqa: ASYNC110
            await asyncio.sleep(0.005)


async def test_crash_between_storing_and_sending_is_recovered(stage: Stage) -> None:
    signer = await stage.wallet()
    intent = Call(signer, "0x", 1).intent("stranded", eid=HOME_EID, signer=signer)
    row = await execution._prepare(intent)
    assert await (await connect(HOME_EID)).request("eth_getTransactionByHash", row.tx_hash) is None

    later = asyncio.create_task(stage.do(HOME_EID, signer, Call(signer, "0x", 2)))
    assert (await later).block_number > 0  # the later nonce also gets the stranded one mined

    other = await execution._prepare(Call(signer, "0x", 3).intent("stranded too", eid=HOME_EID, signer=signer))
    assert (await execution.recover([HOME_EID]))[HOME_EID] >= 1
    assert (await execute(intent)).tx_hash == row.tx_hash
    assert (await connect(HOME_EID)) is not None
    answer = await (await connect(HOME_EID)).request("eth_getTransactionReceipt", other.tx_hash)
    assert answer is not None


async def test_wallet_without_funds_or_key_is_rejected(stage: Stage) -> None:
    poor = (await provider().create()).address
    with pytest.raises(InsufficientFunds, match="too little native currency"):
        await stage.do(HOME_EID, poor, Call(poor, "0x", 0), key="poor")
    assert await find("poor") is None
    with pytest.raises(BadRequest, match="There is no key"):
        await stage.do(HOME_EID, "0x" + "1" * 40, Call(poor, "0x", 0))


@pytest.mark.parametrize(("eid", "words"), [(30168, "Solana"), (30101, "has no node"), (12345, "no chain with")])
async def test_chain_without_a_node_reports_why(stage: Stage, eid: int, words: str) -> None:
    with pytest.raises(BadRequest, match=words):
        await connect(eid)
    with pytest.raises(BadRequest):
        await anvil.fund(eid, stage.treasury)


async def test_operator_mints_test_currency_and_registers_attesters(stage: Stage) -> None:
    contracts = await contracts_of(HOME_EID)
    assert contracts.quote_token is not None
    await stage.do(HOME_EID, await operator(), quote_token.mint(contracts.quote_token, stage.treasury, 5_000_000))
    assert await quote_token.balance_of(HOME_EID, contracts.quote_token, stage.treasury) >= 5_000_000
    assert await quote_token.details(HOME_EID, contracts.quote_token) == ("tUSD", 6)
    with pytest.raises(Reverted, match="is not the owner"):
        await stage.do(HOME_EID, stage.treasury, quote_token.mint(contracts.quote_token, stage.treasury, 1))
    attester = await registry.attester(HOME_EID, contracts.registry, stage.treasury)
    assert (attester.active, attester.max_kyc_level, attester.name) == (True, 3, "Test")


@pytest.mark.long
async def test_concurrent_processes_with_one_signer_share_its_nonces(stage: Stage, database_url: str) -> None:
    signer, each = await stage.wallet(), 12
    command = [sys.executable, "-m", "tests.chain.transactions.sender_process", database_url, str(HOME_EID), signer]
    others = [
        await asyncio.create_subprocess_exec(*command, name, str(each), stderr=asyncio.subprocess.PIPE)
        for name in ("one", "two")
    ]
    await asyncio.gather(*(stage.do(HOME_EID, signer, Call(signer, "0x", 1)) for _ in range(each)))
    for process in others:
        _, errors = await process.communicate()
        assert process.returncode == 0, errors.decode()
    async with db.worker() as session:
        found = sa.select(TransactionRow.nonce, TransactionRow.status).where(TransactionRow.signer == signer)
        rows = (await session.execute(found)).all()
    assert sorted(nonce for nonce, _ in rows) == list(range(3 * each))
    assert {status for _, status in rows} == {TransactionStatus.CONFIRMED}
    assert await (await connect(HOME_EID)).request("eth_getTransactionCount", signer, "latest") == hex(3 * each)
