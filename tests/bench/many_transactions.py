"""`transfers_wallet`, `transfers_single` and `attest_1000`: many transactions, from the requests to the tables, against
a bare script that sends the same bytes."""

import asyncio
import secrets
import time
from pathlib import Path
from typing import Any

from eth_utils.address import to_checksum_address

from tests.bench.markets import HOME_CHAIN, OTHERS, PATIENCE, Organization, against_a_script, with_organization

TRANSFERS = 200
ATTESTED, BATCH = 1_002, 200
"""Attestations of 334 parties on each of three chains, and those of one request."""
CONCURRENT = 16
OPEN = ("accepted", "running")


def transfers_wallet(origin: str, home: Path) -> dict[str, Any]:
    """Return the row: 200 transfers of the demo's NREF from its treasury, in one batch."""

    async def work(organization: Organization) -> float:
        body, began = await _transfer(organization), time.perf_counter()
        answer = await organization.post("/transfers/batch", {"items": [body] * TRANSFERS})
        if problems := [one["problem"] for one in answer["results"] if one["problem"]]:
            raise SystemExit(f"transfers_wallet: {problems[0]}")
        await _done(organization, {one["acceptance"]["requestId"] for one in answer["results"]})
        return time.perf_counter() - began

    return against_a_script("transfers_wallet", origin, home, work)


def transfers_single(origin: str, home: Path) -> dict[str, Any]:
    """Return the row: the same, one call each, accepted 16 at a time."""

    async def work(organization: Organization) -> float:
        body = await _transfer(organization)
        began, turns = time.perf_counter(), asyncio.Semaphore(CONCURRENT)

        async def send() -> str:
            async with turns:
                return str((await organization.post("/transfers", body))["requestId"])

        await _done(organization, set(await asyncio.gather(*(send() for _ in range(TRANSFERS)))))
        return time.perf_counter() - began

    return against_a_script("transfers_single", origin, home, work)


async def _transfer(organization: Organization) -> dict[str, Any]:
    asset = next(a["id"] for a in (await organization.get("/assets"))["assets"] if a["symbol"] == "NREF")
    wallets = {w["label"]: w for w in (await organization.get("/wallets?limit=100"))["wallets"]}
    return {
        "asset_id": asset, "chain_eid": HOME_CHAIN, "from_wallet_id": wallets["Treasury"]["id"],
        "to_address": wallets["Alder Family Office custody"]["address"], "amount": "1000000000000000",
    }  # fmt: skip


def attest_1000(origin: str, home: Path) -> dict[str, Any]:
    """Return the row: 334 new parties are attested on three chains."""
    parties = asyncio.run(with_organization(origin, home, _parties))

    async def work(organization: Organization) -> float:
        items = [{"party_id": party, "chain_eid": eid} for party in parties for eid in (HOME_CHAIN, *OTHERS)]
        began, accepted = time.perf_counter(), set[str]()
        for start in range(0, len(items), BATCH):
            answer = await organization.post("/attestations/batch", {"items": items[start : start + BATCH]})
            if problems := [one["problem"] for one in answer["results"] if one["problem"]]:
                raise SystemExit(f"attest_1000: {problems[0]}")
            accepted |= {one["acceptance"]["requestId"] for one in answer["results"]}
        await _done(organization, accepted)
        return time.perf_counter() - began

    return against_a_script("attest_1000", origin, home, work)


async def _parties(organization: Organization) -> list[str]:
    """Return new verified parties with addresses."""
    made = []
    for number in range(ATTESTED // 3):
        address = to_checksum_address("0x" + secrets.token_hex(20))
        body = {"name": f"Party {number}", "country": "SWE", "wallet_address": address}
        party = await organization.party(body)
        await organization.verify(party)
        made.append(party)
    return made


async def _done(organization: Organization, accepted: set[str]) -> None:
    """Wait until the organization has no open request. Raise SystemExit if one of these failed or they take too
    long."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if not any([await _newest(organization, status, 1) for status in OPEN]):
            if failed := await _newest(organization, "failed", 100) & accepted:
                raise SystemExit(f"failed: {failed}")
            return
        await asyncio.sleep(0.1)
    raise SystemExit(f"the requests were not done in {PATIENCE} s")


async def _newest(organization: Organization, status: str, count: int) -> set[str]:
    """Return the newest requests with a status."""
    return {one["id"] for one in (await organization.get(f"/requests?status={status}&limit={count}"))["requests"]}
