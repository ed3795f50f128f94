"""What is enqueued in a process begins there at once, however seldom its queues look by themselves."""

import asyncio

from dbos import DBOS

from backend import bell, queues
from tests.conftest import World
from tests.firm import Firm

LONG = 600.0


async def test_a_request_begins_without_waiting_for_the_next_look(world: World) -> None:
    firm = await Firm.issuing(world)
    await DBOS.register_queue_async(queues.QUEUE, partition_concurrency=1, polling_interval_sec=LONG)
    try:
        await firm.post("/issuer/register", {"name": "Renamed"}, headers=firm.key)  # its look takes up the new interval
        await _succeeded(firm)
        for name in ("Again", "Once more"):
            await firm.post("/issuer/register", {"name": name}, headers=firm.key)
            await _succeeded(firm)
    finally:
        await queues.register_queues()
        bell.ring()


async def _succeeded(firm: Firm) -> None:
    async with asyncio.timeout(LONG / 2):
        request = await firm.settle((await firm.get("/issuer"))["request_id"])
    assert request["status"] == "succeeded"
