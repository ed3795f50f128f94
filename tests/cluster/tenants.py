"""Organizations of the cluster, with a person, a key, and clients of each process and of the proxy."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field

import httpx

from backend.client import SignumClient
from tests.chaos.issuers import Issuer
from tests.cluster.layout import Layout
from tests.cluster.proxy import certificate_of
from tests.support.certificate import trusting
from tests.support.tenants import Tenant, tenant_of


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
class Tenants:
    """Creates organizations in the database, and issuers that use the API through the proxy."""

    layout: Layout
    hooks: list[asyncio.Server] = field(default_factory=list)
    """Receivers of webhooks."""

    async def tenant(self) -> Tenant:
        """Create an organization with an admin and a key of every scope."""
        return await tenant_of(self.layout.database, SignumClient(self.layout.origin))

    async def issuer(self, seed: str, *eids: int, hook: str, through: httpx.AsyncBaseTransport | None = None) -> Issuer:
        """Create an issuer that is registered on some chains."""
        client = SignumClient(self.layout.origin, transport=through or Counted(self.layout))
        issuer = Issuer.of(await self.tenant(), client, seed)
        await issuer.found(*eids, hook=hook)
        return issuer
