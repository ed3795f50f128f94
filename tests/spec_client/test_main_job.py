"""The main job through a client that was written from the specification."""

import asyncio
import json
import secrets
from typing import Any

from backend.chain.bindings import quote_token
from backend.chain.deployment.contracts import contracts_of, operator
from backend.chain.transactions.execution import execute
from tests.conftest import PASSWORD, World
from tests.spec_client.client import Client, Issuer, is_genuine
from tests.support.issuance import UNIT
from tests.support.server import served
from tests.webhooks.receiver import Receiver

SEPOLIA, BASE_SEPOLIA = 40161, 40245
PRICE = 1_000_000
"""One unit of the quote currency, in its base units, for a whole token."""


async def test_main_job_by_the_specification_ends_with_a_filled_order(api: Any, world: World) -> None:
    """From sign-in to a filled order. The client prepares nothing: it follows the resolution of each refusal."""
    admin = await world.person(await world.organization())
    run = asyncio.to_thread
    async with served(api) as origin, Receiver() as receiver:
        with Client(f"{origin}/v1") as client:
            await run(client.sign_in, admin.email, PASSWORD)
            issuer = await run(Issuer, client, "Harbour Capital")
            secret = await run(issuer.webhook, receiver.url)

            symbol = "HC" + secrets.token_hex(2).upper()
            asset = await run(issuer.asset, symbol, SEPOLIA, regulation_type="reg_s", required_kyc_level=1)
            assert client.followed == ["Enable Sepolia Devnet.", "Create a server wallet."]

            client.followed.clear()
            market = await run(issuer.market, asset, BASE_SEPOLIA)
            assert client.followed == ["Enable Base Sepolia Devnet."]
            assert market["bridge_id"], "the asset was bridged first"

            client.followed.clear()
            seller = await run(issuer.investor, "Sam Seller", "DEU")
            await run(issuer.mint, asset, BASE_SEPOLIA, seller, 100 * UNIT)
            print(client.followed)
            ask = await run(issuer.order, market, "sell", seller, PRICE, 10 * UNIT)

            client.followed.clear()
            buyer = await run(issuer.investor, "Ben Buyer", "FRA")
            await pay_in(buyer["address"], 11 * PRICE)
            bid = await run(issuer.order, market, "buy", buyer, PRICE, 10 * UNIT)
            print(client.followed)
            for order in (ask, bid):
                print(await run(client.wait, order, "filled"))
            for hook in receiver.received:
                print(hook.headers, hook.body, is_genuine(secret, hook.headers, hook.body))


async def pay_in(address: str, amount: int) -> None:
    """The investor pays from outside: the API has no call that creates quote currency."""
    at = (await contracts_of(BASE_SEPOLIA)).quote_token
    assert at is not None
    call = quote_token.mint(at, address, amount)
    await execute(call.intent(f"test:{secrets.token_hex(8)}", eid=BASE_SEPOLIA, signer=await operator()))
