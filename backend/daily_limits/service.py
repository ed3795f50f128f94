"""Read and change the daily limits of an asset. Only a second person can let a limit be raised or removed."""

from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.approvals import second_person
from backend.assets import records
from backend.assets.models import AssetRow
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.changes import tell
from backend.daily_limits import counting, rules
from backend.daily_limits.models import DailyLimitRow
from backend.daily_limits.schemas import (
    DailyLimit,
    DailyLimits,
    DailyLimitsAccepted,
    DailyLimitsImpact,
    DailyLimitsPlan,
    DailyLimitsUpdate,
    LimitChange,
    LimitedAction,
)
from backend.db import Write
from backend.errors import BadRequest, Conflict
from backend.requests.accept import accept, told
from backend.requests.models import RequestRow
from backend.requests.service import Step

KIND = "asset.limits"
STEP = "Change the daily limits"
Changes = dict[LimitedAction, tuple[int | None, int | None]]


@dataclass(frozen=True)
class _Wish:
    asset: AssetRow
    changes: Changes
    weakens: bool
    agreeing: Scope | None
    """The scope of the second person who has to agree; None where nobody has to, or nobody could."""


async def read(context: Context, asset_id: UUID) -> DailyLimits:
    """The limit of each action, and what is left of it."""
    await records.asset(context.session, context.organization_id, asset_id)
    held = await _limits(context.session, asset_id)
    limits = []
    for action in LimitedAction:
        limit = held.get(action)
        used = await counting.used_of(context.session, asset_id, action)
        left = None if limit is None else str(rules.available(limit, used))
        limits.append(DailyLimit(action=action, limit=_shown(limit), used=str(used), available=left))
    return DailyLimits(limits=limits)


async def plan(context: Context, asset_id: UUID, patch: DailyLimitsUpdate) -> DailyLimitsPlan:
    """What a change would change. Raises NotFound, and BadRequest where it changes nothing."""
    wish = await _wish(context, asset_id, patch)
    changes = [LimitChange(action=a, before=_shown(old), after=_shown(new)) for a, (old, new) in wish.changes.items()]
    steps = ["A second person agrees", STEP] if wish.agreeing else [STEP]
    impact = DailyLimitsImpact(changes=changes, needs_second_person=wish.agreeing is not None)
    return DailyLimitsPlan(steps=steps, impact=impact)


async def update(context: Context, asset_id: UUID, patch: DailyLimitsUpdate) -> DailyLimitsAccepted:
    """The request that changes the limits. It waits for a second person where a limit is raised or removed."""
    wish = await _wish(context, asset_id, patch)
    request = await accept(
        context,
        KIND,
        f"Change the daily limits of {wish.asset.symbol}",
        subject=("asset", asset_id),
        scope=wish.agreeing or Scope.ORGS_WRITE,
        order=f"limits:{asset_id}",
        steps=[Step("limits_changed", STEP)],
        arguments={
            "limits": {action: str(after or 0) for action, (_, after) in wish.changes.items()},
            "may_weaken": wish.weakens,
        },
        always_asks=wish.agreeing is not None,
    )
    message = told(request, f"The daily limits of {wish.asset.symbol} change.")
    return DailyLimitsAccepted(assetId=asset_id, status=request.status, request_id=str(request.id), message=message)


async def write(session: Write, request: RequestRow) -> None:
    """Write what a request asks for, and record it. Raises Conflict where it would raise or remove a limit that was
    lower or absent when the request was accepted: nobody agreed to that."""
    asset_id = request.subject_id
    await session.get_one(AssetRow, asset_id, with_for_update=True)
    held = await _limits(session, asset_id)
    changes = rules.changed(held, {LimitedAction(a): int(n) for a, n in request.arguments["limits"].items()})
    if not request.arguments["may_weaken"] and any(rules.weakens(*pair) for pair in changes.values()):
        raise Conflict("A lower limit was set in the meantime. Change the limits again.")
    for action, (before, after) in changes.items():
        of_action = sa.and_(col(DailyLimitRow.asset_id) == asset_id, col(DailyLimitRow.action) == action)
        if after is None:
            await session.execute(sa.delete(DailyLimitRow).where(of_action))
        elif before is None:
            new = DailyLimitRow(organization_id=request.organization_id, asset_id=asset_id, action=action, amount=after)
            session.add(new)
        else:
            await session.execute(sa.update(DailyLimitRow).where(of_action).values(amount=after))
    if changes:
        old, new_ = ({str(a): _shown(pair[i]) for a, pair in changes.items()} for i in (0, 1))
        await tell(session, request.organization_id, "asset.limits_changed", ("asset", asset_id), old, new_)


async def _wish(context: Context, asset_id: UUID, patch: DailyLimitsUpdate) -> _Wish:
    session, here = context.session, context.organization_id
    asset = await records.asset(session, here, asset_id, lock=True)
    wanted = {LimitedAction(name): int(value) for name, value in patch.model_dump(exclude_unset=True).items()}
    changes = rules.changed(await _limits(session, asset_id), wanted)
    if not changes:
        raise BadRequest("Nothing would change: the asset has these daily limits already.")
    agreeing, weakens = None, any(rules.weakens(*pair) for pair in changes.values())
    if weakens:
        agreeing = await second_person.scope_to_agree(session, here, context.user_id, Scope.ORGS_WRITE)
    return _Wish(asset, changes, weakens, agreeing)


async def _limits(session: Write, asset_id: UUID) -> dict[LimitedAction, int]:
    query = sa.select(col(DailyLimitRow.action), col(DailyLimitRow.amount))
    return {
        row.action: row.amount for row in await session.execute(query.where(col(DailyLimitRow.asset_id) == asset_id))
    }


def _shown(limit: int | None) -> str | None:
    return None if limit is None else str(limit)
