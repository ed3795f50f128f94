"""An organization with an application."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest_asyncio

from backend.core.settings import settings
from backend.server import runtime
from tests.conftest import World
from tests.oauth.application import Application, register
from tests.webhooks.receiver import Receiver


@pytest_asyncio.fixture
async def http(api: Any) -> AsyncIterator[httpx.AsyncClient]:
    """Plain HTTP client."""
    transport = runtime.local_transport(api)
    async with httpx.AsyncClient(transport=transport, base_url=settings().origin) as client:
        yield client


@pytest_asyncio.fixture
async def application(world: World, http: httpx.AsyncClient) -> Application:
    """A confidential application."""
    return await register(world, http, await world.organization("Acme"))


@pytest_asyncio.fixture
async def receiver() -> AsyncIterator[Receiver]:
    """Listens for logout tokens, and responds with 200."""
    async with Receiver() as receiver:
        yield receiver
