"""The installation that receives generated requests."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio
from schemathesis.transport.requests import REQUESTS_TRANSPORT

from backend.client import SignumClient
from backend.core.runtime import runtime as process
from backend.core.settings import settings
from backend.live_updates.streams import Open
from backend.server import runtime
from tests.conftest import World
from tests.openapi.installation import Installation
from tests.support.issuance import SEPOLIA, Issuance


@pytest_asyncio.fixture(scope="module", autouse=True)
async def short_streams() -> AsyncIterator[None]:
    """Streams of events end when they begin."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process.loop_part(Open).limits, "longest_seconds", 0.0)
        yield


@pytest_asyncio.fixture(scope="module")
async def installation(api: Any, client: SignumClient) -> AsyncIterator[Installation]:
    """Created once."""
    firm = await Issuance.ready(World(client), SEPOLIA)
    asset, party = await firm.asset(), await firm.verified(None)
    wallets = (await firm.get("/wallets"))["wallets"]
    hook = await firm.post("/webhooks", {"url": "http://localhost:1024/"})
    delivery = await firm.post(f"/webhooks/{hook['id']}/test")
    ids = {
        "orgId": str(firm.id),
        "assetId": asset["id"],
        "partyId": party["id"],
        "walletId": wallets[0]["id"],
        "requestId": asset["request_id"],
        "webhookId": hook["id"],
        "deliveryId": delivery["id"],
    }
    transport = runtime.local_transport(api)
    async with httpx.AsyncClient(transport=transport, base_url=settings().origin) as http:
        made = Installation(http, firm, ids, asyncio.get_running_loop())
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(REQUESTS_TRANSPORT, "send", made.over)
            yield made
