"""The API on a port, and a connection pool for many streams."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest_asyncio

from tests.support.server import served


@pytest_asyncio.fixture(scope="session")
async def url(api: Any) -> AsyncIterator[str]:
    async with served(api, connections=2_000) as url:
        yield url


@pytest_asyncio.fixture
async def http(url: str) -> AsyncIterator[httpx.AsyncClient]:
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=60, limits=limits) as http:
        yield http
