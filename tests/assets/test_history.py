"""What was, as the chains tell it: the rules an asset has had, and who held it at a block."""

import pytest
import sqlalchemy as sa

from backend import db
from backend.chain import indexer
from backend.chain.rpc import connect
from tests.conftest import World
from tests.firm import Firm
from tests.issuance import HYPEREVM, SEPOLIA, UNIT, Issuance


async def indexed(eid: int = SEPOLIA) -> int:
    """The chain's height, once the tables hold everything up to it."""
    height = await (await connect(eid)).height()
    await indexer.catch_up(eid, height)
    return height


async def test_every_set_of_rules_is_in_the_history_with_what_it_changed(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset(max_holders=100)
    for body in ({"max_holders": 50}, {"compliance_rules": {"blocked_countries": ["PRK"]}, "required_kyc_level": 2}):
        await firm.succeed((await firm.patch(f"/assets/{asset['id']}", body))["requestId"])
    await indexed()
    told = (await firm.get(f"/assets/{asset['id']}/rules-history"))["rule_sets"]
    versions = [r["version"] for r in told]
    assert versions == sorted(versions, reverse=True)
    assert [{c["field"]: (c["before"], c["after"]) for c in r["changes"]} for r in told[:2]] == [
        {"blocked_countries": ([], ["PRK"]), "min_kyc_level": (asset["required_kyc_level"], 2)},
        {"max_holders": (100, 50)},
    ]
    assert told[-1]["changes"] == []
    assert all(r["at"] and r["tx_hash"].startswith("0x") and r["chain_eid"] == SEPOLIA for r in told)
    first = await firm.get(f"/assets/{asset['id']}/rules-history", params={"limit": "1"})
    second = await firm.get(
        f"/assets/{asset['id']}/rules-history", params={"limit": "1", "cursor": first["nextCursor"]}
    )
    assert [first["rule_sets"][0], second["rule_sets"][0]] == told[:2]
    other = await Firm.found(world, "Other")
    await other.refused("GET", f"/assets/{asset['id']}/rules-history", 404)


async def test_rules_of_a_reorganized_block_are_forgotten(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset()
    height = await indexed()
    from backend.assets.indexing import Transfers

    count = sa.text("select count(*) from asset_rule_sets where asset_id = :id")
    async with db.worker() as session:
        assert await session.scalar(count, {"id": asset["id"]}) > 0
        await Transfers().rewind(session, SEPOLIA, 0)
        assert await session.scalar(count, {"id": asset["id"]}) == 0
        await session.rollback()
    assert height


async def test_holders_at_a_block_are_those_of_then(world: World) -> None:
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


@pytest.mark.parametrize(
    "params",
    [
        {"chain_eid": SEPOLIA},
        {"block": -1},
        {"block": "x"},
        {"block": 10**9},
        {"block": 1, "chain_eid": HYPEREVM},
        {"block": 2**60},
    ],
)
async def test_a_block_that_is_none_is_a_400(world: World, params: dict[str, object]) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset()
    await firm.refused("GET", f"/assets/{asset['id']}/holders", 400, params=params)
