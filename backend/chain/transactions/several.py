"""Execution of several transactions of one wallet: simulated, stored, sent and confirmed in few round trips."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from backend.chain.abi.calls import Intent
from backend.chain.abi.outcome import Outcome
from backend.chain.models import TransactionRow
from backend.chain.rpc.json_rpc import connect
from backend.chain.signing import nonces, signed_transactions
from backend.chain.signing.fees import Terms
from backend.chain.signing.wallet_provider import holder
from backend.chain.transactions import confirmation, quote
from backend.core import db
from backend.core.errors import SignumError

OnStored = Callable[[Mapping[str, str]], Awaitable[None]]
"""Receives the hashes by the intents' keys."""
STRAGGLERS = 60.0
"""Seconds that confirmed transactions wait for others of their wallet, before they are recorded without them."""


async def rehearse(intents: Sequence[Intent]) -> set[str]:
    """Return the keys of the intents of one wallet that would pass one after the other, and that it can pay for."""
    found = await quote.terms_of_all(await connect(intents[0].chain_eid), intents)
    return {intent.key for intent, one in zip(intents, found, strict=True) if isinstance(one, Terms)}


async def execute(intents: Sequence[Intent], on_stored: OnStored) -> Mapping[str, Outcome]:
    """Send and confirm new intents of one wallet; return the outcomes by key. Those that the chain refuses, or whose
    result is not known yet, have none: `backend.chain.transactions.execution.execute` continues each of them, and
    raises why.

    Do not call it inside an open transaction. `on_stored` receives all hashes before the confirmations, and the hash of
    each replacement. Raises ChainUnavailable, BadRequest.
    """
    first = intents[0]
    await holder(first.signer)
    found = await quote.terms_of_all(await connect(first.chain_eid), intents)
    priced = [(intent, one) for intent, one in zip(intents, found, strict=True) if isinstance(one, Terms)]
    if not priced:
        return {}
    rows = await _store(priced)
    await on_stored({row.key: row.tx_hash for row in rows})
    outcomes = dict[str, Outcome]()
    for row, end in zip(rows, await _ends(rows, on_stored), strict=True):
        if isinstance(end, Outcome):
            outcomes[row.key] = end
        elif isinstance(end, Exception):
            raise end
    return outcomes


async def _ends(rows: Sequence[TransactionRow], on_stored: OnStored) -> Sequence[Outcome | BaseException | None]:
    """Return how each transaction ended; an exception for one that is not confirmed in time, which stays open."""
    tasks = [asyncio.create_task(_finish(row, on_stored)) for row in rows]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait(tasks, timeout=STRAGGLERS)
    finally:
        for task in tasks:
            task.cancel()
        ends = await asyncio.gather(*tasks, return_exceptions=True)
    return ends


async def _store(priced: Sequence[tuple[Intent, Terms]]) -> Sequence[TransactionRow]:
    """Sign and store the transactions under successive nonces."""
    first, terms = priced[0]
    async with db.worker(is_owned=True) as session:
        start = await nonces.take(session, first.chain_eid, first.signer, terms.mined, len(priced))
        signed = [signed_transactions.signed(intent, one, start + place) for place, (intent, one) in enumerate(priced)]
        rows = await asyncio.gather(*signed)
        session.add_all(rows)
    return rows


async def _finish(row: TransactionRow, on_stored: OnStored) -> Outcome | None:
    async def replaced(tx_hash: str) -> None:
        await on_stored({row.key: tx_hash})

    try:
        return await confirmation.finish(row, replaced)
    except SignumError:
        return None
