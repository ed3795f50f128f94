"""The list of transfers in the console."""

import pytest

from state.transfers.list import TransfersState
from tests.approvals.second_person import asking, deny, waiting
from tests.conftest import World
from tests.console.events import connected
from tests.console.test_conflicts import tab_of
from tests.support.firm import SEPOLIA

pytestmark = pytest.mark.usefixtures("api")
TRANSFERS = "reflex___state____state.state___transfers___list____transfers_state"


async def test_transfer_that_waits_for_a_second_person_needs_approval_in_the_list(world: World) -> None:
    firm, second = await asking(world, "transfer.send")
    asset, trader = await firm.asset(), await firm.trader()
    body = {"asset_id": asset["id"], "chain_eid": SEPOLIA, "to_address": trader["address"], "amount": "1"}
    accepted = await firm.post("/transfers", body | {"from_wallet_id": (await firm.treasury())["id"]})
    async with connected() as socket:
        tab = await tab_of(firm, socket, "transfers")
        await tab.send(f"{TRANSFERS}.load", {})
        assert [row.status for row in tab.value(TransfersState, "rows")] == ["awaiting_approval"]
        await deny(firm, second, await waiting(firm, accepted))
        await tab.send(f"{TRANSFERS}.load", {})
        assert [row.status for row in tab.value(TransfersState, "rows")] == ["failed"]
        assert socket.failures == []
