"""The toast of a request ends with the request and shows its result; the tracker counts all requests."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from backend.core import db
from backend.requests.models import RequestRow
from state.requests.tracker import Tracker, is_by_time, outcome, urgent_first
from state.requests.views import RequestView
from tests.conftest import World
from tests.console.events import Socket, connected
from tests.console.test_conflicts import ENDPOINT, tab_of
from tests.support.firm import Firm

TRACKER = "reflex___state____state.state___requests___tracker____tracker"
WEBHOOK, REPLAY = f"{ENDPOINT}webhook_state", f"{ENDPOINT}replay"


@pytest_asyncio.fixture(scope="module")
async def socket(api: Any) -> AsyncIterator[Socket]:
    """The console's socket."""
    async with connected() as socket:
        yield socket


def test_tracker_shows_urgent_requests_first_and_as_they_are_now() -> None:
    newest = [RequestView(id=f"r{n}", status="succeeded") for n in range(8)]
    failed = RequestView(id="old", status="failed")
    running = RequestView(id="r3", status="running")
    shown = urgent_first(newest, [running, failed])
    assert [(row.id, row.status) for row in shown[:4]] == [
        ("r3", "succeeded"), ("old", "failed"), ("r0", "succeeded"), ("r1", "succeeded"),
    ]  # fmt: skip
    assert len(shown) == len({row.id for row in shown}) == 8


def test_list_with_an_older_failed_request_first_is_not_by_time() -> None:
    older, newer = RequestView(created_at="2026-11-29T02:00:00Z"), RequestView(created_at="2026-11-29T02:01:00Z")
    assert is_by_time([newer, older])
    assert not is_by_time([older, newer])


@pytest.mark.parametrize(
    ("status", "problem", "said"),
    [
        ("succeeded", "", ("Done: Attest Alder", "", "ok")),
        ("failed", "No funds.", ("Failed: Attest Alder", "No funds.", "bad")),
        ("denied", "Wrong level.", ("Denied: Attest Alder", "Wrong level.", "bad")),
        ("awaiting_approval", "", ("Waiting for a second person", "Attest Alder", "warn")),
    ],
)
def test_toast_of_a_request_shows_its_result(status: str, problem: str, said: tuple[str, str, str]) -> None:
    assert outcome(RequestView(title="Attest Alder", status=status, problem=problem)) == said


async def test_toast_ends_with_the_result_of_its_request(world: World, socket: Socket) -> None:
    firm = await Firm.found(world)
    webhook = await firm.post("/webhooks", {"url": "https://hooks.example/signum", "event_types": ["*"]})
    tab = await tab_of(firm, socket, f"webhooks/{webhook['id']}", webhook_id=webhook["id"])
    await tab.send(f"{WEBHOOK}.enter", {})
    said = await tab.send(f"{REPLAY}.submit", {"data": {"since": "24"}})
    assert '"title": "Replaying failed deliveries", "detail": "", "tone": "busy"' in said
    assert '"title": "Done: ' in said, "the same toast shows the result"
    assert socket.failures == []


async def requests_after(firm: Firm, status: str) -> None:
    """Store a request with a status, and nine newer ones that have succeeded."""
    async with db.worker() as session:
        for one in [status, *["succeeded"] * 9]:
            about = {"kind": "asset.update", "title": "Update", "scope": "assets:write", "status": one}
            session.add(RequestRow(organization_id=firm.id, subject_type="asset", subject_id=db.new_id(), **about))
            await session.flush()


async def test_tracker_counts_requests_that_are_not_among_the_newest(world: World, socket: Socket) -> None:
    firm = await Firm.found(world)
    await requests_after(firm, "failed")
    tab = await tab_of(firm, socket, "overview")
    said = await tab.send(f"{TRACKER}.watch", {})
    assert '"failed_rx_state_": 1' in said
    assert '"status": "failed"' not in said, "the newest eight requests succeeded"


async def test_request_that_waits_for_a_second_person_stays_in_the_tracker(world: World, socket: Socket) -> None:
    firm = await Firm.found(world)
    await requests_after(firm, "awaiting_approval")
    tab = await tab_of(firm, socket, "overview")
    await tab.send(f"{TRACKER}.watch", {})
    assert [row.status for row in tab.value(Tracker, "rows")[:2]] == ["awaiting_approval", "succeeded"]
    assert socket.failures == []
