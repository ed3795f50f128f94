"""What a transfer costs the database, from its acceptance to the end of its request."""

import asyncio

import psycopg

from tests.conftest import World
from tests.support.firm import SEPOLIA
from tests.support.issuance import Issuance
from tests.support.statements import counted
from tests.transfers.test_transfers import body_of

STATEMENTS, COMMITS = 84, 14
"""The most that a transfer takes, those of the index pass and of the workflow engine included."""
REST = 0.25
"""Seconds for what follows the end of a request: the engine records it, and the indexer settles transactions."""
_ENDED = "select status in ('succeeded', 'failed') from requests where id = %s"


async def test_transfer_takes_few_statements_and_commits(world: World, database_url: str) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset, treasury, trader = await firm.asset(), await firm.treasury(), await firm.trader()
    body, taken = body_of(asset, treasury, trader["address"]), []
    # This connection is not counted.
    async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as owner:
        for _ in range(5):
            with counted() as sent:
                request = (await firm.post("/transfers", body))["requestId"]
                async with asyncio.timeout(30):
                    while await (await owner.execute(_ENDED, [request])).fetchone() != (True,):  # noqa: ASYNC110
                        await asyncio.sleep(0.02)
                await asyncio.sleep(REST)
            taken.append(sent)
            await firm.succeed(request)
    # The least of several, because the process also does other work.
    assert min(one.statements for one in taken) <= STATEMENTS, taken
    assert min(one.commits for one in taken) <= COMMITS, taken
