"""Repairs: restore table rows by re-reading a chain. The chain is never written."""

from collections.abc import Awaitable, Callable, Iterable, Sequence

import structlog

from backend.chain.indexer import indexer
from backend.chain.indexer.reread import reread
from backend.chain.indexer.streams import Unreadable
from backend.core.errors import SignumError
from backend.reconciliation import readback, transactions
from backend.reconciliation.differences import Difference, contract_of

log = structlog.get_logger()
Repair = Callable[[int, Sequence[Difference]], Awaitable[None]]


async def repair(eid: int, differences: Sequence[Difference]) -> None:
    """Repair a chain's differences as far as possible. A repair that fails does not block the others."""
    for names, work in _REPAIRS.items():
        theirs = [difference for difference in differences if difference.kind in names]
        if theirs:
            await _try(eid, " and ".join(names), work(eid, theirs))
    # A pass that starts now applies the consequences of the rows, such as halting a market.
    await _try(eid, "follow-ups", indexer.catch_up(eid, 0))


async def _try(eid: int, kinds: str, work: Awaitable[None]) -> None:
    try:
        await work
    except SignumError as error:
        log.warning("reconciliation.repair_failed", eid=eid, kinds=kinds, error=error.detail)


async def _reread(eid: int, differences: Sequence[Difference]) -> None:
    """Read the logs of each contract again."""
    await read_again(eid, sorted({contract_of(difference) for difference in differences}))


async def read_again(eid: int, addresses: Iterable[str]) -> set[str]:
    """Read the logs of some contracts again; return those whose logs can be written. A contract that fails does not
    block the others. Raises ChainUnavailable and RpcError."""
    written = set[str]()
    for address in addresses:
        try:
            await reread(eid, address)
        except Unreadable as error:
            log.warning("reconciliation.unreadable", eid=eid, address=address, error=type(error.__cause__).__name__)
        else:
            written.add(address)
    return written


async def _markets(eid: int, differences: Sequence[Difference]) -> None:
    """Read the logs of markets and of their tokens and quote again, and the markets' terms back."""
    await _reread(eid, differences)
    addresses = sorted({contract_of(difference) for difference in differences})
    await readback.markets(eid, addresses)
    await read_again(eid, await readback.tokens_of(eid, addresses))


async def _tokens(eid: int, differences: Sequence[Difference]) -> None:
    """Read the logs of tokens again, and their rules back."""
    await _reread(eid, differences)
    await readback.rules(eid, sorted({contract_of(difference) for difference in differences}))


_REPAIRS: dict[tuple[str, ...], Repair] = {
    ("token", "balance"): _tokens,
    ("market", "order"): _markets,
    ("distribution",): _reread,
    ("attester",): readback.attesters,
    ("attestation",): readback.attestations,
    (transactions.TRANSACTION, transactions.REQUEST): transactions.correct,
}
"""By kind of difference, in the order of repair."""
