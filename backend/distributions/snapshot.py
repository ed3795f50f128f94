"""Who held an asset on a chain at a block: the addresses of the indexed transfers, each asked of the chain then."""

from collections.abc import Sequence
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend import db
from backend.assets.checking import Place
from backend.auth.principal import Context
from backend.chain import endpoints, indexer, token
from backend.chain.errors import RpcError
from backend.chain.models import TokenTransferRow
from backend.chain.rpc import connect
from backend.distributions.models import DistributionRow
from backend.distributions.recipients import Recipients, of_pairs
from backend.distributions.rules import shares
from backend.distributions.schemas import HoldersAt
from backend.errors import BadRequest, Conflict, Unavailable

BATCH = 500
ZERO = "0x" + "0" * 40


async def recipients(context: Context, asset_id: UUID, place: Place, wanted: HoldersAt) -> Recipients:
    """The holders at a block with their shares, largest first. 400 for a block to come, 409 if nobody gets anything."""
    async with db.paused(context.session):
        newest = await (await connect(place.eid)).height() - endpoints.confirmations(place.eid)
        block = newest if wanted.block is None else wanted.block
        if block > newest:
            raise BadRequest(f"Block {newest} is the newest that is final on this chain.", pointer="/holders/block")
        await indexer.catch_up(place.eid, block)
    addresses = await _addresses(context, asset_id, place, block)
    async with db.paused(context.session):
        holdings = await _holdings(place, addresses, block)
    parts = sorted(shares(int(wanted.total_amount), holdings).items(), key=lambda p: (-p[1], p[0]))
    if not parts:
        raise Conflict("Nobody but the treasury held the asset then, or the sum is too small to be shared.")
    return of_pairs([who for who, _ in parts], [part for _, part in parts])


async def _addresses(context: Context, asset_id: UUID, place: Place, block: int) -> list[str]:
    """Everybody who ever received the token up to a block, but for the zero address and the distributors."""
    distributors = sa.select(col(DistributionRow.distributor_address)).where(
        col(DistributionRow.chain_eid) == place.eid, col(DistributionRow.distributor_address).is_not(None)
    )
    query = sa.select(col(TokenTransferRow.to_address)).where(
        col(TokenTransferRow.asset_id) == asset_id,
        col(TokenTransferRow.chain_eid) == place.eid,
        col(TokenTransferRow.block_number) <= block,
        col(TokenTransferRow.to_address) != ZERO,
        col(TokenTransferRow.to_address).not_in(distributors),
    )
    return list(await context.session.scalars(query.distinct()))


async def _holdings(place: Place, addresses: Sequence[str], block: int) -> dict[str, int]:
    """What each of them owned at a block, with what markets held for it; nothing for the treasury of then."""
    rpc, found = await connect(place.eid), dict[str, int]()
    try:
        for first in range(0, len(addresses), BATCH):
            part = addresses[first : first + BATCH]
            reads = [(token.NAME, place.token, "holdingOf", who) for who in part]
            found |= zip(part, await rpc.read_many(reads, block=block), strict=True)
        if found:
            found.pop(await rpc.read(token.NAME, place.token, "treasury", block=block), None)
    except RpcError as error:
        raise Unavailable("The chain's node does not tell the state of that block.") from error
    return found
