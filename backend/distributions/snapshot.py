"""Holders of an asset on a chain at a block: the addresses of the indexed transfers, with balances read from the chain
at that block."""

from collections.abc import Sequence
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.assets.transfer_check import Place
from backend.auth.principal import Context
from backend.chain.bindings import token
from backend.chain.errors import RpcError
from backend.chain.indexer import indexer
from backend.chain.models import TokenTransferRow
from backend.chain.rpc.json_rpc import connect
from backend.chain.rpc.terms import confirmations
from backend.core import db
from backend.core.addresses import ZERO_ADDRESS
from backend.core.errors import BadRequest, Conflict, Unavailable
from backend.distributions.models import DistributionRow
from backend.distributions.recipients import Recipients, of_pairs
from backend.distributions.rules import shares
from backend.distributions.schemas import HoldersAt

BATCH = 500


async def recipients(context: Context, asset_id: UUID, place: Place, wanted: HoldersAt) -> Recipients:
    """Return the holders at a block with their shares, largest first. 400 for a future block, 409 if no one gets
    anything."""
    async with db.paused(context.session):
        newest = await (await connect(place.eid)).height() - confirmations(place.eid)
        block = newest if wanted.block is None else wanted.block
        if block > newest:
            raise BadRequest(
                (f"Block {newest} is the newest final block on this chain. Request it or an earlier one."),
                pointer="/holders/block",
            )
        await indexer.catch_up(place.eid, block)
    addresses = await _addresses(context, asset_id, place, block)
    async with db.paused(context.session):
        holdings = await _holdings(place, addresses, block)
    parts = sorted(shares(int(wanted.total_amount), holdings).items(), key=lambda p: (-p[1], p[0]))
    if not parts:
        raise Conflict("Only the treasury held the asset at that block, or the sum is too small to be shared.")
    return of_pairs([who for who, _ in parts], [part for _, part in parts])


async def _addresses(context: Context, asset_id: UUID, place: Place, block: int) -> list[str]:
    """Return every address that ever received the token up to a block, except the zero address and the distributors."""
    distributors = sa.select(col(DistributionRow.distributor_address)).where(
        col(DistributionRow.chain_eid) == place.eid, col(DistributionRow.distributor_address).is_not(None)
    )
    query = sa.select(col(TokenTransferRow.to_address)).where(
        col(TokenTransferRow.asset_id) == asset_id,
        col(TokenTransferRow.chain_eid) == place.eid,
        col(TokenTransferRow.block_number) <= block,
        col(TokenTransferRow.to_address) != ZERO_ADDRESS,
        col(TokenTransferRow.to_address).not_in(distributors),
    )
    return list(await context.session.scalars(query.distinct()))


async def _holdings(place: Place, addresses: Sequence[str], block: int) -> dict[str, int]:
    """Return each address's holding at a block, including what markets held for it; none for the treasury at that
    time."""
    rpc, found = await connect(place.eid), dict[str, int]()
    try:
        for first in range(0, len(addresses), BATCH):
            part = addresses[first : first + BATCH]
            reads = [(token.NAME, place.token, "holdingOf", who) for who in part]
            found |= zip(part, await rpc.read_many(reads, block=block), strict=True)
        if found:
            found.pop(await rpc.read(token.NAME, place.token, "treasury", block=block), None)
    except RpcError as error:
        raise Unavailable(
            "The chain's node does not provide the state of that block. Request a newer block."
        ) from error
    return found
