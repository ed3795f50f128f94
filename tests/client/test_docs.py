"""Run the examples of docs/client.md against the real API."""

import ast
import asyncio
import inspect
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.conftest import World
from tests.support.server import served

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "client.md").read_text()
EXAMPLES = re.findall(r"^```python( sync)?\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


@pytest_asyncio.fixture(scope="session")
async def url(api: Any) -> AsyncIterator[str]:
    async with served(api) as url:
        yield url


@pytest_asyncio.fixture
async def credentials(url: str, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    org = await world.organization("Harbour")
    admin = await world.person(org)
    monkeypatch.setenv("SIGNUM_URL", url)
    monkeypatch.setenv("SIGNUM_API_KEY", (await world.key(org, created_by=admin.user_id))["x-api-key"])


@pytest.mark.long
async def test_documentation_examples_run(credentials: None) -> None:
    names: dict[str, Any] = {}
    for is_sync, example in EXAMPLES:
        if not is_sync:
            done = eval(compile(example, "docs/client.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
            if inspect.iscoroutine(done):
                await done
    await names["client"].close()
    assert names["request"].status == "succeeded"


async def test_documentation_examples_without_await_run(credentials: None, capsys: pytest.CaptureFixture[str]) -> None:
    [example] = [text for is_sync, text in EXAMPLES if is_sync]
    await asyncio.to_thread(exec, compile(example, "docs/client.md", "exec"), {})
