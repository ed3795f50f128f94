"""The cap table at a time, and its comparison with an earlier one."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from backend.assets import holders, records
from backend.assets.models import AssetRow
from backend.auth.principal import Context
from backend.cap_table import moments, rules, table
from backend.cap_table.moments import Moment, Supply
from backend.cap_table.schemas import (
    CapTable,
    CapTableChain,
    CapTableHolder,
    ChainBalance,
    Concentration,
    CountryShare,
    HoldingChange,
    HoldingChanges,
    InTransit,
)
from backend.chain.devnet import clock
from backend.core import db
from backend.core.addresses import ZERO_ADDRESS
from backend.core.errors import BadRequest
from backend.core.fields import MAX_UINT256
from backend.lists.pages import Listing, Page
from backend.wallets import known_names

LIST = Listing()
"""Largest first."""
_READ, _READ_MANY, _MEMORY = sa.text(table.READ), sa.text(table.READ_MANY), sa.text(table.MEMORY)
_IN_TRANSIT = sa.text(table.IN_TRANSIT)
_SINCE = sa.text("select min(created_at) from token_transfers where asset_id = :asset and from_address = :zero")


@dataclass(frozen=True)
class Question:
    """A query of a cap table: its time (None for now), the earlier one, and which changes are listed."""

    as_of: datetime | None = None
    compare_with: datetime | None = None
    change: HoldingChange | None = None


async def read(context: Context, asset_id: UUID, asked: Question, page: Page) -> CapTable:
    """Return the cap table with a page of its holders, largest first. 400 for times in the future or in the wrong
    order."""
    now = clock.chain_now()
    _check(asked, now)
    asset = await records.asset(context.session, context.organization_id, asset_id)
    rows = records.active(await records.deployments(context.session, asset_id))
    current = await moments.at(context, asset_id, rows, asked.as_of)
    earlier = [] if asked.compare_with is None else await moments.at(context, asset_id, rows, asked.compare_with)
    is_large = await holders.number(context.session, asset_id) > holders.MANY
    if is_large:
        await context.session.execute(_MEMORY)
    values = _values(context, asset_id, asked, page, current, earlier)
    found = await context.session.scalar(_READ_MANY if is_large else _READ, values)
    async with db.paused(context.session):
        supplies = await asyncio.gather(*(moments.supply(moment) for moment in current))
    chains = await _chains(context, current, supplies, found["chains"])
    transit = await _in_transit(context, asset_id, current)
    since = await context.session.scalar(_SINCE, {"asset": asset_id, "zero": ZERO_ADDRESS})
    listed = await _holders(context, found["rows"][: page.limit], compares=asked.compare_with is not None)
    return CapTable(
        as_of=asked.as_of or now,
        compare_with=asked.compare_with,
        since=since and since.astimezone(UTC),
        chains=chains,
        in_transit=transit,
        changes=None if asked.compare_with is None else HoldingChanges(**found["changes"]),
        holders=listed,
        estimatedCount=found["found"] if page.wants_count else None,
        nextCursor=_cursor(page, found["rows"][page.limit - 1]) if len(found["rows"]) > page.limit else None,
        **_sums(asset, found),
    )


def _check(asked: Question, now: datetime) -> None:
    for name in ("as_of", "compare_with"):
        time = getattr(asked, name)
        if time is not None and time > now:
            raise BadRequest(f"{name} is in the future. It is {now:%Y-%m-%d %H:%M} UTC on the chains.")
    if asked.compare_with is not None and asked.compare_with >= (asked.as_of or now):
        raise BadRequest("compare_with must be before as_of.")
    if asked.change is not None and asked.compare_with is None:
        raise BadRequest("change requires compare_with. Send both.")


def _values(
    context: Context,
    asset_id: UUID,
    asked: Question,
    page: Page,
    current: Sequence[Moment],
    earlier: Sequence[Moment],
) -> dict[str, Any]:
    balance, before, address = _decoded(page) if page.cursor else (None, None, None)
    blocks = {moment.eid: moment.block for moment in earlier}
    return {
        "asset": asset_id,
        "org": context.organization_id,
        "zero": ZERO_ADDRESS,
        "eids": [moment.eid for moment in current],
        "blocks": [moment.block for moment in current],
        "earlier": [blocks.get(moment.eid) for moment in current],
        "compares": asked.compare_with is not None,
        "change": asked.change,
        "search": page.q or None,
        "balance": balance,
        "before": before,
        "address": address,
        "most": page.limit + 1,
    }


def _sums(asset: AssetRow, found: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that concern all holders, and all investors."""
    investors, balance = found["investors"], int(found["investors"]["balance"])
    tops = {f"top_{n}_bps": rules.share(int(investors[f"top_{n}"]), balance) for n in (1, 5, 10)}
    countries = [
        CountryShare(**country, share_bps=rules.share(int(country["balance"]), balance))
        for country in found["countries"]
    ]
    return {
        "symbol": asset.symbol,
        "decimals": asset.decimals,
        **found["sums"],
        "investors": investors["count"],
        "investors_balance": investors["balance"],
        "concentration": Concentration(**tops),
        "countries": countries,
    }


async def _chains(
    context: Context, current: Sequence[Moment], supplies: Sequence[Supply], sums: dict[str, Any]
) -> list[CapTableChain]:
    names = await records.chain_names(context.session)
    nothing: dict[str, Any] = {"held": "0", "escrowed": "0", "frozen": "0", "holders": 0}
    return [
        CapTableChain(
            chain_eid=moment.eid,
            chain_name=names.get(moment.eid, str(moment.eid)),
            block=moment.block,
            block_time=moment.time,
            supply=None if supply.amount is None else str(supply.amount),
            supply_from=supply.source,
            agrees=None
            if supply.amount is None
            else supply.amount == int((sums.get(str(moment.eid)) or nothing)["held"]),
            **(sums.get(str(moment.eid)) or nothing),
        )
        for moment, supply in zip(current, supplies, strict=True)
    ]


async def _in_transit(context: Context, asset_id: UUID, current: Sequence[Moment]) -> list[InTransit]:
    values = {"asset": asset_id, "org": context.organization_id, "zero": ZERO_ADDRESS}
    values |= {"eids": [moment.eid for moment in current], "blocks": [moment.block for moment in current]}
    rows = await context.session.execute(_IN_TRANSIT, values)
    return [
        InTransit(
            source_chain_eid=row.source_chain_eid,
            destination_chain_eid=row.destination_chain_eid,
            amount=str(int(row.amount)),
        )
        for row in rows
    ]


async def _holders(context: Context, rows: Sequence[dict[str, Any]], *, compares: bool) -> list[CapTableHolder]:
    names = await known_names.known(context.session, context.organization_id, {row["address"] for row in rows})
    return [
        CapTableHolder(
            **{
                **row,
                "earlier": row["earlier"] if compares else None,
                "chains": [ChainBalance(**chain) for chain in row["chains"]],
                "kind": names[row["address"]].kind,
                "name": names[row["address"]].name,
            }
        )
        for row in rows
    ]


def _cursor(page: Page, row: dict[str, Any]) -> str:
    return page.following(row["balance"], row["earlier"], row["address"])


def _decoded(page: Page) -> tuple[int, int, str]:
    balance, earlier, address = page.position(3)
    try:
        if max(int(balance), int(earlier)) > MAX_UINT256 or not address.isprintable():
            raise ValueError("out of range")
        return int(balance), int(earlier), address
    except ValueError as error:
        raise BadRequest("The cursor is not valid for this list. Start again without one.") from error
