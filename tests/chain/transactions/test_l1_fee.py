"""A rollup's fee for writing to Ethereum: read from its oracle, and part of every funds check."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from backend.assets import gas, records
from backend.assets.gas import TOKEN_SIZE
from backend.chain.abi.calls import creation
from backend.chain.errors import InsufficientFunds
from backend.chain.rpc import node_urls
from backend.chain.rpc.json_rpc import Rpc, connect
from backend.chain.signing.wallet_provider import provider
from backend.chain.transactions import funding, l1_fee
from backend.core import db
from backend.core.errors import Conflict
from backend.models import WalletRow
from tests.chain.conftest import AWAY_EID, Stage

WEI_PER_BYTE = 10**13
ETHER = 10**18

# Answers any call with its first argument times a constant: PUSH calldata[4:36], PUSH8 constant, MUL, return the word.
ORACLE_CODE = "0x60043567" + WEI_PER_BYTE.to_bytes(8).hex() + "0260005260206000f3"
# Answers any call with three words: 500,000 gas of writing, and two prices.
NODE_CODE = "0x6207a120600052600160205260016040526060" + "6000f3"


async def place(eid: int, address: str, code: str) -> None:
    await (await connect(eid)).request("anvil_setCode", address, code)


@pytest_asyncio.fixture
async def base(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Rpc]:
    """Base Sepolia as a public chain, with an oracle that charges `WEI_PER_BYTE`."""
    monkeypatch.setattr(node_urls, "is_embedded", lambda eid: False)
    await place(AWAY_EID, l1_fee.ORACLE, ORACLE_CODE)
    yield await connect(AWAY_EID)
    await place(AWAY_EID, l1_fee.ORACLE, "0x")


async def test_l1_fee_on_an_op_stack_chain_is_twice_the_oracle_value(base: Rpc) -> None:
    assert await l1_fee.l1_fee(base, 1_000) == 2 * (1_000 + l1_fee.ENVELOPE) * WEI_PER_BYTE


async def test_l1_fee_without_an_oracle_is_zero(base: Rpc, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await l1_fee.l1_fee(await connect(40161), 1_000) == 0
    await place(AWAY_EID, l1_fee.ORACLE, "0x")
    assert await l1_fee.l1_fee(base, 1_000) == 0
    await place(AWAY_EID, l1_fee.ORACLE, ORACLE_CODE)
    monkeypatch.setattr(node_urls, "is_embedded", lambda eid: True)
    assert await l1_fee.l1_fee(base, 1_000) == 0


async def test_planned_fee_on_arbitrum_is_the_l1_part_of_the_gas(base: Rpc, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(l1_fee, "ARBITRUM", frozenset({AWAY_EID}))
    await place(AWAY_EID, l1_fee.NODE_INTERFACE, NODE_CODE)
    try:
        assert await l1_fee.planned_fee(base, 1_000, gas_price=7) == 2 * 500_000 * 7
    finally:
        await place(AWAY_EID, l1_fee.NODE_INTERFACE, "0x")
    assert await l1_fee.planned_fee(base, 1_000, gas_price=7) == 0


async def test_wallet_that_cannot_pay_the_l1_fee_is_rejected(
    stage: Stage, base: Rpc, monkeypatch: pytest.MonkeyPatch
) -> None:
    price = int(await base.request("eth_gasPrice"), 16)
    address = (await provider().create()).address
    fee = await l1_fee.l1_fee(base, TOKEN_SIZE)
    execution = gas.TOKEN * 2 * price
    wallet = WalletRow(organization_id=stage.organization_id, label="Treasury", address=address)
    async with db.rehearsing(stage.organization_id) as session:
        await balance(base, address, execution + fee - 1)
        with pytest.raises(Conflict) as refused:
            await records.check_funded(session, wallet, AWAY_EID, gas.TOKEN, size=TOKEN_SIZE)
        assert funding.amount(execution + fee) in refused.value.detail
        await balance(base, address, execution + fee)
        await records.check_funded(session, wallet, AWAY_EID, gas.TOKEN, size=TOKEN_SIZE)


async def balance(rpc: Rpc, address: str, wei: int) -> None:
    await rpc.request("anvil_setBalance", address, hex(wei))


async def test_operator_that_cannot_pay_the_l1_fee_gets_the_amount(stage: Stage, base: Rpc) -> None:
    agent = (await provider().create()).address
    call = creation("TestUSD", agent)
    fee = await l1_fee.l1_fee(base, len(call.data) // 2)
    await balance(base, agent, fee)
    with pytest.raises(InsufficientFunds) as refused:
        await funding.check(base, agent, [call])
    assert f"and {funding.amount(fee)} ETH for writing them to Ethereum" in refused.value.detail
    await balance(base, agent, fee + ETHER)
    await funding.check(base, agent, [call])
