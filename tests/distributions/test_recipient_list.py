"""The list of a distribution's recipients: who will be paid, for the second person of its activation."""

from typing import Any

import httpx
import pytest

from backend.server import runtime
from tests.conftest import World
from tests.distributions.test_distributions import activated, claim
from tests.distributions.test_drafts import issuance, list_of, path_of
from tests.distributions.test_eligibility import attested, body_of
from tests.support.firm import SEPOLIA, refused
from tests.support.issuance import Issuance

PARTY = "0x52908400098527886E0F7030069857D2E4169EE7"


async def test_recipients_are_listed_in_pages_and_as_csv_with_their_names(world: World, api: Any) -> None:
    firm, asset = await issuance(world)
    await firm.party(PARTY)
    body = list_of(3)
    body["recipients"].append({"address": PARTY, "amount": "5000000000000000000"})
    made = await firm.post(path_of(asset), body)
    path = f"{path_of(asset, made)}/recipients"
    first = await firm.get(path, params={"limit": 3})
    rest = await firm.get(path, params={"limit": 3, "cursor": first["nextCursor"]})
    found = first["recipients"] + rest["recipients"]
    assert rest["nextCursor"] is None
    assert [(one["index"], int(one["address"], 16)) for one in found[:3]] == [(0, 1), (1, 2), (2, 3)]
    known = {
        "index": 3,
        "address": PARTY,
        "name": "party Marta Lindqvist",
        "party_name": "Marta Lindqvist",
        "wallet_label": None,
        "amount": "5000000000000000000",
    }
    assert found[3] == known | {"claimed": False, "cannot_claim": None}
    assert found[0]["name"] == "unknown wallet"
    assert len((await firm.get(path, params={"claimed": "false"}))["recipients"]) == 4
    assert (await firm.get(path, params={"claimed": "true"}))["recipients"] == []
    searched = await firm.get(path, params={"q": PARTY[:8]})
    assert [one["address"] for one in searched["recipients"]] == [PARTY]
    async with httpx.AsyncClient(transport=runtime.local_transport(api), base_url="http://signum") as http:
        answer = await http.get(f"/v1{firm.base}{path}.csv", headers=firm.key)
    lines = answer.text.splitlines()
    assert lines[0] == "index,address,name,party_name,wallet_label,amount,claimed,cannot_claim"
    assert f"3,{PARTY},party Marta Lindqvist,Marta Lindqvist,,5000000000000000000,false," in lines
    assert len(lines) == 5


@pytest.mark.long
async def test_recipients_who_cannot_claim_now_are_listed_with_the_reason(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset()
    first, second = await firm.trader(), await attested(firm)
    made = await firm.post(path_of(asset), body_of((first["address"], 5), (second, 7), (PARTY, 9)))
    path = f"{path_of(asset, made)}/recipients"

    async def reasons() -> list[list[str] | None]:
        found = (await firm.get(path, params={"check": "true"}))["recipients"]
        return [one["cannot_claim"] for one in found]

    none = "The receiver has no valid attestation."
    assert await reasons() == [[], [], [none]]
    made = await activated(firm, asset, made)
    await claim(made, await firm.get(path_of(asset, made) + f"/proofs/{first['address']}"), first["address"])
    assert await reasons() == [None, [], [none]]
    accepted = await firm.post(f"/assets/{asset['id']}/pause", {"reason": "Audit"})
    await firm.succeed(accepted["requestId"])
    paused = "The token is paused."
    assert await reasons() == [None, [paused], [paused, none]]
    assert [one["cannot_claim"] for one in (await firm.get(path))["recipients"]] == [None] * 3


@pytest.mark.long
async def test_recipients_that_are_unknown_or_of_another_organization_are_not_listed(world: World) -> None:
    firm, asset = await issuance(world)
    made = await firm.post(path_of(asset), {"name": "Root", "chain_eid": SEPOLIA, "total_amount": "5"})
    assert (await firm.get(f"{path_of(asset, made)}/recipients"))["recipients"] == []
    assert not made["has_recipients"]
    made = await firm.post(path_of(asset), list_of(1))
    stranger = await world.person(await world.organization())
    await refused(stranger, "GET", f"{firm.base}{path_of(asset, made)}/recipients", 403)
    other, others_asset = await issuance(world)
    await other.refused("GET", f"{path_of(others_asset, made)}/recipients", 404)
