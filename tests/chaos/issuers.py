"""Issuers whose requests meet the faults, and the receiver of their webhooks."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any
from uuid import uuid4

from backend.client import SignumClient
from tests.nodes.stories.houses import House, Unfinished
from tests.support.tenants import Tenant

TWICE = 0.3
"""Share of requests that are sent twice at the same time, under one idempotency key."""
POLL = 0.7
"""Seconds between two looks at a request."""
ENDED = 240.0
"""Seconds within which an accepted request must end after the last fault."""


@dataclass
class Issued:
    """An asset of a story: where it must be, with which supply."""

    eid: int
    asset_id: str
    supply: int


@dataclass
class Receiver:
    """A receiver of webhooks: the ids of events, with the number of deliveries of each."""

    port: int
    seen: dict[str, int] = field(default_factory=dict)

    async def serve(self) -> asyncio.Server:
        """Start it."""
        return await asyncio.start_server(self._answer, "127.0.0.1", self.port)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, ValueError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            headers = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
            await reader.readexactly(int(headers.get("content-length", "0")))
            event = headers["webhook-id"]
            self.seen[event] = self.seen.get(event, 0) + 1
            writer.write(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
            await writer.drain()
        writer.close()


class Issuer(House):
    """An issuer on some chains. It repeats calls, and retries no request: one that fails is a finding."""

    @classmethod
    def of(cls, tenant: Tenant, client: SignumClient, seed: str) -> "Issuer":
        """Return a tenant as an issuer that has done nothing yet."""
        issuer = cls(tenant.id, tenant.key, tenant.admin.cookie, client, network=None)  # type: ignore[arg-type]
        issuer.accepted, issuer.issued, issuer.dice = list[str](), list[Issued](), Random(seed)
        return issuer

    async def found(self, *eids: int, hook: str = "") -> None:
        """Enable the chains and register; send webhooks to an address, if there is one."""
        if hook:
            await self.post("/webhooks", {"url": hook, "event_types": ["*"]})
        for chain in (await self.get("/chains"))["chains"]:
            if chain["xchain_eid"] in eids:
                await self.post(f"/chains/{chain['id']}/enable")
        self.treasury = await self.post("/wallets", {"label": "Treasury"})
        await self.post("/issuer/register", {})
        await self.ended((await self.get("/issuer"))["request_id"])

    async def accept(self, path: str, body: Any) -> Any:
        """Send a request until it is accepted, sometimes twice at the same time under one key."""
        key, times = str(uuid4()), 2 if self.dice.random() < TWICE else 1
        path = f"/orgs/{self.id}{path}"
        accepted, *again = await asyncio.gather(*(self._repeated("POST", path, body, key) for _ in range(times)))
        if any(answer != accepted for answer in again):
            raise Unfinished(f"{path} was answered differently under one key: {accepted} and {again}")
        self.accepted.append(accepted["requestId"])
        return accepted

    async def ended(self, request_id: str) -> Any:
        """Wait until a request has ended; raise unless it succeeded."""
        async with asyncio.timeout(ENDED):
            while True:
                request = await self.get(f"/requests/{request_id}")
                if request["status"] == "succeeded":
                    return request
                if request["status"] in ("failed", "denied"):
                    raise Unfinished(f"{request['kind']} {request_id} {request['status']}: {request['problem']}")
                await asyncio.sleep(POLL)

    async def story(self, eid: int) -> None:
        """Issue an asset, then mint more of it and deploy a market at the same time."""
        supply, more = self.dice.randint(1, 10**6), self.dice.randint(1, 10**6)
        body = {"name": "Harbour Fund", "symbol": "H" + uuid4().hex[:6].upper(), "chain_eid": eid}
        accepted = await self.accept("/assets", body | {"initial_supply": str(supply)})
        await self.ended(accepted["requestId"])
        asset = f"/assets/{accepted['assetId']}"
        self.issued.append(Issued(eid, accepted["assetId"], supply + more))
        chain = next(c for c in (await self.get("/chains"))["chains"] if c["xchain_eid"] == eid)
        market = {"chain_eid": eid, "market_factory_address": chain["market_factory_address"]}
        mint = {"amount": str(more), "chain_eid": eid, "to_address": self.treasury["address"]}
        both = await asyncio.gather(self.accept(f"{asset}/mint", mint), self.accept(f"{asset}/markets", market))
        await asyncio.gather(*(self.ended(one["requestId"]) for one in both))
