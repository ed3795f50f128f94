"""Sorts of the console's lists: in the address of the page."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.conftest import World
from tests.console.events import Socket, connected
from tests.support.firm import Firm

STATE = "reflex___state____state.state___"
WALLETS = f"{STATE}wallets___list____wallets"
LABELS = ["Bank", "Reserve", "Custodian"]
"""Of wallets, in the order in which they are created. The first wallet is the treasury."""
TREASURY_FIRST = ["Bank", "Custodian", "Reserve"]
"""The treasury, then the newest first: the order of the page without a sort."""


@pytest_asyncio.fixture(scope="module")
async def socket(api: Any) -> AsyncIterator[Socket]:
    """The console's socket."""
    async with connected() as socket:
        yield socket


@pytest.mark.parametrize(
    ("query", "labels"),
    [
        ("", TREASURY_FIRST),
        ("?sort=label&order=asc", ["Bank", "Custodian", "Reserve"]),
        ("?sort=label&order=desc", ["Reserve", "Custodian", "Bank"]),
        ("?sort=created_at&order=asc", ["Bank", "Reserve", "Custodian"]),
        ("?sort=secret&order=up", TREASURY_FIRST),
    ],
)
async def test_list_has_the_order_in_the_pages_address(
    world: World, socket: Socket, query: str, labels: list[str]
) -> None:
    firm = await Firm.found(world)
    for label in LABELS:
        await firm.post("/wallets", {"label": label})
    tab = await socket.tab(firm.admin.cookie, f"/o/{firm.id}/wallets{query}", org_id=str(firm.id))
    shown = await tab.send(f"{WALLETS}.sort_again", {})
    assert sorted(LABELS, key=lambda label: shown.index(f'"{label}"')) == labels
    assert socket.failures == []
