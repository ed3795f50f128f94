"""Wallets: created, funded, read, exchanged and removed."""

from typing import Any

import pytest

from backend.chain.bindings import quote_token, token
from backend.chain.deployment.contracts import contracts_of, operator
from backend.chain.devnet import anvil
from backend.chain.rpc import json_rpc
from backend.chain.rpc.node_urls import EmbeddedNodes
from backend.chain.transactions.execution import execute
from backend.core.runtime import runtime
from backend.users.schemas import Role
from tests.conftest import World
from tests.support.firm import BASE, HYPEREVM, SEPOLIA, Firm, refused
from tests.support.issuance import UNIT, Issuance

ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7"


async def test_first_server_wallet_is_the_treasury_with_gas_on_every_embedded_chain(world: World) -> None:
    firm = await Firm.found(world)
    linked = await firm.post("/wallets", {"label": "Ledger", "address": ADDRESS.lower()})
    assert (linked["kind"], linked["address"], linked["is_default"]) == ("linked", ADDRESS, False)
    first, second = [await firm.post("/wallets", {"label": label}) for label in ("Treasury", "Custody")]
    assert (first["kind"], first["provider"]) == ("server", "keystore")
    assert (first["is_default"], second["is_default"]) == (True, False)
    for eid in (SEPOLIA, HYPEREVM, BASE):
        assert await json_rpc.native_balance(eid, second["address"]) > 0
    assert "key_ref" not in first
    listed = (await firm.get("/wallets"))["wallets"]
    assert [w["id"] for w in listed] == [second["id"], first["id"], linked["id"]]


async def test_balances_are_read_live_from_every_chain(world: World) -> None:
    firm = await Firm.found(world)
    wallet = await firm.post("/wallets", {"label": "Treasury"})
    at = (await contracts_of(SEPOLIA)).quote_token
    assert at is not None
    call = quote_token.mint(at, wallet["address"], 12_500_000)
    await execute(call.intent(f"test:{wallet['id']}", eid=SEPOLIA, signer=await operator()))
    detail = await firm.get(f"/wallets/{wallet['id']}")
    assert detail["unreachable"] == []
    held = {(b["chain_eid"], b["is_native"]): b for b in detail["balances"]}
    assert held.keys() == {(eid, native) for eid in (SEPOLIA, HYPEREVM, BASE) for native in (True, False)}
    assert (held[SEPOLIA, False]["amount"], held[SEPOLIA, False]["decimals"]) == ("12500000", 6)
    assert held[BASE, False]["amount"] == "0"


async def test_silent_chain_is_named(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    firm = await Firm.found(world)
    await firm.post("/wallets", {"label": "Treasury"})
    wallet = await firm.post("/wallets", {"label": "Custody"})

    monkeypatch.setitem(runtime.part(EmbeddedNodes).urls, BASE, "http://127.0.0.1:9")
    detail = await firm.get(f"/wallets/{wallet['id']}")
    assert detail["unreachable"] == [BASE]
    assert {b["chain_eid"] for b in detail["balances"]} == {SEPOLIA, HYPEREVM}
    await firm.refused("DELETE", f"/wallets/{wallet['id']}", 503)
    await firm.refused("POST", "/wallets", 503, json={"label": "No gas to be had"})
    assert len((await firm.get("/wallets"))["wallets"]) == 2


async def test_wallet_label_and_default_change(world: World) -> None:
    firm = await Firm.found(world)
    first, second = [await firm.post("/wallets", {"label": label}) for label in ("One", "Two")]
    linked = await firm.post("/wallets", {"label": "Ledger", "address": ADDRESS})
    changed = await firm.patch(f"/wallets/{second['id']}", {"label": "B", "is_default": True})
    assert (changed["label"], changed["is_default"]) == ("B", True)
    assert [w["id"] for w in (await firm.get("/wallets"))["wallets"] if w["is_default"]] == [second["id"]]
    await firm.refused("PATCH", f"/wallets/{linked['id']}", 400, json={"is_default": True})
    await firm.refused("PATCH", f"/wallets/{second['id']}", 400, json={"is_default": False})
    await firm.refused("PATCH", f"/wallets/{first['id']}", 422, json={"label": None})
    assert (await firm.patch(f"/wallets/{first['id']}", {"is_default": False}))["label"] == "One"


async def test_wallet_in_use_cannot_be_deleted(world: World) -> None:
    firm = await Firm.found(world)
    treasury, custody, empty = [await firm.post("/wallets", {"label": label}) for label in "ABC"]
    linked = await firm.post("/wallets", {"label": "Ledger", "address": ADDRESS})
    at = (await contracts_of(BASE)).quote_token
    assert at is not None
    call = quote_token.mint(at, custody["address"], 1)
    await execute(call.intent(f"test:{custody['id']}", eid=BASE, signer=await operator()))
    assert "treasury" in (await firm.refused("DELETE", f"/wallets/{treasury['id']}", 409)).detail
    assert "holds" in (await firm.refused("DELETE", f"/wallets/{custody['id']}", 409)).detail
    for wallet in (empty, linked):
        assert await firm.admin.call("DELETE", f"{firm.base}/wallets/{wallet['id']}") is None
        await firm.refused("GET", f"/wallets/{wallet['id']}", 404)
    assert {w["id"] for w in (await firm.get("/wallets"))["wallets"]} == {treasury["id"], custody["id"]}


async def test_wallet_of_an_issuer_cannot_be_deleted(world: World) -> None:
    firm = await Firm.issuing(world)
    issuer = (await firm.get("/wallets"))["wallets"][0]
    other = await firm.post("/wallets", {"label": "Other"})
    await firm.patch(f"/wallets/{other['id']}", {"is_default": True})
    assert "attests" in (await firm.refused("DELETE", f"/wallets/{issuer['id']}", 409)).detail


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"label": "<script>alert(1)</script>"}, 422, "label"),
        ({"label": ""}, 422, "label"),
        ({}, 422, "label"),
        ({"label": "L", "address": "0x1"}, 422, "address"),
        ({"label": "L", "address": ADDRESS[:-1] + "e"}, 422, "address"),
        ({"label": "L", "kind": "linked"}, 400, "address"),
        ({"label": "L", "kind": "server", "address": ADDRESS}, 400, "address"),
        ({"label": "L", "key": "0x00"}, 422, "key"),
        ({"label": "L", "kind": "paper"}, 422, "kind"),
    ],
)
async def test_wallet_with_bad_input_writes_nothing(
    world: World, body: dict[str, Any], status: int, field: str
) -> None:
    firm = await Firm.found(world)
    assert (await firm.refused("POST", "/wallets", status, json=body)).by_field().keys() == {field}
    assert (await firm.get("/wallets"))["wallets"] == []


