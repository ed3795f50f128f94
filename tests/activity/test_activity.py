"""An asset's activity: everything that happened to it, once each, by time."""

import csv
import io
from typing import Any

import httpx
import pytest

from backend.auth.scopes import Scope
from backend.chain.bindings import market as market_contract
from backend.chain.bindings import token
from backend.chain.indexer import indexer
from backend.chain.rpc import json_rpc
from backend.core.settings import settings
from backend.server import runtime
from tests.chain.transactions.foreign_wallets import send_as
from tests.conftest import World
from tests.distributions.test_distributions import activated, claim, path_of
from tests.markets.test_trades import traded
from tests.support.firm import BASE, SEPOLIA, Firm
from tests.support.issuance import UNIT, Issuance, orders_path


@pytest.mark.long
async def test_activity_lists_every_kind_once_with_one_cursor_filters_and_csv(world: World, api: Any) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    market, (_, first, second) = await traded(firm)
    asset = await firm.get(f"/assets/{market['asset_id']}")
    path, treasury = f"/assets/{asset['id']}/activity", await firm.treasury()
    buyer = first["maker_address"]
    body = {"asset_id": asset["id"], "chain_eid": SEPOLIA, "from_wallet_id": treasury["id"], "to_address": buyer}
    sent = await firm.post("/transfers", body | {"amount": str(5 * UNIT)})
    await firm.succeed(sent["requestId"])
    recipients = [{"address": buyer, "amount": str(UNIT)}]
    draft = {"name": "Income Q3", "chain_eid": SEPOLIA, "recipients": recipients}
    made = await firm.post(f"/assets/{asset['id']}/distributions", draft)
    active = await activated(firm, asset, made)
    await claim(active, await firm.get(f"{path_of(asset, made)}/proofs/{buyer}"), buyer)
    minting = {"chain_eid": SEPOLIA, "to_address": treasury["address"], "amount": str(UNIT)}
    minted = await firm.post(f"/assets/{asset['id']}/mint", minting)
    await firm.succeed(minted["requestId"])
    await firm.asset()
    admin = firm.admin.email.split("@")[0].title()

    whole = (await firm.get(path))["activity"]
    times = [entry["created_at"] for entry in whole]
    assert times == sorted(times, reverse=True)
    assert len({entry["id"] for entry in whole}) == len(whole)
    kinds = [entry["kind"] for entry in whole]
    assert kinds.index("trade") < kinds.index("order"), "a trade is not older than the orders that it fills"
    by_kind: dict[str, list[Any]] = {}
    for entry in whole:
        by_kind.setdefault(entry["kind"], []).append(entry)
    symbol = asset["symbol"]
    titles = {entry["title"] for entry in by_kind["distribution"]}
    assert titles == {'Activation of the distribution "Income Q3"', f'Distribution "Income Q3" of 1 {symbol} created'}
    assert {entry["actor_name"] for entry in by_kind["distribution"]} == {admin}
    course = [entry["title"] for entry in whole if entry["kind"] in ("distribution", "funding", "claim")]
    assert course == [
        f"Claim of 1 {symbol}", f"Funding of 1 {symbol}", 'Activation of the distribution "Income Q3"',
        f'Distribution "Income Q3" of 1 {symbol} created',
    ], "newest first, also within a second"  # fmt: skip
    (transfer,) = by_kind["transfer"]
    assert transfer["title"].startswith(f"Transfer of 5 {symbol} to ")
    assert (transfer["status"], transfer["actor_name"]) == ("confirmed", admin)
    assert (transfer["from_name"], transfer["to_name"]) == (treasury["label"], "Marta Lindqvist")
    assert transfer["request_id"] == sent["requestId"]
    trades = {entry["title"] for entry in by_kind["trade"]}  # of one transaction, at the same time
    assert trades == {f"Trade of 4 {symbol} at 10.00 tUSD", f"Trade of 6 {symbol} at 10.00 tUSD"}
    ends = {(entry["from_name"], entry["to_name"], entry["actor_name"]) for entry in by_kind["trade"]}
    assert ends == {(treasury["label"], "Marta Lindqvist", admin)}
    (funding,), (claimed,) = by_kind["funding"], by_kind["claim"]
    assert (funding["title"], funding["actor_name"]) == (f"Funding of 1 {symbol}", admin)
    assert (funding["from_name"], funding["to_name"]) == (treasury["label"], "Income Q3")
    assert (claimed["title"], claimed["actor_name"]) == (f"Claim of 1 {symbol}", "Marta Lindqvist")
    assert (claimed["from_name"], claimed["to_name"]) == ("Income Q3", "Marta Lindqvist")
    assert [(entry["title"], entry["actor_name"]) for entry in by_kind["mint"]] == [
        (f'Mint of 1 {symbol} to wallet "{treasury["label"]}"', admin),
        (f"Mint of 1,000 {symbol}", admin),
    ]
    assert [entry["id"] for entry in by_kind["order"]][:2] == [second["id"], first["id"]]
    assert {entry["market_id"] for entry in by_kind["order"] + by_kind["trade"]} == {market["id"]}
    assert by_kind["rules"]
    assert [entry["title"] for entry in by_kind["operation"]] == [f"Deployment of {symbol} on Sepolia Devnet"]
    assert [entry["title"] for entry in by_kind["market"]] == [f"Deployment of a market for {symbol} on Sepolia Devnet"]
    assert {entry["actor_name"] for entry in by_kind["operation"]} == {admin}

    walked: list[Any] = []
    cursor: str | None = ""
    while cursor is not None:
        answer = await firm.get(path, params={"limit": "2"} | ({"cursor": cursor} if cursor else {}))
        walked, cursor = walked + answer["activity"], answer["nextCursor"]
    assert walked == whole
    for kind, entries in by_kind.items():
        assert (await firm.get(path, params={"kind": kind}))["activity"] == entries
    assert (await firm.get(path, params={"kind": "distribution", "q": "income"}))["activity"] == by_kind["distribution"]
    async with httpx.AsyncClient(transport=runtime.local_transport(api), base_url=settings().origin) as http:
        text = (await http.get(f"/v1{firm.base}{path}.csv", headers={"cookie": firm.admin.cookie})).text
    assert [row["id"] for row in csv.DictReader(io.StringIO(text))] == [entry["id"] for entry in whole]

    key = await world.key(firm.id, Scope.ASSETS_READ)
    seen = await firm.admin.client.call("GET", f"{firm.base}{path}", headers=key)
    assert {entry["kind"] for entry in seen["activity"]} == by_kind.keys() - {"transfer"}
    assert {entry["actor_name"] for entry in seen["activity"] if entry["kind"] == "operation"} == {None}
    other = await Firm.found(world, "Elsewhere")
    await other.refused("GET", path, 404)


