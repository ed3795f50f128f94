"""Organizations of the cluster, with a person, a key, and clients of each process and of the proxy."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any

import httpx

from backend.client import SignumClient
from backend.core.connections import database
from tests.chaos.issuers import Issuer
from tests.cluster.layout import Layout
from tests.cluster.proxy import certificate_of
from tests.conftest import Actor, World
from tests.support.certificate import trusting


class Counted(httpx.AsyncHTTPTransport):
    """A client's connections to the proxy. It counts the responses and faults that a client sees."""

    def __init__(self, layout: Layout) -> None:
        super().__init__(verify=trusting(certificate_of(layout)))
        self.seen: Counter[str] = Counter()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request and count its result."""
        try:
            response = await super().handle_async_request(request)
        except httpx.TransportError as error:
            self.seen[type(error).__name__] += 1
            raise
        self.seen[str(response.status_code)] += 1
        return response

    def faults(self) -> dict[str, int]:
        """Return what was seen and is neither a success nor a client's error."""
        return {kind: number for kind, number in sorted(self.seen.items()) if not "200" <= kind < "500"}


@dataclass
class Tenant:
    """An organization."""

    id: Any
    admin: Actor
    key: dict[str, str]


@dataclass
class Tenants:
    """Creates organizations in the database, and issuers that use the API through the proxy."""

    layout: Layout
    hooks: list[asyncio.Server] = field(default_factory=list)
    """Receivers of webhooks."""

    async def tenant(self) -> Tenant:
        """Create an organization with an admin and a key of every scope."""
        database.start(self.layout.database)
        try:
            world = World(SignumClient(self.layout.origin))
            id_ = await world.organization("Acme")
            admin = await world.person(id_)
            return Tenant(id_, admin, await world.key(id_, created_by=admin.user_id))
        finally:
            await database.stop()

    async def issuer(self, seed: str, *eids: int, hook: str, through: httpx.AsyncBaseTransport | None = None) -> Issuer:
        """Create an issuer that is registered on some chains."""
        tenant = await self.tenant()
        client = SignumClient(self.layout.origin, transport=through or Counted(self.layout))
        issuer = Issuer(tenant.id, tenant.key, tenant.admin.cookie, client, network=None)  # type: ignore[arg-type]
        issuer.prepare(Random(seed))
        await issuer.found(*eids, hook=hook)
        return issuer
