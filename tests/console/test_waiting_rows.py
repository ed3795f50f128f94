"""Rows of the console's lists whose request waits for a second person."""

import pytest

from state.assets.list import AssetsState
from state.attestations.queue import Queue
from state.bridges.list import BridgesState
from state.distributions.list import DistributionsState
from state.markets.detail import MarketState
from state.markets.list import MarketsState
from state.orders.list import OrdersState
from tests.approvals.test_waiting_records import requested
from tests.conftest import World
from tests.console.events import connected
from tests.console.test_conflicts import tab_of
from tests.support.firm import BASE, SEPOLIA
from tests.support.issuance import Issuance

pytestmark = pytest.mark.usefixtures("api")
LISTS = (AssetsState, BridgesState, MarketsState, DistributionsState)


async def test_rows_whose_request_waits_for_a_second_person_need_approval(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA, BASE)
    await world.person(firm.id)
    asked = {record: path for path, record, _ in await requested(firm)}
    async with connected() as socket:
        tab = await tab_of(firm, socket, "markets")
        for state in LISTS:
            await tab.send(f"{state.get_full_name()}.load", {})
            (row,) = [one for one in tab.value(state, "rows") if one.id in asked]
            assert getattr(row, "shown", row.status) == "awaiting_approval", state
        tab = await tab_of(firm, socket, "attestations?show=pending")
        await tab.send(f"{Queue.get_full_name()}.load", {})
        assert [row.status for row in tab.value(Queue, "rows")] == ["awaiting_approval"]
        (orders,) = [path for path in asked.values() if path.endswith("/orders")]
        market = orders.split("/")[-2]
        tab = await tab_of(firm, socket, f"markets/{market}", market_id=market)
        await tab.send(f"{MarketState.get_full_name()}.load", {})
        await tab.send(f"{OrdersState.get_full_name()}.load", {})
        assert [row.status for row in tab.value(OrdersState, "rows")] == ["awaiting_approval"]
        assert socket.failures == []
