"""Another process with the same database, chains and keys: sends a number of transactions by one signer."""

import asyncio
import sys

from backend import models
from backend.chain.abi.calls import Call
from backend.chain.transactions.execution import execute
from backend.core.connections import database

assert models, "every table is known, as in the server"


async def main(url: str, eid: int, signer: str, name: str, count: int) -> None:
    """Send them all concurrently."""
    database.start(url)
    call = Call(signer, "0x", 1)
    intents = [call.intent(f"{name}:{number}", eid=eid, signer=signer) for number in range(count)]
    await asyncio.gather(*(execute(intent) for intent in intents))
    await database.stop()


if __name__ == "__main__":
    url, eid, signer, name, count = sys.argv[1:]
    asyncio.run(main(url, int(eid), signer, name, int(count)))
