"""The console shows failed reads in their place: a missing part would look like an empty one."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import pytest_asyncio

from backend.client import client as console_client
from tests.conftest import World
from tests.console.events import Socket, Tab, connected
from tests.support.firm import Firm

STATE = "reflex___state____state.state___"
LOADS = (f"{STATE}organizations___overview____overview_state.load", f"{STATE}notifications___bell____bell.load")


class Faulty(httpx.AsyncBaseTransport):
    """The connection to the API with fake responses, by the end of a path; each is returned this many times before it
    recovers."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self.inner = inner
        self.faults: dict[str, tuple[int, int, str]] = {}
        self.asked: list[str] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return a fault, or the API's response."""
        path = request.url.path
        self.asked.append(path)
        for end, (times, status, wait) in self.faults.items():
            if path.endswith(end) and self.asked.count(path) <= times:
                body = {"status": status, "title": "Busy", "detail": "There is too much to do."}
                return httpx.Response(status, json=body, headers={"retry-after": wait})
        return await self.inner.handle_async_request(request)


@pytest_asyncio.fixture(scope="module")
async def socket(api: Any):
    """The console's socket."""
    async with connected() as socket:
        yield socket


@pytest.fixture
def faulty(socket: Socket) -> Iterator[Faulty]:
    """Between the console and the API."""
    inner: Any = console_client._transport
    faulty = Faulty(inner)
    console_client.use(faulty)
    yield faulty
    console_client.use(inner)


@pytest_asyncio.fixture
async def firm(world: World) -> Firm:
    """An organization with a waiting approval."""
    firm = await Firm.found(world)
    await firm.post("/invitations", {"email": "invited@kestrel.example", "role": "viewer"})
    return firm


async def overview(socket: Socket, firm: Firm) -> tuple[Tab, str]:
    """A tab that has just opened the overview, and its messages."""
    tab = Tab(socket, "", f"/o/{firm.id}/overview", {"org_id": str(firm.id)})
    return tab, await tab.connect(firm.admin.cookie)


async def test_rate_limited_read_is_retried(socket: Socket, faulty: Faulty, firm: Firm):
    faulty.faults = {"": (2, 429, "0")}
    _, answer = await overview(socket, firm)
    assert "invited@kestrel.example" in answer
    assert "too much to do" not in answer


async def test_lasting_rate_limit_is_reported_without_waiting(socket: Socket, faulty: Faulty, firm: Firm):
    faulty.faults = {"/summary": (9, 429, "30")}
    _, answer = await overview(socket, firm)
    assert "There is too much to do." in answer
    assert faulty.asked.count(f"/v1/orgs/{firm.id}/summary") == 1


async def test_failed_page_part_shows_an_error_until_it_loads(socket: Socket, faulty: Faulty, firm: Firm):
    parts = ("/notifications", "/chains", "/requests", "/memberships/pending")
    faulty.faults = dict.fromkeys(parts, (1, 503, "1"))
    tab, answer = await overview(socket, firm)
    answer = answer.replace('":', '": ').replace('":  ', '": ').replace('","', '", "')
    for words in (
        '"chains_problem_rx_state_": "There is too much to do."',
        '"unread_rx_state_": "There is too much to do."',
        '"approvals_rx_state_": "?"',
        '"problem_rx_state_": "There is too much to do."',
    ):
        assert words in answer
    assert "invited@kestrel.example" not in answer
    again = "".join([await tab.send(load, {}) for load in LOADS])
    assert "invited@kestrel.example" in again
    assert "too much to do" not in again


async def test_overview_reads_what_waits_once(world: World, socket: Socket, faulty: Faulty):
    firm = await Firm.found(world)
    await overview(socket, firm)
    about = [path.rpartition("/")[2] for path in faulty.asked]
    assert not {"parties", "attestations", "invitations", "webhooks"} & set(about)
    # Notifications have what waits for the person, approvals the person's own requests that wait for others.
    assert [about.count(name) for name in ("notifications", "approvals", "requests")] == [1, 1, 1]
