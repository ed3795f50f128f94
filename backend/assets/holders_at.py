"""The holders of an asset on a chain at a block: every account that had received it by then, with its balance read from
the chain."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from backend.assets import holders, records
from backend.assets.schemas import Holder, HolderList
from backend.auth.principal import Context
from backend.chain.bindings import token
from backend.chain.errors import RpcError
from backend.chain.indexer import indexer
from backend.chain.rpc.json_rpc import connect
from backend.chain.rpc.terms import confirmations
from backend.core import db
from backend.core.errors import BadRequest, Unavailable
from backend.lists.pages import Page

_RECEIVED = sa.text("""
  select t.address, p.id as party_id, p.name as party_name
  from (select distinct to_address as address from token_transfers
        where asset_id = :asset and chain_eid = :eid and block_number <= :block and to_address > :after
          and to_address <> '0x0000000000000000000000000000000000000000'
          and to_address not in (select market_address from markets
                                 where asset_id = :asset and chain_eid = :eid and market_address is not null)
        order by to_address limit :most) t
  left join parties p on p.organization_id = :org and p.wallet_address = t.address
  order by t.address
""")


@dataclass(frozen=True)
class Moment:
    """An asset's token on a chain at a block."""

    asset_id: UUID
    eid: int
    token: str
    block: int


async def place(context: Context, asset_id: UUID, block: int | None, chain_eid: int | None) -> Moment:
    """Return the token at a block, by default the newest final one; 400 if it is not on the chain or the block is in
    the future."""
    rows = records.active(await records.deployments(context.session, asset_id))
    found = [r for r in rows if chain_eid in (None, r.chain_eid)]
    if len(found) != 1:
        words = "The asset is not on this chain." if not found else "The asset is on several chains."
        raise BadRequest(f"{words} Set chain_eid to the chain of the block.")
    eid, at = found[0].chain_eid, str(found[0].token_address)
    async with db.paused(context.session):
        newest = await (await connect(eid)).height() - confirmations(eid)
        if block is not None and block > newest:
            raise BadRequest(f"Block {newest} is the newest final block on this chain. Request it or an earlier one.")
        moment = Moment(asset_id, eid, at, newest if block is None else block)
        await indexer.catch_up(eid, moment.block)
    return moment


async def page(context: Context, moment: Moment, page: Page) -> HolderList:
    """Return a page of the holders at the block, by address. Accounts that had transferred everything are queried and
    omitted."""
    after, most = page.position(1)[0] if page.cursor else "", page.limit
    found: list[Holder] = []
    while True:
        rows = await _received(context, moment, after, most + 1)
        async with db.paused(context.session):
            held = await _held(moment, rows)
        found += page.kept(await holders.named(context, held))
        if len(found) > most:
            return HolderList(holders=found[:most], nextCursor=page.following(found[most - 1].address))
        if len(rows) <= most:
            return HolderList(holders=found, nextCursor=None)
        after = rows[-1].address


async def _received(context: Context, moment: Moment, after: str, most: int) -> Sequence[Any]:
    values = {"asset": moment.asset_id, "eid": moment.eid, "block": moment.block, "after": after, "most": most}
    return (await context.session.execute(_RECEIVED, values | {"org": context.organization_id})).all()


async def _held(moment: Moment, rows: Sequence[Any]) -> list[Holder]:
    """Return the accounts with holdings, including what markets held for them and what was frozen."""
    if not rows:
        return []
    reads: list[tuple[Any, ...]] = [(token.NAME, moment.token, "treasury")]
    reads += [
        (token.NAME, moment.token, name, r.address)
        for name in ("holdingOf", "balanceOf", "getFrozenTokens")
        for r in rows
    ]
    try:
        treasury, *answer = await (await connect(moment.eid)).read_many(reads, block=moment.block)
    except RpcError as error:
        raise Unavailable(
            "The chain's node does not provide the state of that block. Request a newer block."
        ) from error
    size = len(rows)
    amounts = zip(rows, answer[:size], answer[size : 2 * size], answer[2 * size :], strict=True)
    return [_holder(moment, r, of, treasury) for r, *of in amounts if of[0]]


def _holder(moment: Moment, row: Any, amounts: Sequence[int], treasury: str) -> Holder:
    """Return a holder from its holding, the part in its wallet, and its frozen amount."""
    holding, balance, frozen = amounts
    holder = Holder(
        address=row.address,
        chain_eid=moment.eid,
        balance=str(holding),
        escrowed=str(holding - balance),
        party_id=row.party_id,
        party_name=row.party_name,
        is_treasury=row.address == treasury,
    )
    return holder.model_copy(update=holders.parts(holder, frozen))
