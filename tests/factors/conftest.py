"""Fixtures of the tests of factors."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest_asyncio

from backend.core.settings import settings
from backend.server import runtime


@pytest_asyncio.fixture
async def http(api: Any) -> AsyncIterator[httpx.AsyncClient]:
    """Plain HTTP client."""
    transport = runtime.local_transport(api)
    async with httpx.AsyncClient(transport=transport, base_url=settings().origin) as client:
        yield client
