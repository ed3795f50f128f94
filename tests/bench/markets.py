"""`market_bridge` and `markets_100`: from the request to active markets, compared with a bare script that sends the
same bytes."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx

from tests.bench import replay

HOME_CHAIN, OTHERS = 40161, (40245, 40362)
COUNT = 100
PATIENCE = 600
"""Seconds until a benchmark gives up."""


class Organization:
    """The demo's organization, with its full key."""

    def __init__(self, http: httpx.AsyncClient, organization_id: str) -> None:
        self._http, self._id, self._base = http, organization_id, f"/orgs/{organization_id}"

    async def party(self, body: dict[str, Any]) -> str:
        """Create a party and return its ID."""
        made = await self._http.post("/identity/parties", json=body | {"organization_id": self._id})
        return str(made.raise_for_status().json()["id"])

    async def verify(self, party_id: str) -> None:
        """Verify a party at level 2."""
        verdict = {"kyc_level": 2, "accredited": True}
        (await self._http.post(f"/identity/parties/{party_id}/verify", json=verdict)).raise_for_status()

    async def get(self, path: str) -> Any:
        """Return the record."""
        return (await self._http.get(f"{self._base}{path}")).raise_for_status().json()

    async def post(self, path: str, body: dict[str, Any]) -> Any:
        """Return the acceptance. Where the server is busy, send again when it says. Raise SystemExit if it refused."""
        answer = await self._http.post(f"{self._base}{path}", json=body)
        while answer.status_code in (429, 503):
            await asyncio.sleep(float(answer.headers["Retry-After"]))
            answer = await self._http.post(f"{self._base}{path}", json=body)
        if not answer.is_success:
            raise SystemExit(f"{path}: {answer.text}")
        return answer.json()

    async def active(self, path: str) -> None:
        """Wait until a record is active. Raise SystemExit if it failed or takes too long."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            record = await self.get(path)
            if record["status"] == "active":
                return
            if record["status"] == "failed":
                raise SystemExit(f"{path} failed: {record}")
            await asyncio.sleep(0.02)
        raise SystemExit(f"{path} was not active in {PATIENCE} s")

    async def factories(self) -> dict[int, str]:
        """Return the market factory by endpoint id."""
        chains = (await self.get("/chains"))["chains"]
        return {c["xchain_eid"]: c["market_factory_address"] for c in chains if c["enabled"]}

    async def ask(self, asset_id: str, eid: int, factory: str) -> str:
        """Request a market and return its id."""
        body = {"chain_eid": eid, "market_factory_address": factory}
        return str((await self.post(f"/assets/{asset_id}/markets", body))["marketId"])

    async def all_active(self, markets: set[str]) -> None:
        """Wait until all of the newest hundred markets are active. Sends one request at a time, which costs little
        compared with the measured work. Raise SystemExit if one failed or they take too long."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            newest = (await self.get("/markets?limit=100"))["markets"]
            status = {m["id"]: m["status"] for m in newest if m["id"] in markets}
            if "failed" in status.values():
                raise SystemExit(f"failed: {[m for m in newest if m['status'] == 'failed']}")
            if len(status) == len(markets) and set(status.values()) == {"active"}:
                return
            await asyncio.sleep(0.1)
        raise SystemExit(f"the markets were not active in {PATIENCE} s")


async def with_organization(origin: str, home: Path, work: Callable[[Organization], Awaitable[Any]]) -> Any:
    """Return the result of work with the demo's organization."""
    demo = json.loads((home / "demo.json").read_text())
    headers = {"x-api-key": demo["api_keys"]["full"]}
    limits = httpx.Limits(max_connections=20)
    async with httpx.AsyncClient(base_url=f"{origin}/v1", headers=headers, timeout=120, limits=limits) as http:
        return await work(Organization(http, demo["organization_id"]))


def market_bridge(origin: str, home: Path) -> dict[str, Any]:
    """Return the row: a market of the demo's NREF on a chain without its token."""

    async def work(organization: Organization) -> float:
        factory = (await organization.factories())[40362]
        assets = (await organization.get("/assets"))["assets"]
        asset = next(a["id"] for a in assets if a["symbol"] == "NREF")
        began = time.perf_counter()
        market = await organization.ask(asset, 40362, factory)
        await organization.active(f"/assets/{asset}/markets/{market}")
        return time.perf_counter() - began

    return against_a_script("market_bridge", origin, home, work)


def markets_100(origin: str, home: Path) -> dict[str, Any]:
    """Return the row: a hundred concurrent markets of 34 assets, a third on each chain, two thirds bridged first."""
    assets = asyncio.run(with_organization(origin, home, _assets))

    async def work(organization: Organization) -> float:
        factories = await organization.factories()
        places = [(asset, eid) for eid in (HOME_CHAIN, *OTHERS) for asset in assets][:COUNT]
        began = time.perf_counter()
        asked = (organization.ask(asset, eid, factories[eid]) for asset, eid in places)
        await organization.all_active(set(await asyncio.gather(*asked)))
        return time.perf_counter() - began

    return against_a_script("markets_100", origin, home, work)


async def _assets(organization: Organization) -> list[str]:
    """34 fresh assets, active on one chain."""
    bodies = [{"name": f"Bench {i}", "symbol": f"BENCH{i}", "chain_eid": HOME_CHAIN} for i in range(34)]
    accepted = await asyncio.gather(*(organization.post("/assets", body) for body in bodies))
    made = [answer["assetId"] for answer in accepted]
    await asyncio.gather(*(organization.active(f"/assets/{asset}") for asset in made))
    return made


def against_a_script(
    name: str, origin: str, home: Path, work: Callable[[Organization], Awaitable[float]]
) -> dict[str, Any]:
    """Return a row. Floor: the nodes alone. Peer: a script that sends the same bytes sequentially."""
    before = replay.remember(home)
    seconds: float = asyncio.run(with_organization(origin, home, work))
    transactions = before.transactions()
    floor = replay.in_parallel(home, before, transactions)
    peer = replay.one_by_one(home, before, transactions)
    return {
        "name": name,
        "value": round(seconds, 3),
        "unit": "s",
        "floor": round(floor, 3),
        "peer": round(peer, 3),
        "ratio_floor": round(seconds / floor, 2),
        "ratio_peer": round(peer / seconds, 4),
        "transactions": len(transactions),
    }
