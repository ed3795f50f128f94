"""Moving an organization in the console: the request that updates the chains is reported like any other."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio
import sqlalchemy as sa
from sqlmodel import col

from backend.core import db
from backend.models import RequestRow
from tests.conftest import World
from tests.console.events import Socket, Tab, connected
from tests.organizations.test_move import issuer

PAGE = "reflex___state____state.state___organizations___organization____organization_state"
MOVE = "reflex___state____state.state___organizations___move____move_state"


@pytest_asyncio.fixture(scope="module")
async def socket(api: Any) -> AsyncIterator[Socket]:
    """The console's socket."""
    async with connected() as socket:
        yield socket


async def opened(world: World, socket: Socket, name: str) -> tuple[Tab, UUID, UUID]:
    """A tab with the dialog that moves an organization below its sibling, and the ids of both."""
    top = await world.organization(f"{name} Group")
    unit, target = await world.organization(name, top), await world.organization(f"{name} Target", top)
    tab = await socket.tab((await world.person(top)).cookie, f"/o/{top}/organizations", org_id=str(top))
    await tab.send(f"{PAGE}.choose", {"id": str(unit)})
    await tab.send(f"{MOVE}.show", {"is_open": True})
    await tab.send(f"{MOVE}.pick", {"id": str(target)})
    return tab, unit, target


async def requests_of(organization: UUID) -> list[str]:
    """Return the ids of an organization's requests."""
    async with db.worker() as session:
        found = await session.scalars(sa.select(RequestRow.id).where(col(RequestRow.organization_id) == organization))
        return [str(one) for one in found]


@pytest.mark.long
async def test_move_of_an_organization_known_on_a_chain_reports_its_request(world: World, socket: Socket) -> None:
    tab, unit, _ = await opened(world, socket, "Harbor")
    await issuer(unit)
    text = await tab.send(f"{MOVE}.submit", {})
    (request,) = await requests_of(unit)
    assert "Moving Harbor on chain" in text
    assert f"/o/{unit}/requests?id={request}" in text, "the request belongs to the moved organization"
    text = await tab.send(f"{MOVE}.undo", {})
    (second,) = set(await requests_of(unit)) - {request}
    assert f"/o/{unit}/requests?id={second}" in text
    assert socket.failures == []


async def test_move_of_an_organization_that_no_chain_knows_reports_no_request(world: World, socket: Socket) -> None:
    tab, unit, target = await opened(world, socket, "Island")
    text = await tab.send(f"{MOVE}.submit", {})
    assert str(target) in text
    assert "on chain" not in text
    assert await requests_of(unit) == []
    assert socket.failures == []
