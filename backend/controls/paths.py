"""Pause and limit of an asset's bridge paths: read, and planned as controls over the tokens at both ends."""

import asyncio
from itertools import permutations
from uuid import UUID

from backend.assets import records
from backend.assets.rules import SHARED_DECIMALS
from backend.assets.transfer_check import Place
from backend.auth.principal import Context
from backend.chain.bindings import token
from backend.chain.bindings.token import PathState
from backend.controls import facts, rules
from backend.controls.schemas import AssetPath, Change, ControlKind, LimitPath, PausePath
from backend.controls.wording import Wording
from backend.core import db
from backend.core.errors import BadRequest, Conflict


async def all_of(context: Context, asset_id: UUID) -> list[AssetPath]:
    """Return every path between the asset's active tokens, as read from the chains now."""
    await records.asset(context.session, context.organization_id, asset_id)
    rows = records.active(await records.deployments(context.session, asset_id))
    async with db.paused(context.session):
        return list(
            await asyncio.gather(
                *(
                    _shown(one.chain_eid, str(one.token_address), other.chain_eid)
                    for one, other in permutations(rows, 2)
                )
            )
        )


async def _shown(eid: int, at: str, other_eid: int) -> AssetPath:
    state = await token.path(eid, at, other_eid)
    is_limited = state.window != 0
    return AssetPath(
        chain_eid=eid,
        other_chain_eid=other_eid,
        is_paused=state.is_paused,
        limit=str(state.limit) if is_limited else None,
        window_seconds=state.window if is_limited else None,
        available=str(state.available) if is_limited else None,
    )


async def ends(
    context: Context, asset_id: UUID, kind: ControlKind, body: PausePath | LimitPath
) -> tuple[list[tuple[Place, str]], list[Change]]:
    """Return the ends of a path that a control changes, with their owners and the changes. 409 if nothing would
    change."""
    if body.source_chain_eid == body.destination_chain_eid:
        raise BadRequest("A path must lead to another chain.", pointer="/destination_chain_eid")
    asset = await records.asset(context.session, context.organization_id, asset_id)
    if isinstance(body, LimitPath):
        rules.check_limit(int(body.amount), 10 ** (asset.decimals - SHARED_DECIMALS))
    eids = (body.source_chain_eid, body.destination_chain_eid)
    places = [(await facts.places(context, asset_id, eid))[0] for eid in eids]
    async with db.paused(context.session):
        states = [
            await token.path(place.eid, place.token, other) for place, other in zip(places, reversed(eids), strict=True)
        ]
        able = [(place, state) for place, state in zip(places, states, strict=True) if _differs(kind, body, state)]
        if not able:
            raise Conflict(_NOTHING[kind])
        owners = [await token.owner(place.eid, place.token) for place, _ in able]
    words = Wording(asset.symbol, asset.decimals)
    changes = [_change(place, body, kind, state, words) for place, state in able]
    return [(place, owner) for (place, _), owner in zip(able, owners, strict=True)], changes


_NOTHING = {
    ControlKind.PAUSE_PATH: "The path is already paused.",
    ControlKind.UNPAUSE_PATH: "The path is not paused.",
    ControlKind.LIMIT_PATH: "The path already has this limit.",
}


def _differs(kind: ControlKind, body: PausePath | LimitPath, state: PathState) -> bool:
    if isinstance(body, LimitPath):
        return _terms(body) != (state.limit, state.window)
    return state.is_paused is not (kind is ControlKind.PAUSE_PATH)


def _terms(body: LimitPath) -> tuple[int, int]:
    amount = int(body.amount)
    return amount, body.window_seconds if amount else 0


def _change(place: Place, body: PausePath | LimitPath, kind: ControlKind, state: PathState, wording: Wording) -> Change:
    if isinstance(body, LimitPath):
        limits = (wording.limit(state.limit, state.window), wording.limit(*_terms(body)))
        return Change(chain_eid=place.eid, field="limit", before=limits[0], after=limits[1])
    stops = kind is ControlKind.PAUSE_PATH
    words = ("open", "paused") if stops else ("paused", "open")
    return Change(chain_eid=place.eid, field="path", before=words[0], after=words[1])
