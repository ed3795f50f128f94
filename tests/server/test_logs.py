"""Content of log lines, and what they must not contain."""

import json
import os
import re
import subprocess
import sys
from typing import Any

import httpx
import pytest

from backend.chain.transactions import confirmation
from backend.core.logs import lines
from tests.conftest import World
from tests.support.issuance import SEPOLIA, Issuance, asset_body

SCRIPT = """
import structlog
from backend.core.logs import output as logs

logs.configure()
log = structlog.get_logger()

def signs(key):
    signature = key + key
    raise RuntimeError("no signature")

try:
    signs("5ecret")
except RuntimeError as error:
    log.error("signing.failed", exc_info=error)
"""

FORGED = """
import structlog
from backend.core.logs import output as logs

logs.configure()
structlog.get_logger().warning("mail.refused", reason="451 no\\n2026-01-01T00:00:00Z [info] forged\\r\\x1b[31m")
"""


def logged(script: str, **environment: str) -> str:
    """Return a program's standard error."""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == ""
    return done.stderr


def test_log_value_cannot_create_a_line() -> None:
    said = logged(FORGED)
    assert "forged" in said
    assert said.count("\n") == 1
    assert said.isascii()
    assert not any(ord(character) < 32 for character in said.rstrip("\n"))


def test_log_line_has_utc_time_and_no_variables() -> None:
    said = logged(SCRIPT, TZ="Asia/Tokyo")
    assert re.search(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z .*signing\.failed", said) is not None, said
    assert "RuntimeError: no signature" in said
    assert "5ecret5ecret" not in said


JSON_LINES = """
import logging
import structlog
from backend.core.changes import Who, acting
from backend.core.logs import lines, output

output.configure("json")
log = structlog.get_logger()
log.warning("first.seen", reason="a\\nb")
lines.request_id.set("request-1")
lines.trace_id.set("trace-1")
logging.getLogger("dbos").warning("from the engine %s", 1)
logging.getLogger("_granian").error("from the server")
with acting(Who(request_id="request-2")):
    try:
        raise RuntimeError("no")
    except RuntimeError as error:
        log.error("work.failed", exc_info=error, secret_of=1)
log.info("last.seen")
assert lines.runtime.part(lines.LineCounts).of == {"warning": 2, "error": 2}
"""


def test_every_line_is_json_with_the_ids_of_request_and_trace() -> None:
    found = [json.loads(line) for line in logged(JSON_LINES).splitlines()]
    assert [line["event"] for line in found] == [
        "first.seen",
        "from the engine 1",
        "from the server",
        "work.failed",
        "last.seen",
    ]
    assert [line.get("request_id") for line in found] == [None, "request-1", "request-1", "request-2", "request-1"]
    assert [line.get("trace_id") for line in found] == [None, *["trace-1"] * 4]
    assert [line["level"] for line in found] == ["warning", "warning", "error", "error", "info"]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z", line["timestamp"]) for line in found)
    assert "RuntimeError: no" in found[3]["exception"]


async def test_lines_of_a_workflow_have_the_id_of_its_request(
    world: World, api: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    seen: set[str | None] = set()
    finish = confirmation.finish

    async def noted(*given: Any) -> Any:
        seen.add(lines.request_id.get())
        return await finish(*given)

    monkeypatch.setattr(confirmation, "finish", noted)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=api), base_url="http://t") as client:
        path = f"/v1/orgs/{firm.id}/assets"
        answer = await client.post(path, json=asset_body(SEPOLIA), headers=firm.key)
    await firm.succeed(answer.json()["requestId"])
    assert seen == {answer.headers["x-request-id"]}
    assert lines.request_id.get() is None
