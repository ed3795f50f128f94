"""A key of the other network cannot operate on these chains or their existing records."""

from typing import Any

import pytest
import sqlalchemy as sa

from backend.client import ApiProblem
from backend.core import db
from backend.requests.models import RequestRow
from tests.conftest import World
from tests.support.firm import SEPOLIA
from tests.support.issuance import UNIT, Issuance, orders_path

pytestmark = pytest.mark.long

WHY = {"chain_eid": SEPOLIA, "reason": "Ordered."}
ONE = {"amount": str(UNIT)}


async def _count(firm: Issuance) -> int:
    query = sa.select(sa.func.count()).where(RequestRow.organization_id == firm.id)
    async with db.worker() as session:
        return int(await session.scalar(query) or 0)


async def test_key_bound_to_a_network_cannot_reach_chains_of_the_other_network(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset, treasury = await firm.asset(), await firm.treasury()
    market, trader = await firm.market(asset), await firm.trader()
    order = await firm.order(market, trader, "buy", 10**6, UNIT)
    drawn = await firm.post(
        f"/assets/{asset['id']}/distributions",
        {"name": "Q3", "chain_eid": SEPOLIA, "recipients": [{"address": trader["address"]} | ONE]},
    )
    scopes = ["assets:write", "transfers:write", "assets:read", "transfers:read", "wallets:write"]
    key = await firm.post("/api-keys", {"name": "Main", "scopes": scopes, "network": "mainnet"})
    at, to = f"/assets/{asset['id']}", {"to_address": trader["address"]}
    chain = {"chain_eid": SEPOLIA}
    places = {"side": "sell", "price": "1000000", "wallet_id": treasury["id"]} | ONE
    calls: list[tuple[str, str, Any]] = [
        ("POST", f"{at}/mint", WHY | to | ONE),
        ("POST", f"{at}/burn", WHY | {"address": treasury["address"]} | ONE),
        ("POST", f"{at}/pause", WHY),
        ("POST", f"{at}/pause", {"reason": "Ordered."}),
        ("POST", f"{at}/unpause", WHY),
        ("POST", f"{at}/freeze", WHY | {"address": trader["address"]}),
        ("POST", f"{at}/forced-transfer", WHY | to | ONE | {"from_address": treasury["address"]}),
        ("POST", f"{at}/recover", WHY | {"lost_address": treasury["address"], "new_address": trader["address"]}),
        ("POST", "/transfers", {"asset_id": asset["id"], "from_wallet_id": treasury["id"]} | chain | to | ONE),
        ("POST", f"{at}/transfer-check", {"from_address": treasury["address"]} | chain | to | ONE),
        ("POST", orders_path(market), places),
        ("DELETE", f"{orders_path(market)}/{order['id']}", None),
        ("PATCH", at, {"required_kyc_level": 2}),
        ("PATCH", f"{at}?dry_run=true", {"required_kyc_level": 2}),
        ("POST", f"{at}/distributions/{drawn['id']}/cancel", None),
    ]
    before = await _count(firm)
    for method, path, body in calls:
        problem = await _refused(firm, key["key"], 400, method, path, body)
        assert "works on mainnet" in problem.detail, (method, path, problem)
    assert await _count(firm) == before
    await firm.patch(at, {"required_kyc_level": 1})


async def _refused(firm: Issuance, key: str, status: int, method: str, path: str, body: Any = None) -> ApiProblem:
    with pytest.raises(ApiProblem) as raised:
        await firm.admin.client.call(method, f"{firm.base}{path}", json=body, headers={"x-api-key": key})
    assert raised.value.status == status, (method, path, raised.value)
    return raised.value


async def test_wallet_with_tokens_cannot_be_deleted_by_a_key_of_the_other_network(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset, other = await firm.asset(), await firm.trader()
    treasury = await firm.treasury()
    body = {"asset_id": asset["id"], "from_wallet_id": treasury["id"], "chain_eid": SEPOLIA}
    body |= {"to_address": other["address"]}
    await firm.succeed((await firm.post("/transfers", body | ONE))["requestId"])
    key = await firm.post("/api-keys", {"name": "Main", "scopes": ["wallets:write"], "network": "mainnet"})
    problem = await _refused(firm, key["key"], 409, "DELETE", f"/wallets/{other['id']}")
    assert "Transfer it first" in problem.detail
