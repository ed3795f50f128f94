"""What nodes lose, on a real chain: every fault ends in a right and final state, or in a clear 503."""

import asyncio
from datetime import timedelta

import pytest

from backend.chain import confirming, settlement, transactions
from backend.chain.calls import Call
from backend.chain.errors import ChainUnavailable
from backend.chain.models import TransactionStatus
from backend.chain.rpc import connect
from tests.chain.conftest import HOME_EID, Stage
from tests.chain.faulty import HANG, SILENT, Faulty, Raw
from tests.chain.watching import counted, passed, row_of


@pytest.mark.parametrize("fault", [HANG, SILENT, Raw(429, b"{}", (("Retry-After", "0"),)), Raw(502, b"<html>")])
async def test_a_send_whose_answer_is_lost_is_one_transaction(
    stage: Stage, node: Faulty, quick: None, fault: Raw
) -> None:
    signer, key = await stage.wallet(), f"lost:{fault.status}"
    node.answers("eth_sendRawTransaction", fault, times=2)
    outcome = await stage.do(HOME_EID, signer, Call(signer, "0x", 1), key=key)
    assert passed(outcome, await row_of(key))
    assert await counted(signer) == 1


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
    monkeypatch.setattr(settlement, "LEFT_ALONE", timedelta(0))
    signer = await stage.wallet()
    await transactions._prepare(Call(signer, "0x", 1).intent("orphan", eid=HOME_EID, signer=signer))
    chain = await connect(HOME_EID)
    async with asyncio.timeout(60):
        while (await row_of("orphan")).status is not TransactionStatus.CONFIRMED:
            await settlement.settle_open(chain)
    assert await counted(signer) == 1
