"""Records whose request waits for a second person, in the lists of the API."""

from typing import Any

from tests.approvals.second_person import deny, waiting
from tests.conftest import World
from tests.distributions.test_distributions import draft_distribution, path_of, terms_of
from tests.support.firm import BASE, SEPOLIA
from tests.support.issuance import UNIT, Issuance, asset_body, orders_path

ACTIONS = ["asset.deploy", "bridge.send", "market.deploy", "order.place", "attestation.issue", "distribution.activate"]


async def requested(firm: Issuance) -> list[tuple[str, str, str]]:
    """Ask for one action of each kind; return the list, the record's ID and the request's of each."""
    asset, trader = await firm.asset(), await firm.trader()
    market, made = await firm.market(asset), await draft_distribution(firm, asset, (trader["address"], UNIT))
    party = await firm.verified((await firm.post("/wallets", {"label": "Newcomer"}))["address"])
    await firm.patch("", {"approvals": ACTIONS})
    markets, orders = f"/assets/{asset['id']}/markets", orders_path(market)
    order = {"side": "buy", "price": str(10**6), "amount": str(UNIT), "wallet_id": trader["id"]}
    asked: list[tuple[str, str, str, Any]] = [
        ("/assets", "/assets", "assetId", asset_body()),
        ("/bridges", f"/assets/{asset['id']}/bridge", "bridgeId", {"destination_chain_eid": BASE}),
        (markets, markets, "marketId", await firm.market_body(BASE)),
        (orders, orders, "orderId", order),
        ("/attestations", "/attestations", "attestationId", {"party_id": party["id"], "chain_eid": SEPOLIA}),
    ]
    found = []
    for records, path, name, body in asked:
        accepted = await firm.post(path, body)
        assert accepted["message"] == "It waits for a second person's approval."
        assert name == "attestationId" or accepted["status"] == "awaiting_approval", name
        found.append((records, accepted[name], accepted["requestId"]))
    await firm.post(path_of(asset, made) + "/activate", terms_of(made))
    return [*found, (path_of(asset), made["id"], (await firm.get(path_of(asset, made)))["request_id"])]


async def test_records_whose_request_waits_for_a_second_person_say_so(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    second = await world.person(firm.id)
    for path, record, request in await requested(firm):
        assert await waits(firm, path, record) == (True, True), path
        await deny(firm, second, await waiting(firm, {"requestId": request}))
        if path != "/assets":  # one whose deployment was denied is archived
            assert await waits(firm, path, record) == (False, False), path


async def waits(firm: Issuance, path: str, record: str) -> tuple[bool, bool]:
    """Return whether a record waits as its list says, and as it says itself."""
    page = await firm.get(path)
    (listed,) = [one for value in page.values() if isinstance(value, list) for one in value if one["id"] == record]
    return listed["awaits_approval"], (await firm.get(f"{path}/{record}"))["awaits_approval"]
