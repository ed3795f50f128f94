"""Losses of nodes, on a real chain: every fault ends in a correct final state, or in a clear 503."""

import asyncio
from datetime import timedelta

import pytest

from backend.chain.abi.calls import Call
from backend.chain.errors import ChainUnavailable
from backend.chain.models import TransactionStatus
from backend.chain.rpc.json_rpc import connect
from backend.chain.transactions import confirmation, execution, settlement
from tests.chain.conftest import HOME_EID, Stage
from tests.chain.transactions.observation import counted, passed, row_of
from tests.support.faulty_node import HANG, SILENT, Faulty, Raw


@pytest.mark.parametrize("fault", [HANG, SILENT, Raw(429, b"{}", (("Retry-After", "0"),)), Raw(502, b"<html>")])
async def test_send_with_a_lost_response_is_one_transaction(
    stage: Stage, node: Faulty, short_timeouts: None, fault: Raw
) -> None:
    signer, key = await stage.wallet(), f"lost:{fault.status}"
    node.answers("eth_sendRawTransaction", fault, times=2)
    outcome = await stage.do(HOME_EID, signer, Call(signer, "0x", 1), key=key)
    assert passed(outcome, await row_of(key))
    assert await counted(signer) == 1


async def test_silence_ends_the_wait_but_not_the_transaction(
    stage: Stage, node: Faulty, short_timeouts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confirmation, "SILENCE", 0.5)
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


async def test_transaction_without_a_waiter_is_settled(
    stage: Stage, short_timeouts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settlement, "LEFT_ALONE", timedelta(0))
    signer = await stage.wallet()
    await execution._prepare(Call(signer, "0x", 1).intent("orphan", eid=HOME_EID, signer=signer))
    chain = await connect(HOME_EID)
    async with asyncio.timeout(60):
        while (await row_of("orphan")).status is not TransactionStatus.CONFIRMED:
            await settlement.settle_open(chain)
    assert await counted(signer) == 1
