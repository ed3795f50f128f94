"""Recipients and their tree in the database: written once, read by one address at a time."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from backend.auth.principal import Context
from backend.core.db import Write
from backend.core.errors import NotFound
from backend.distributions.merkle import WORD, MerkleTree, siblings
from backend.distributions.models import ClaimRow, DistributionRow, RecipientRow, TreePartRow
from backend.distributions.recipients import Recipients
from backend.distributions.schemas import Proof

PART = 512
"""Nodes per row, so that a proof reads at most a few hundred KB."""
BATCH = 20_000
_INSERT = sa.text("""
  insert into distribution_recipients (organization_id, distribution_id, index, address, amount, node)
  select :organization, :distribution, :first + r.place - 1, r.address, cast(r.amount as numeric), r.node
  from unnest(cast(:addresses as text[]), cast(:amounts as text[]), cast(:nodes as bigint[]))
    with ordinality as r (address, amount, node, place)
""")


async def store(session: Write, row: DistributionRow, recipients: Recipients, tree: MerkleTree) -> None:
    """Write the recipients of a new distribution and every node of their tree."""
    nodes = tree.leaf_nodes.tolist()
    owner = {"organization": row.organization_id, "distribution": row.id}
    for first in range(0, len(nodes), BATCH):
        part = slice(first, first + BATCH)
        values = {"first": first, "addresses": recipients.addresses[part], "nodes": nodes[part]}
        values["amounts"] = [str(amount) for amount in recipients.amounts[part]]
        await session.execute(_INSERT, owner | values)
    await _store_tree(session, row, tree.nodes)


async def _store_tree(session: Write, row: DistributionRow, nodes: bytes) -> None:
    size = PART * WORD
    owner = {"organization_id": row.organization_id, "distribution_id": row.id}
    rows = [owner | {"part": n // size, "nodes": nodes[n : n + size]} for n in range(0, len(nodes), size)]
    for first in range(0, len(rows), 200):
        await session.execute(sa.insert(TreePartRow), rows[first : first + 200])


async def proof(context: Context, row: DistributionRow, address: str) -> Proof:
    """Return what an address passes to `claim`; 404 if it is not a recipient, or the recipients are unknown."""
    return await of(context.session, row, address)


async def of(session: AsyncSession, row: DistributionRow, address: str) -> Proof:
    """Return the proof as `proof` does, for a workflow."""
    if not row.has_recipients:
        raise NotFound("The distribution was activated with only a root. Its recipients are unknown here.")
    found = await _recipient(session, row.id, address)
    if found is None:
        raise NotFound("This address is not a recipient of the distribution.")
    return Proof(
        index=found.index,
        address=found.address,
        amount=str(int(found.amount)),
        proof=await _path(session, row.id, found.node),
        claimed=found.claimed,
    )


async def _recipient(session: AsyncSession, distribution_id: UUID, address: str) -> Any:
    claimed = sa.exists().where(
        col(ClaimRow.distribution_id) == distribution_id, col(ClaimRow.index) == col(RecipientRow.index)
    )
    query = sa.select(
        col(RecipientRow.index),
        col(RecipientRow.address),
        col(RecipientRow.amount),
        col(RecipientRow.node),
        claimed.label("claimed"),
    ).where(col(RecipientRow.distribution_id) == distribution_id, col(RecipientRow.address) == address)
    return (await session.execute(query)).one_or_none()


async def _path(session: AsyncSession, distribution_id: UUID, node: int) -> list[str]:
    query = sa.select(col(TreePartRow.part), col(TreePartRow.nodes)).where(
        col(TreePartRow.distribution_id) == distribution_id, col(TreePartRow.part).in_(parts_of(node))
    )
    return path_of(node, {row.part: bytes(row.nodes) for row in await session.execute(query)})


def parts_of(node: int) -> set[int]:
    """Return the parts of a tree that prove a node."""
    return {sibling // PART for sibling in siblings(node)}


def path_of(node: int, parts: Mapping[int, bytes]) -> list[str]:
    """Return the proof of a node from the parts of its tree."""
    return [f"0x{_node(parts[n // PART], n % PART)}" for n in siblings(node)]


def _node(part: bytes, place: int) -> str:
    return part[place * WORD : (place + 1) * WORD].hex()
