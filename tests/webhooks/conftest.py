"""Fixtures of the tests of webhooks: a receiver, and an organization with an endpoint that sends to it."""

from collections import defaultdict
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import jsonschema_rs
import orjson
import pytest
import pytest_asyncio

from backend.core import db
from backend.webhooks import attempts, events
from backend.webhooks.events import run_id
from backend.webhooks.models import DeliveryRow
from tests.conftest import DOCUMENT, Actor, World
from tests.support.runs import result_of
from tests.webhooks.receiver import Receiver


@pytest_asyncio.fixture
async def receiver() -> AsyncIterator[Receiver]:
    """Listens, and responds with 200. What it receives is as documented."""
    async with Receiver() as receiver:
        yield receiver
    event = orjson.loads(DOCUMENT.read_bytes())["components"]["schemas"]["WebhookEvent"]
    for request in receiver.received:
        jsonschema_rs.validate(event, orjson.loads(request.body))


class Endpoint:
    """An endpoint of an organization, and its admin."""

    def __init__(self, organization: UUID, admin: Actor, record: dict[str, Any]) -> None:
        self.organization, self.admin, self.record = organization, admin, record
        self.id, self.secret = record["id"], record["secret"]
        self.path = f"/orgs/{organization}/webhooks/{self.id}"

    @classmethod
    async def made(cls, world: World, url: str, organization: UUID | None = None, **body: Any) -> "Endpoint":
        """Create one, in a new organization unless one is given."""
        organization = organization or await world.organization()
        admin = await world.person(organization)
        made = await admin.call("POST", f"/orgs/{organization}/webhooks", json={"url": url, **body})
        return cls(organization, admin, made)

    async def get(self) -> Any:
        """Read its current state."""
        return await self.admin.call("GET", self.path)

    async def patch(self, **body: Any) -> Any:
        """Change it."""
        return await self.admin.call("PATCH", self.path, json=body)

    async def post(self, path: str, json: Any = None) -> Any:
        """Run an action on it."""
        return await self.admin.call("POST", f"{self.path}{path}", json=json)

    async def deliveries(self, **params: Any) -> Any:
        """Read its log."""
        return (await self.admin.call("GET", f"{self.path}/deliveries", params=params))["deliveries"]

    async def settled(self, delivery_id: str, run: int = 1) -> Any:
        """Wait for an attempt of a delivery to end; return the delivery as the log has it."""
        await result_of(run_id(UUID(delivery_id), run))
        return next(d for d in await self.deliveries() if d["id"] == delivery_id)


async def row_of(delivery_id: str) -> DeliveryRow:
    """A delivery's row."""
    async with db.worker() as session:
        return await session.get_one(DeliveryRow, UUID(delivery_id))


Queued = dict[str, list[timedelta]]


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> Queued:
    """The engine is stopped: delays are recorded by delivery, and a test makes the attempts itself."""
    delays: Queued = defaultdict(list)

    async def queue(*arguments: Any) -> None:
        delays[str(arguments[3])].append(arguments[5] if len(arguments) > 5 else timedelta(0))

    monkeypatch.setattr(events, "queue", queue)
    return delays


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.at = datetime.now(UTC)

    def __call__(self) -> datetime:
        return self.at


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The sender's clock, with jitter fixed at its mean."""
    clock = Clock()
    monkeypatch.setattr(attempts, "now", clock)
    monkeypatch.setattr(attempts.random, "random", lambda: 0.5)
    return clock


async def attempt(end: Endpoint, delivery_id: str) -> Any:
    """Make the attempt that is due; return the delivery after it."""
    await attempts.attempt(end.organization, UUID(delivery_id), (await row_of(delivery_id)).run)
    return next(d for d in await end.deliveries() if d["id"] == delivery_id)