async def test_bridge_of_a_market_deployment_is_listed_as_a_bridge(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset()
    path, symbol = f"/assets/{asset['id']}", asset["symbol"]
    market = await firm.market(asset, BASE, bridge_amount=str(100 * UNIT))
    back = {"destination_chain_eid": SEPOLIA, "source_chain_eid": BASE, "amount": str(UNIT)}
    await firm.succeed((await firm.post(f"{path}/bridge", back))["requestId"])
    sent = await firm.get(f"/bridges/{market['bridge_id']}")
    asked, deployed = (await firm.get(f"{path}/activity", params={"kind": "bridge"}))["activity"]
    assert asked["title"] == f"Bridge of 1 {symbol} to Sepolia Devnet", "a requested bridge is listed once"
    assert deployed["title"] == f"Bridge of 100 {symbol} from Sepolia Devnet to Base Sepolia Devnet"
    assert (deployed["id"], deployed["status"]) == (sent["id"], "confirmed")
    assert (deployed["chain_eid"], deployed["tx_hash"]) == (SEPOLIA, sent["source_tx_hash"])
    assert deployed["request_id"] == sent["request_id"]
    assert deployed["actor_name"] == firm.admin.email.split("@")[0].title()


async def test_activity_has_controls_markets_bridges_and_what_happened_without_signum(world: World) -> None:
    """Freezes, pauses and halts by the owner's own key, and a transfer by an investor's own wallet, are no requests."""
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    asset = await firm.asset()
    market, path = await firm.market(asset), f"/assets/{asset['id']}/activity"
    at, symbol, owner = market["rwa_token_address"], asset["symbol"], (await firm.treasury())["address"]
    sender, receiver = "0x" + "11" * 20, "0x" + "22" * 20
    for address in (sender, receiver):
        await firm.attest(await firm.verified(address))
    minting = {"chain_eid": SEPOLIA, "to_address": sender, "amount": str(9 * UNIT)}
    await firm.succeed((await firm.post(f"/assets/{asset['id']}/mint", minting))["requestId"])
    freeze = {"chain_eid": SEPOLIA, "address": sender, "amount": str(UNIT), "reason": "Court order"}
    await firm.succeed((await firm.post(f"/assets/{asset['id']}/freeze", freeze))["requestId"])
    bridging = {"destination_chain_eid": BASE, "source_chain_eid": SEPOLIA, "amount": str(UNIT)}
    await firm.settle((await firm.post(f"/assets/{asset['id']}/bridge", bridging))["requestId"])
    order = await firm.order(market, await firm.treasury(), "sell", 10**6, UNIT)
    cancelled = await firm.admin.call("DELETE", f"{firm.base}{orders_path(market)}/{order['id']}")
    await firm.succeed(cancelled["requestId"])
    await (await json_rpc.connect(SEPOLIA)).request("anvil_setBalance", sender, hex(10**18))
    await send_as(SEPOLIA, sender, token.transfer(at, receiver, 2 * UNIT))
    await send_as(SEPOLIA, owner, token.set_frozen(at, receiver, UNIT))
    await send_as(SEPOLIA, owner, token.pause(at))
    await send_as(SEPOLIA, owner, token.unpause(at))
    await send_as(SEPOLIA, owner, market_contract.halt(market["market_address"], True))
    await indexer.pass_over(await json_rpc.connect(SEPOLIA))

    async def titles(kind: str) -> list[str]:
        return [entry["title"] for entry in (await firm.get(path, params={"kind": kind}))["activity"]]

    # A block's time has whole seconds: a request of the same second may be listed before what followed it.
    requested = f"Freeze of 1 {symbol} of Marta Lindqvist"
    controls = await titles("control")
    assert requested in controls
    assert [title for title in controls if title != requested] == [
        f"{symbol} unpaused", f"{symbol} paused", f"1 {symbol} of Marta Lindqvist frozen",
    ]  # fmt: skip
    assert await titles("market") == [
        "Market halted by its owner",
        f"Deployment of a market for {symbol} on Sepolia Devnet",
    ]
    assert await titles("bridge") == [f"Bridge of 1 {symbol} to Base Sepolia Devnet"]
    cancellation, placed = (await firm.get(path, params={"kind": "order"}))["activity"]
    assert cancellation["title"].startswith(f"Cancellation of the order to sell 1 {symbol} at ")
    assert (cancellation["request_id"], cancellation["status"]) == (cancelled["requestId"], "succeeded")
    assert (placed["id"], placed["status"]) == (order["id"], "cancelled")
    (moved,) = (await firm.get(path, params={"kind": "transfer"}))["activity"]
    assert (moved["title"], moved["request_id"]) == (f"Transfer of 2 {symbol} to Marta Lindqvist", None)
    halted = (await firm.get(path, params={"kind": "market"}))["activity"][0]
    assert (halted["market_id"], halted["request_id"]) == (market["id"], None)
    whole = (await firm.get(path))["activity"]
    assert len({entry["id"] for entry in whole}) == len(whole)
    assert [one["created_at"] for one in whole] == sorted((one["created_at"] for one in whole), reverse=True)
    found = (await firm.get(path, params={"q": "halt"}))["activity"]
    assert [one["title"] for one in found] == ["Market halted by its owner"]
