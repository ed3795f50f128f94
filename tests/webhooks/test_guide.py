"""The guide for receivers: its code verifies real deliveries, and its figures match the settings."""

import re
from pathlib import Path
from typing import Any

import pytest

from backend.core.settings import Settings
from backend.limits import rate_limits
from backend.organizations import quotas
from backend.webhooks import egress, rules, signatures
from tests.conftest import World
from tests.webhooks.conftest import Endpoint
from tests.webhooks.receiver import Receiver

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "webhooks.md"


def code() -> dict[str, Any]:
    """Return everything that the guide's Python defines."""
    made: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.S):
        exec(block, made)
    return made


@pytest.mark.parametrize("name", ["receive", "receive_plain"])
async def test_guide_code_verifies_only_genuine_deliveries(world: World, receiver: Receiver, name: str) -> None:
    receive = code()[name]
    end = await Endpoint.made(world, receiver.url)
    await end.post("/rotate-secret")
    sent = await end.post("/test")
    (got,) = await receiver.came()
    assert receive(end.secret, got.headers, got.body) == sent["payload"]
    assert receive(signatures.new_secret(), got.headers, got.body) is None
    assert receive(end.secret, got.headers, got.body + b" ") is None
    old = signatures.headers([end.secret], got.event, int(got.headers["webhook-timestamp"]) - 600, got.body)
    assert receive(end.secret, old, got.body) is None


def test_guide_figures_match_the_code() -> None:
    text = re.sub(r"\s+", " ", GUIDE.read_text())
    words = [f"{w.total_seconds() / 3600:g} h" for w in rules.RETRIES[3:]]
    assert f"5 s, 5 min, 30 min, {', '.join(words[:-1])} and {words[-1]}" in text
    assert f"within {egress.TIMEOUT:.0f} seconds" in text
    assert f"{egress.BODY_BYTES // 1024} KB" in text
    assert f"{rate_limits.DELIVERIES_BELOW.amount:,} deliveries a day" in text
    assert f"{rate_limits.DELIVERIES_OF_PERSON.amount:,} for those that one person made" in text
    assert f"at most {quotas.ENDPOINTS_ABOVE} such endpoints" in text
    assert f"for {rules.KEPT.days} days" in text
    assert f"port {' or '.join(map(str, Settings().webhook_ports))}" in text
