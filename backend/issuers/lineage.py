"""The hierarchy as recorded by the registry on a chain: a token trusts the issuers of its organization's ancestors.

The database is authoritative; the chain follows. The last writer checks the database again after writing, so that a
registration and a move at the same time leave the chain correct in either order.

The operator pays for these transactions. A request counts them when it is accepted (`unwritten`, `noted`). Transactions
that turn out to be needed later, because the hierarchy changed or the request is retried, are counted before they are
signed.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth import operator_paid
from backend.chain.abi.codec import organization_key
from backend.chain.bindings import registry
from backend.chain.deployment.contracts import contracts_of, operator
from backend.chain.transactions.execution import execute
from backend.core import db
from backend.core.db import Write
from backend.core.errors import Conflict, SignumError
from backend.requests.models import RequestRow
from backend.requests.resolved_values import COUNTED
from backend.requests.runs import Run
from backend.requests.schemas import FINAL

ROUNDS = 8
"""How often the hierarchy may change during a write before it fails."""
Path = Sequence[tuple[UUID, UUID | None]]
"""An organization and its ancestors with their parents, outermost first."""


async def path_of(session: Write, organization_id: UUID) -> Path:
    """Return the path above an organization."""
    found = await session.execute(
        sa.text("select id, parent_id from signum_path(:id) order by height desc"), {"id": organization_id}
    )
    return [(row.id, row.parent_id) for row in found]


async def unwritten(session: Write, path: Path, eids: Iterable[int]) -> dict[int, int]:
    """Return the number of transactions needed to write a path to some chains: 0 for a chain that does not answer, and
    if a running request of the organization has already counted them. The session's transaction is paused during the
    chain reads."""
    asked = list(eids)
    under_way = await _under_way(session, path[-1][0]) if asked else set()
    async with db.paused(session):
        missing = await asyncio.gather(*(_missing(eid, path) for eid in asked))
    return {eid: 0 if eid in under_way else count for eid, count in zip(asked, missing, strict=True)}


async def _under_way(session: Write, organization_id: UUID) -> set[int]:
    """Return the chains to which an unfinished request of an organization writes its path."""
    counted = col(RequestRow.arguments)[COUNTED]
    found = await session.scalars(
        sa.select(counted).where(
            col(RequestRow.organization_id) == organization_id,
            col(RequestRow.status).not_in(FINAL),
            counted.is_not(None),
        )
    )
    return {int(eid) for one in found for eid, count in one.items() if count}


async def _missing(eid: int, path: Path) -> int:
    try:
        return len(await _differing(eid, (await contracts_of(eid)).registry, path))
    except SignumError:
        return 0


def noted(missing: Mapping[int, int]) -> dict[str, Any]:
    """Return the transaction counts in a request's arguments."""
    return {COUNTED: {str(eid): count for eid, count in missing.items()}}


async def is_known(eid: int, organization_id: UUID) -> bool:
    """Return whether a chain records this organization below another one."""
    at = (await contracts_of(eid)).registry
    return bool(int(await registry.parent_of(eid, at, organization_id), 16))


async def write(run: Run, eid: int, organization_id: UUID) -> str | None:
    """Write the path above an organization to a chain, as far as it differs. Return the hash of the last transaction.

    Outermost first, so that remains of an old order on the chain cannot form a cycle.
    """
    at, last = (await contracts_of(eid)).registry, None
    # A retry counts its own transactions: those its request counted may already have been sent.
    counted = int(run.arguments.get(COUNTED, {}).get(str(eid), 0)) if run.attempt == 1 else 0
    for turn in range(ROUNDS):
        async with run.transaction() as session:
            path = await path_of(session, organization_id)
        wrong = await _differing(eid, at, path)
        if not wrong:
            return last
        async with run.transaction() as session:
            await operator_paid.count_more(session, organization_id, len(wrong) - counted)
        counted = max(0, counted - len(wrong))
        for child, parent in wrong:
            last = await _set(run, eid, at, child, parent, turn)
    raise Conflict("The hierarchy above this organization keeps changing.")


async def _set(run: Run, eid: int, at: str, child: UUID, parent: UUID | None, turn: int) -> str:
    intent = registry.set_parent(at, child, parent).intent(
        run.key("parent", eid, child, parent, turn),
        eid=eid,
        signer=await operator(),
        organization_id=run.organization_id,
        request_id=run.request_id,
        label="set parent",
    )
    return (await execute(intent)).tx_hash


async def _differing(eid: int, at: str, path: Path) -> Path:
    response = await asyncio.gather(*(registry.parent_of(eid, at, child) for child, _ in path))
    wanted = [int.from_bytes(organization_key(parent)) if parent else 0 for _, parent in path]
    return [step for step, is_now, should in zip(path, response, wanted, strict=True) if int(is_now, 16) != should]
