"""Ten of the stories that `make nodes` plays: the server is killed behind node pools, and nothing is lost."""

import asyncio
import sys

import pytest

from tests.nodes.stories.server import CHECKOUT

pytestmark = pytest.mark.long

SEED = 20


async def test_ten_stories_leave_chain_tables_and_requests_in_agreement() -> None:
    command = ["-m", "tests.nodes", "--stories", "10", "--seed", str(SEED), "--houses", "3"]
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command, cwd=CHECKOUT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    answer = (await process.communicate())[0].decode()
    assert process.returncode == 0, answer
    assert f"seed {SEED}: 10 stories" in answer
    for nothing in ("executed twice", "events lost", "events duplicated", "wrong statuses", "not at rest"):
        assert f"  {nothing}: 0" in answer
