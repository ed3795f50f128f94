"""What tests of factors share."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest_asyncio

from backend import runtime
from backend.settings import settings


@pytest_asyncio.fixture
async def http(api: Any) -> AsyncIterator[httpx.AsyncClient]:
    """Plain HTTP, with nothing between."""
    transport = runtime.local_transport(api)
    async with httpx.AsyncClient(transport=transport, base_url=settings().origin) as client:
        yield client
