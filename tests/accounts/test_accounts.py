"""Accounts to choose from: wallets, parties, holders and recent addresses, with balance and eligibility."""

from typing import Any

import pytest

from backend.auth.scopes import Scope
from tests.assets.test_history import indexed
from tests.conftest import World
from tests.support.firm import SEPOLIA
from tests.support.issuance import UNIT, Issuance

LINKED = "0x52908400098527886E0F7030069857D2E4169EE7"


@pytest.mark.long
async def test_accounts_are_found_with_balance_eligibility_and_recent_use(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset(initial_supply=str(1_000 * UNIT), required_kyc_level=1)
    treasury, trader = await firm.treasury(), await firm.trader()
    await firm.post("/wallets", {"label": "Ledger", "address": LINKED})
    market = await firm.market(asset)
    await firm.transfer(asset, trader["address"], 7 * UNIT)

    await indexed()
    place = {"asset_id": asset["id"], "chain_eid": SEPOLIA}
    rows = await _found(firm, **place)
    holder = rows[trader["address"]]
    assert (holder["name"], holder["kind"], holder["wallet_id"]) == ("Marta Lindqvist", "party", trader["id"])
    assert (holder["eligible"], holder["reasons"], holder["last_used_at"] is None) == (True, [], False)
    assert holder["balance"] == str(7 * UNIT)
    assert rows[treasury["address"]]["eligible"] is True
    linked = rows[LINKED]
    assert (linked["name"], linked["kind"], linked["balance"]) == ("Ledger", "linked_wallet", "0")
    assert (linked["eligible"], linked["reasons"]) == (False, ["The receiver has no valid attestation."])
    assert list(rows)[-1] == LINKED  # never used, and without a balance

    assert list(await _found(firm, q="mart", **place)) == [trader["address"]]
    assert list(await _found(firm, q=LINKED[:8].lower())) == [LINKED]
    assert list(await _found(firm, q="100%_nothing")) == []
    signing = await _found(firm, asset_id=asset["id"], market_id=market["id"], signing="true")
    assert {one["wallet_id"] for one in signing.values()} == {treasury["id"], trader["id"]}
    assert all(int(one["quote_balance"]) >= 0 for one in signing.values())
    assert len(await _found(firm, asset_id=asset["id"], market_id=market["id"], signing="true", limit="1")) == 1
    assert signing[trader["address"]]["last_used_at"] is None  # a transfer is no order of this market

    assert list(await _found(firm, unassigned="true")) == [LINKED]  # the others are a party's, and the treasury

    for query in ({"asset_id": asset["id"]}, {"chain_eid": SEPOLIA}, {**place, "chain_eid": 40245}, {"limit": "101"}):
        await firm.refused("GET", "/accounts", 400, params=query)


async def test_accounts_of_another_organization_are_not_found(world: World) -> None:
    firm, other = await Issuance.ready(world, SEPOLIA), await Issuance.ready(world, SEPOLIA)
    asset, trader = await firm.asset(required_kyc_level=1), await firm.trader()
    assert trader["address"] not in await _found(other)
    await other.refused("GET", "/accounts", 404, params={"asset_id": asset["id"], "chain_eid": SEPOLIA})


async def test_accounts_without_attestations_read_have_no_names_of_parties(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    trader = await firm.trader()
    key = await world.key(firm.id, Scope.WALLETS_READ)
    answer = await world.client.call("GET", f"/orgs/{firm.id}/accounts", headers=key)
    names = {one["address"]: one["name"] for one in answer["accounts"]}
    assert names[trader["address"]] == trader["label"]
    assert "Marta Lindqvist" not in str(answer)


async def _found(firm: Issuance, **params: Any) -> dict[str, Any]:
    return {one["address"]: one for one in (await firm.get("/accounts", params=params))["accounts"]}
