"""Transfers of one wallet: the next one does not wait until the chain has confirmed the one before."""

import asyncio
from typing import Any

from backend.chain.rpc.json_rpc import connect
from tests.conftest import World
from tests.support.firm import SEPOLIA
from tests.support.issuance import UNIT, Issuance
from tests.transfers.test_transfers import body_of

MANY = 12


async def test_transfers_of_a_wallet_are_sent_before_the_first_is_mined(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset, treasury, trader = await firm.asset(), await firm.treasury(), await firm.trader()
    body, chain = body_of(asset, treasury, trader["address"]), await connect(SEPOLIA)
    await chain.request("evm_setAutomine", False)
    try:
        accepted = [await firm.post("/transfers", body) for _ in range(MANY)]
        async with asyncio.timeout(30):
            while len(await with_status(firm, "submitting")) < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert await with_status(firm, "confirmed") == []
    finally:
        await chain.request("evm_setAutomine", True)
        await chain.request("evm_mine")
    for one in accepted:
        await firm.succeed(one["requestId"])
    holders = (await firm.get(f"/assets/{asset['id']}/holders"))["holders"]
    assert {one["balance"] for one in holders if one["address"] == trader["address"]} == {str(MANY * UNIT)}


async def with_status(firm: Issuance, status: str) -> list[Any]:
    return list((await firm.get(f"/transfers?status={status}"))["transfers"])
