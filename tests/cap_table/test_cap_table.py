"""The cap table at a time: who held what, and sums that the chain confirms."""

import asyncio
import csv
import hashlib
import io
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
import pytest_asyncio
from pypdf import PdfReader

from backend.auth.scopes import Scope
from backend.chain.bindings import token
from backend.chain.rpc import block_times
from backend.chain.rpc.json_rpc import connect
from backend.core.settings import settings
from backend.server import runtime
from tests.bridges.test_late_deliveries import failed_bridge
from tests.conftest import World
from tests.support.faulty_node import in_front_of
from tests.support.firm import BASE, SEPOLIA, Firm
from tests.support.issuance import UNIT, Issuance

USD = 10**6


@pytest_asyncio.fixture
async def http(api: Any) -> AsyncIterator[httpx.AsyncClient]:
    """Plain HTTP client: a PDF is not JSON."""
    async with httpx.AsyncClient(transport=runtime.local_transport(api), base_url=settings().origin) as client:
        yield client


async def now_on_chain(eid: int = SEPOLIA) -> str:
    """Return the time of the newest block, and mine one in a later second."""
    rpc = await connect(eid)
    block = await rpc.request("eth_getBlockByNumber", "latest", False)
    time = int(block["timestamp"], 16)
    while int((await rpc.request("eth_getBlockByNumber", "latest", False))["timestamp"], 16) <= time + 1:
        await asyncio.sleep(0.1)  # a long chain forgets the state of old blocks
        await rpc.request("evm_mine")
    return datetime.fromtimestamp(time, UTC).isoformat()


async def table_of(firm: Firm, asset: Any, **params: str) -> Any:
    return await firm.get(f"/assets/{asset['id']}/cap-table", params=params)


async def send(firm: Issuance, asset: Any, receiver: str, amount: int) -> None:
    body = {"asset_id": asset["id"], "chain_eid": SEPOLIA, "from_wallet_id": (await firm.treasury())["id"]}
    sent = await firm.post("/transfers", body | {"to_address": receiver, "amount": str(amount)})
    await firm.succeed(sent["requestId"])


