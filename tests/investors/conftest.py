"""One scene for all tests of investors."""

from typing import Any

import pytest_asyncio

from backend.client import SignumClient
from tests.conftest import World
from tests.investors.scene import Scene


@pytest_asyncio.fixture(scope="session")
async def scene(api: Any, client: SignumClient) -> Scene:
    """Created once."""
    return await Scene.play(World(client))