async def test_wallet_address_is_linked_once_per_organization(world: World) -> None:
    firm, other = await Firm.found(world), await Firm.found(world, "Other")
    await firm.post("/wallets", {"label": "Ledger", "address": ADDRESS})
    await firm.refused("POST", "/wallets", 409, json={"label": "Again", "address": ADDRESS.lower()})
    await other.post("/wallets", {"label": "Ledger", "address": ADDRESS})


async def test_wallets_of_another_organization_are_invisible(world: World) -> None:
    mine, other = await Firm.found(world, "Mine"), await Firm.found(world, "Other")
    wallet = await other.post("/wallets", {"label": "Treasury"})
    for method, json in (("GET", None), ("PATCH", {"label": "Mine"}), ("DELETE", None)):
        await mine.refused(method, f"/wallets/{wallet['id']}", 404, json=json)
        await refused(mine.admin, method, f"{other.base}/wallets/{wallet['id']}", 403, json=json)
    assert (await mine.get("/wallets"))["wallets"] == []
    member = await world.person(mine.id, Role.MEMBER)
    await refused(member, "POST", f"{mine.base}/wallets", 403, json={"label": "L"})


async def test_faucet_gives_gas_on_embedded_chains_only() -> None:
    with pytest.raises(Exception, match="no faucet"):
        await anvil.fund(30101, ADDRESS)


async def test_first_server_wallet_says_that_it_is_the_treasury_and_how_to_choose_another(world: World) -> None:
    firm = await Firm.found(world)
    linked = await firm.post("/wallets", {"label": "Outside", "address": "0x52908400098527886E0F7030069857D2E4169EE7"})
    first = await firm.post("/wallets", {"label": "Ben Buyer"})
    second = await firm.post("/wallets", {"label": "Treasury"})
    assert "message" not in linked
    assert "message" not in second
    assert "the treasury" in first["message"]
    named = f"PATCH {firm.base}/wallets/{{walletId}}"
    assert named in first["message"]
    await firm.patch(f"/wallets/{second['id']}", {"is_default": True})
    assert (await firm.get(f"/wallets/{first['id']}"))["is_default"] is False


@pytest.mark.long
async def test_list_has_the_holdings_and_the_party_of_each_wallet(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset()
    trader = await firm.trader()
    await firm.owner_call(token.transfer(asset["deployments"][0]["token_address"], trader["address"], 30 * UNIT))
    await firm.post("/wallets", {"label": "Empty"})

    def told(wallets: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            w["label"]: (w["party_name"], [(h["symbol"], h["amount"], h["decimals"]) for h in w["holdings"]])
            for w in wallets
        }

    listed = told((await firm.get("/wallets"))["wallets"])
    treasury, symbol = (await firm.treasury())["label"], asset["symbol"]
    assert listed["Empty"] == (None, [])
    assert listed[treasury] == (None, [(symbol, str(970 * UNIT), 18)])
    assert listed[trader["label"]] == ("Marta Lindqvist", [(symbol, str(30 * UNIT), 18)])
