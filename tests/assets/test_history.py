"""History from chain events: the rules of an asset, and its holders at a block."""

import pytest
import sqlalchemy as sa

from backend.chain.indexer import indexer
from backend.chain.rpc.json_rpc import connect
from backend.core import db
from tests.conftest import World
from tests.support.firm import Firm
from tests.support.issuance import HYPEREVM, SEPOLIA, UNIT, Issuance


async def indexed(eid: int = SEPOLIA) -> int:
    """Return the chain's height, once the tables include everything up to it."""
    height = await (await connect(eid)).height()
    await indexer.catch_up(eid, height)
    return height


@pytest.mark.long
async def test_rules_history_lists_every_rule_set_with_its_changes(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset(max_holders=100)
    for body in ({"max_holders": 50}, {"compliance_rules": {"blocked_countries": ["PRK"]}, "required_kyc_level": 2}):
        await firm.succeed((await firm.patch(f"/assets/{asset['id']}", body))["requestId"])
    await indexed()
    response = (await firm.get(f"/assets/{asset['id']}/rules-history"))["rule_sets"]
    versions = [r["version"] for r in response]
    assert versions == sorted(versions, reverse=True)
    assert [{c["field"]: (c["before"], c["after"]) for c in r["changes"]} for r in response[:2]] == [
        {"blocked_countries": ([], ["PRK"]), "min_kyc_level": (asset["required_kyc_level"], 2)},
        {"max_holders": (100, 50)},
    ]
    assert response[-1]["changes"] == []
    assert all(r["at"] and r["tx_hash"].startswith("0x") and r["chain_eid"] == SEPOLIA for r in response)
    first = await firm.get(f"/assets/{asset['id']}/rules-history", params={"limit": "1"})
    second = await firm.get(
        f"/assets/{asset['id']}/rules-history", params={"limit": "1", "cursor": first["nextCursor"]}
    )
    assert [first["rule_sets"][0], second["rule_sets"][0]] == response[:2]
    other = await Firm.found(world, "Other")
    await other.refused("GET", f"/assets/{asset['id']}/rules-history", 404)


async def test_reason_of_a_change_is_recorded(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset()
    why = "The board excluded North Korea, resolution 7/2026."
    change = {"compliance_rules": {"blocked_countries": ["PRK"]}, "reason": why}
    accepted = await firm.patch(f"/assets/{asset['id']}", change)
    request = await firm.succeed(accepted["requestId"])
    assert request["reason"] == why
    await indexed()
    history = (await firm.get(f"/assets/{asset['id']}/rules-history"))["rule_sets"]
    assert [rules["reason"] for rules in history] == [why, *[None] * (len(history) - 1)]
    alone = await firm.patch(f"/assets/{asset['id']}", {"reason": "Nothing changes, so nothing is recorded."})
    await firm.succeed(alone["requestId"])
    log = (await firm.get("/audit", params={"action": "asset.updated"}))["audit"]
    reasons = [(one["before"]["reason"], one["after"]["reason"]) for one in log if "reason" in (one["after"] or {})]
    assert reasons == [(None, why)]


@pytest.mark.long
async def test_rules_history_drops_rules_of_a_reorganized_block(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset()
    height = await indexed()
    from backend.assets.indexed_events import Transfers

    count = sa.text("select count(*) from asset_rule_sets where asset_id = :id")
    async with db.worker() as session:
        assert await session.scalar(count, {"id": asset["id"]}) > 0
        await Transfers().rewind(session, SEPOLIA, 0)
        assert await session.scalar(count, {"id": asset["id"]}) == 0
        await session.rollback()
    assert height


@pytest.mark.long
async def test_holders_at_a_past_block_are_listed(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset(initial_supply=str(1_000 * UNIT))
    wallets = [await firm.post("/wallets", {"label": f"W{n}"}) for n in range(3)]
    for wallet in wallets:
        await firm.attest(await firm.verified(wallet["address"]))
    before = await indexed()
    treasury = next(w for w in (await firm.get("/wallets"))["wallets"] if w["is_default"])
    for n, wallet in enumerate(wallets, 1):
        body = {
            "asset_id": asset["id"], "chain_eid": SEPOLIA, "from_wallet_id": treasury["id"],
            "to_address": wallet["address"], "amount": str(n * UNIT),
        }  # fmt: skip
        await firm.succeed((await firm.post("/transfers", body))["requestId"])
    after = await indexed()

    async def held(**params: object) -> dict[str, int]:
        found, cursor = {}, ""
        while cursor is not None:
            query = {**params, "limit": "2"} | ({"cursor": cursor} if cursor else {})
            answer = await firm.get(f"/assets/{asset['id']}/holders", params=query)
            found |= {h["address"]: int(h["balance"]) // UNIT for h in answer["holders"]}
            cursor = answer["nextCursor"]
        return found

    now = {treasury["address"]: 994} | {w["address"]: n for n, w in enumerate(wallets, 1)}
    assert await held(block=before) == {treasury["address"]: 1_000}
    assert await held(block=after) == now == await held(block=after, chain_eid=SEPOLIA) == await held()
    assert await held(block=0) == {}
    answer = await firm.get(f"/assets/{asset['id']}/holders", params={"block": after})
    assert [h["address"] for h in answer["holders"] if h["is_treasury"]] == [treasury["address"]]
    assert {h["party_name"] for h in answer["holders"]} == {None, "Marta Lindqvist"}


INVALID_BLOCKS: list[dict[str, object]] = [
    {"chain_eid": SEPOLIA},
    {"block": -1},
    {"block": "x"},
    {"block": 10**9},
    {"block": 1, "chain_eid": HYPEREVM},
    {"block": 2**60},
]


@pytest.mark.long
async def test_holders_at_an_invalid_block_is_a_400(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset()
    for params in INVALID_BLOCKS:
        await firm.refused("GET", f"/assets/{asset['id']}/holders", 400, params=params)
