"""The main job through a client that was written from the specification."""

import asyncio
import secrets
from typing import Any

from tests.conftest import PASSWORD, World
from tests.spec_client.client import Client, Issuer
from tests.support.server import served

SEPOLIA, BASE_SEPOLIA = 40161, 40245


async def test_main_job_by_the_specification_ends_with_a_filled_order(api: Any, world: World) -> None:
    admin = await world.person(await world.organization())
    async with served(api) as origin:
        await asyncio.to_thread(main_job, f"{origin}/v1", admin.email, PASSWORD)


def main_job(base_url: str, email: str, password: str) -> None:
    client = Client(base_url)
    client.sign_in(email, password)
    issuer = Issuer(client, "Harbour Capital")
    seller, buyer = issuer.investor("Sam Seller", "DEU"), issuer.investor("Ben Buyer", "FRA")
    asset = issuer.asset("H" + secrets.token_hex(2).upper(), SEPOLIA, regulation_type="reg_s", required_kyc_level=1)
    market = issuer.market(asset, BASE_SEPOLIA)
    issuer.mint(asset, BASE_SEPOLIA, seller, 100 * 10**18)
    ask = issuer.order(market, "sell", seller, 1_000_000, 10 * 10**18)
    print(client.followed)
    bid = issuer.order(market, "buy", buyer, 1_000_000, 10 * 10**18)
    print(client.wait(ask, "filled"), client.wait(bid, "filled"))