@pytest.mark.long
async def test_cap_table_equals_the_chain_at_each_time(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset(initial_supply=str(1_000 * UNIT))
    treasury, first, second = await firm.treasury(), await firm.trader(), await firm.trader()
    await send(firm, asset, first["address"], 100 * UNIT)
    market = await firm.market(asset)
    await firm.order(market, first, "sell", 10 * USD, 60 * UNIT)
    early = await now_on_chain()
    await firm.order(market, second, "buy", 10 * USD, 40 * UNIT)
    freeze = {"chain_eid": SEPOLIA, "reason": "Court order", "address": second["address"], "amount": str(30 * UNIT)}
    await firm.succeed((await firm.post(f"/assets/{asset['id']}/freeze", freeze))["requestId"])
    mint = {"chain_eid": SEPOLIA, "to_address": treasury["address"], "amount": str(5 * UNIT), "reason": "A closing."}
    await firm.succeed((await firm.post(f"/assets/{asset['id']}/mint", mint))["requestId"])

    current = await table_of(firm, asset)
    rows = {row["address"]: row for row in current["holders"]}
    assert {address: int(row["balance"]) // UNIT for address, row in rows.items()} == {
        treasury["address"]: 905, first["address"]: 60, second["address"]: 40,
    }  # fmt: skip
    assert current["holders"][0]["address"] == treasury["address"], "largest first"
    assert sum(row["share_bps"] for row in current["holders"]) == 10_000
    assert (rows[first["address"]]["escrowed"], rows[first["address"]]["frozen"]) == (str(20 * UNIT), "0")
    assert (rows[second["address"]]["escrowed"], rows[second["address"]]["frozen"]) == ("0", str(30 * UNIT))
    assert (current["total"], current["escrowed"], current["frozen"]) == (
        str(1_005 * UNIT), str(20 * UNIT), str(30 * UNIT),
    )  # fmt: skip
    (chain,) = current["chains"]
    assert (chain["supply"], chain["agrees"], chain["holders"]) == (str(1_005 * UNIT), True, 3)
    assert (current["investors"], current["investors_balance"]) == (2, str(100 * UNIT))
    assert current["concentration"] == {"top_1_bps": 6_000, "top_5_bps": 10_000, "top_10_bps": 10_000}
    assert current["countries"] == [{"country": "SWE", "holders": 2, "balance": str(100 * UNIT), "share_bps": 10_000}]
    owned = {h["address"]: h["balance"] for h in (await firm.get(f"/assets/{asset['id']}/holders"))["holders"]}
    assert {address: row["balance"] for address, row in rows.items()} == owned

    past = await table_of(firm, asset, as_of=early)
    (chain,) = past["chains"]
    before = {row["address"]: int(row["balance"]) // UNIT for row in past["holders"]}
    assert before == {treasury["address"]: 900, first["address"]: 100}
    assert (past["escrowed"], past["frozen"], chain["agrees"]) == (str(60 * UNIT), "0", True)
    assert chain["block_time"][:19] == early[:19]
    at = asset["deployments"][0]["token_address"]
    for address, held in before.items():
        assert await token.holding_of(SEPOLIA, at, address, block=chain["block"]) == held * UNIT

    compared = await table_of(firm, asset, compare_with=early)
    assert compared["changes"] == {"joined": 1, "left": 0, "grew": 0, "shrank": 1}
    assert {row["address"]: (row["earlier"], row["change"]) for row in compared["holders"]} == {
        treasury["address"]: (str(900 * UNIT), "grew"), first["address"]: (str(100 * UNIT), "shrank"),
        second["address"]: ("0", "joined"),
    }  # fmt: skip
    (joined,) = (await table_of(firm, asset, compare_with=early, change="joined"))["holders"]
    assert joined["address"] == second["address"]
    listed, cursor = [], ""
    while cursor is not None:
        page = await table_of(firm, asset, limit="1", **({"cursor": cursor} if cursor else {}))
        listed, cursor = listed + page["holders"], page["nextCursor"]
    assert listed == current["holders"]
    assert [row["address"] for row in (await table_of(firm, asset, q="marta"))["holders"]]
    created = datetime.fromisoformat(current["since"]) - timedelta(days=1)
    nothing = await table_of(firm, asset, as_of=created.isoformat())
    assert (nothing["holders"], nothing["total"], nothing["chains"]) == ([], "0", [])


async def test_supply_at_a_block_without_state_is_compared_by_its_events(world: World) -> None:
    """A restarted node of an embedded chain has only its newest state."""
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset(initial_supply=str(1_000 * UNIT))
    treasury, common = (await firm.treasury())["address"], {"chain_eid": SEPOLIA, "reason": "A closing."}
    times = [await now_on_chain()]
    for verb, body in (("mint", {"to_address": treasury}), ("burn", {"address": treasury})):
        accepted = await firm.post(f"/assets/{asset['id']}/{verb}", common | body | {"amount": str(5 * UNIT)})
        await firm.succeed(accepted["requestId"])
        times.append(await now_on_chain())
    async with in_front_of(SEPOLIA) as node:
        node.refuses("eth_call", -32602, "BlockOutOfRangeError: block height is 186 but requested was 7")
        for time, supply in zip(times, (1_000, 1_005, 1_000), strict=True):
            (chain,) = (await table_of(firm, asset, as_of=time))["chains"]
            assert (chain["supply"], chain["supply_from"], chain["agrees"]) == (str(supply * UNIT), "events", True)
        node.refuses("eth_getLogs", -32005, "query returned more than 10000 results")
        (chain,) = (await table_of(firm, asset, as_of=times[0]))["chains"]
        assert (chain["supply"], chain["supply_from"], chain["agrees"]) == (None, None, None)
    assert (await table_of(firm, asset))["chains"][0]["supply_from"] == "state"


async def test_wallet_that_its_party_no_longer_uses_has_the_partys_name_and_country(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset(initial_supply=str(1_000 * UNIT))
    lost, new = await firm.trader(), await firm.post("/wallets", {"label": "New custody"})
    await send(firm, asset, lost["address"], 100 * UNIT)
    (row,) = (await table_of(firm, asset, q="marta"))["holders"]
    path = f"/identity/parties/{row['party_id']}"
    await firm.admin.call("PATCH", path, json={"wallet_address": new["address"]})

    table = await table_of(firm, asset)
    found = next(one for one in table["holders"] if one["address"] == lost["address"])
    names = ("kind", "name", "country", "party_id")
    assert [found[name] for name in names] == ["party", "Marta Lindqvist", "SWE", row["party_id"]]
    assert [one["country"] for one in table["countries"]] == ["SWE"]
    assert [one["address"] for one in (await table_of(firm, asset, q="marta"))["holders"]] == [lost["address"]]


@pytest.mark.long
async def test_supply_on_its_way_between_chains_is_in_transit(world: World) -> None:
    firm, asset, _, _ = await failed_bridge(world)
    table = await table_of(firm, asset)
    assert table["in_transit"] == [{"source_chain_eid": SEPOLIA, "destination_chain_eid": BASE, "amount": str(UNIT)}]
    (chain,) = table["chains"]
    assert (chain["chain_eid"], chain["held"], chain["agrees"]) == (SEPOLIA, str(999 * UNIT), True)
    (row,) = table["holders"]
    assert row["chains"] == [{"chain_eid": SEPOLIA, "balance": str(999 * UNIT)}]


async def test_cap_table_refuses_wrong_times_and_other_tenants(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset()
    path = f"/assets/{asset['id']}/cap-table"
    future = (datetime.now(UTC) + timedelta(days=400)).isoformat()
    past = (datetime.now(UTC) - timedelta(days=2)).isoformat()
    for params in ({"as_of": future}, {"as_of": past, "compare_with": past}, {"change": "left"}):
        await firm.refused("GET", path, 400, params=params)
    await firm.refused("GET", path, 400, params={"as_of": "1760000000"})
    await firm.refused("GET", path, 403, headers=await world.key(firm.id, Scope.TRANSFERS_READ))
    other = await Firm.found(world, "Other")
    await other.refused("GET", path, 404)


class Chain:
    """A chain whose blocks have some times."""

    eid = -7

    def __init__(self, times: list[int]) -> None:
        self.times, self.asked = times, 0

    async def request(self, _method: str, number: str, _full: bool) -> dict[str, str]:
        """Return a block."""
        self.asked += 1
        return {"timestamp": hex(self.times[int(number, 16)])}


@pytest.mark.parametrize(
    "times", [list(range(0, 40_000, 2)), [0, 1, 2, 3, *range(10_000, 10_100)], [5] * 10 + [6] * 1_000 + [900]]
)
async def test_block_of_a_time_is_the_last_one_up_to_it(times: list[int], api: Any) -> None:
    for moment in (times[0], times[1], times[-2], times[-1], times[-1] + 5, (times[0] + times[-1]) // 2):
        block_times.runtime.part(block_times.KnownTimes).times.clear()
        chain = Chain(times)
        found = await block_times.last_until(chain, moment, 0, len(times) - 1)  # type: ignore[arg-type]
        expected = max(n for n, time in enumerate(times) if time <= moment)
        assert found == block_times.Timed(expected, times[expected])
        assert chain.asked <= 40
    assert await block_times.last_until(chain, times[0] - 1, 0, 3) is None  # type: ignore[arg-type]
    block_times.runtime.part(block_times.KnownTimes).times.clear()


@pytest.mark.long
async def test_pdf_has_the_numbers_of_the_table_and_its_hash_is_in_the_log(
    world: World, http: httpx.AsyncClient
) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset(initial_supply=str(1_000 * UNIT))
    trader = await firm.trader()
    await send(firm, asset, trader["address"], 100 * UNIT)
    at = await now_on_chain()
    path = f"/v1{firm.base}/assets/{asset['id']}/cap-table.pdf"
    made = await http.get(path, headers=await world.key(firm.id, Scope.ASSETS_READ), params={"as_of": at})
    assert (made.status_code, made.headers["content-type"]) == (200, "application/pdf")
    text = " ".join("".join(page.extract_text() for page in PdfReader(io.BytesIO(made.content)).pages).split())
    for words in (f"Cap table of {asset['symbol']}", "1,000", "900", "10.00%", "90.00%", "agrees"):
        assert words in text, text
    (entry,) = (await firm.get("/audit?action=asset.cap_table_exported"))["audit"]
    assert entry["after"]["sha256"] == hashlib.sha256(made.content).hexdigest()
    assert entry["after"]["holders"] == 2


async def test_csv_has_every_holder_at_the_time(world: World, http: httpx.AsyncClient) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset(initial_supply=str(1_000 * UNIT))
    trader = await firm.trader()
    before = await now_on_chain()
    await send(firm, asset, trader["address"], 100 * UNIT)
    path = f"/v1{firm.base}/assets/{asset['id']}/cap-table.csv"
    headers = await world.key(firm.id, Scope.ASSETS_READ)
    for params, shares in (({"as_of": before}, ["10000"]), ({"compare_with": before}, ["9000", "1000"])):
        made = await http.get(path, headers=headers, params=params)
        assert (made.status_code, made.headers["content-type"]) == (200, "text/csv; charset=utf-8")
        rows = list(csv.DictReader(io.StringIO(made.text)))
        assert [row["share_bps"] for row in rows] == shares
    assert (rows[1]["address"], rows[1]["earlier"], rows[1]["change"]) == (trader["address"], "0", "joined")
