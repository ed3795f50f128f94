"""The main job through a client that imports nothing of the service."""

import ast
import asyncio
import json
import secrets
import sys
from pathlib import Path
from typing import Any

from tests.conftest import PASSWORD, World
from tests.spec_client.client import Client, Issuer, Json, is_genuine
from tests.support.server import served
from tests.webhooks.receiver import Receiver

SEPOLIA, BASE_SEPOLIA = 40161, 40245
UNIT = 10**18
"""Base units of a whole token."""
PRICE = 1_000_000
"""Price of a whole token, in base units of the quote currency."""
REASON = "Obtain an attestation for the receiver from an issuer the asset trusts."


async def test_main_job_by_following_resolutions_ends_with_a_filled_order(api: Any, world: World) -> None:
    """From sign-in to a filled order and a payout, by the API alone. The client prepares nothing: it follows the
    resolution of each refusal."""
    admin = await world.person(await world.organization())
    run = asyncio.to_thread
    async with served(api) as origin, Receiver() as receiver:
        with Client(f"{origin}/v1") as client:
            await run(client.sign_in, admin.email, PASSWORD)
            issuer = await run(Issuer, client, "Harbour Capital")
            secret = await run(issuer.webhook, receiver.url)

            rules = {"regulation_type": "reg_s", "required_kyc_level": 1, "initial_supply": str(1000 * UNIT)}
            asset = await run(issuer.asset, "HC" + secrets.token_hex(2).upper(), SEPOLIA, **rules)
            assert followed(client) == ["Enable Sepolia Devnet.", "Create a server wallet."]

            market = await run(issuer.market, asset, BASE_SEPOLIA)
            assert followed(client) == ["Enable Base Sepolia Devnet."]
            assert [bridge["status"] for bridge in await run(issuer.bridges, asset)] == ["confirmed"]

            seller = await run(issuer.investor, "Sam Seller", "DEU")
            await run(issuer.mint, asset, BASE_SEPOLIA, seller, 100 * UNIT)
            verify, register = "Verify the party's identity.", "Register the organization as an issuer."
            assert followed(client) == [REASON, verify, register]
            ask = await run(issuer.order, market, "sell", seller, PRICE, 10 * UNIT)

            buyer = await run(issuer.investor, "Ben Buyer", "FRA")
            bid = await run(issuer.order, market, "buy", buyer, PRICE, 10 * UNIT)
            *before, funds = followed(client)
            assert before == [REASON, verify]
            assert funds.startswith(f"Get test funds on the chain {BASE_SEPOLIA}: at least ")

            filled = [await run(client.wait, order, "filled") for order in (ask, bid)]
            assert [(order["side"], order["filled"]) for order in filled] == [
                ("sell", str(10 * UNIT)),
                ("buy", str(10 * UNIT)),
            ]
            listed = await run(issuer.orders, market, "filled")
            assert {order["id"] for order in listed} == {order["id"] for order in filled}
            event = await announced(receiver, secret, filled[1]["id"], "order.filled")
            assert event["status"] == "filled"

            amounts = {seller["address"]: 30 * UNIT, buyer["address"]: 10 * UNIT}
            payout = await run(issuer.distribution, asset, SEPOLIA, amounts)
            assert (payout["total_amount"], payout["claimed_amount"]) == (str(40 * UNIT), "0")


def test_client_imports_only_the_standard_library_and_httpx() -> None:
    tree = ast.parse(Path(__file__).with_name("client.py").read_text())
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} - sys.stdlib_module_names == {"httpx"}


def followed(client: Client) -> list[str]:
    """Return the resolutions that the client has followed since the last time."""
    steps, client.followed = client.followed, []
    return steps


async def announced(receiver: Receiver, secret: str, record: str, kind: str) -> Json:
    """Return the data of the webhook about a record, when it has come. Each one has the signature of the secret."""
    count = 0
    while True:
        for request in (await receiver.came(count + 1))[count:]:
            count += 1
            assert is_genuine(secret, request.headers, request.body)
            event = json.loads(request.body)
            if (event["type"], event["data"]["id"]) == (kind, record):
                return dict(event["data"])
