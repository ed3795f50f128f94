"""The hierarchy as the registry on a chain has it: a token trusts the issuers of its organization's ancestors.

The database is the truth; the chain follows. Whoever writes last looks at the database once more afterwards, so that
a registration and a move at the same time leave the chain right whichever comes second.
"""

import asyncio
from uuid import UUID

import sqlalchemy as sa

from backend.chain import registry
from backend.chain.codec import organization_key
from backend.chain.deployment import contracts_of, operator
from backend.chain.transactions import execute
from backend.errors import Conflict
from backend.workflows import Run

ROUNDS = 8
"""How often the hierarchy may change under our hands before we give up."""


async def path_of(run: Run, organization_id: UUID) -> list[tuple[UUID, UUID | None]]:
    """The organization and its ancestors with their parents, outermost first."""
    async with run.transaction() as session:
        found = await session.execute(
            sa.text("select id, parent_id from signum_path(:id) order by height desc"), {"id": organization_id}
        )
        return [(row.id, row.parent_id) for row in found]


async def is_known(eid: int, organization_id: UUID) -> bool:
    """Whether a chain has this organization below another one."""
    at = (await contracts_of(eid)).registry
    return bool(int(await registry.parent_of(eid, at, organization_id), 16))


async def write(run: Run, eid: int, organization_id: UUID) -> str | None:
    """Write the path above an organization to a chain, as far as it differs. The hash of the last transaction.

    Outermost first: what the chain still has of an old order can then not look like a cycle.
    """
    at, last = (await contracts_of(eid)).registry, None
    for turn in range(ROUNDS):
        wrong = await _differing(run, eid, at, organization_id)
        if not wrong:
            return last
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


async def _differing(run: Run, eid: int, at: str, organization_id: UUID) -> list[tuple[UUID, UUID | None]]:
    path = await path_of(run, organization_id)
    told = await asyncio.gather(*(registry.parent_of(eid, at, child) for child, _ in path))
    wanted = [int.from_bytes(organization_key(parent)) if parent else 0 for _, parent in path]
    return [step for step, is_now, should in zip(path, told, wanted, strict=True) if int(is_now, 16) != should]
