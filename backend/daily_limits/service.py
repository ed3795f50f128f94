"""Read and change the daily limits of an asset. Raising or removing a limit needs a second person."""

from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.assets import records
from backend.assets.models import AssetRow
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.core.changes import publish
from backend.core.db import Write
from backend.core.errors import BadRequest, Conflict
from backend.daily_limits.schemas import (
    DailyLimit,
    DailyLimits,
    DailyLimitsAccepted,
    DailyLimitsImpact,
    DailyLimitsPlan,
    DailyLimitsUpdate,
    LimitChange,
)
from backend.daily_use import counts, rules
from backend.daily_use.models import DailyLimitRow
from backend.daily_use.schemas import LimitedAction
from backend.requests import second_person
from backend.requests.accept import accept, acceptance_message
from backend.requests.models import RequestRow
from backend.requests.service import Step

KIND = "asset.limits"
STEP = "Change the daily limits"
Changes = dict[LimitedAction, tuple[int | None, int | None]]


@dataclass(frozen=True)
class _LimitsChange:
    asset: AssetRow
    changes: Changes
    weakens: bool
    agreeing: Scope | None
    """Return the scope that the second person needs; None if no approval is needed, or no one could approve."""


async def read(context: Context, asset_id: UUID) -> DailyLimits:
    """Return the limit of each action, and the rest of it."""
    await records.asset(context.session, context.organization_id, asset_id)
    held = await _limits(context.session, asset_id)
    limits = []
    for action in LimitedAction:
        limit = held.get(action)
        if limit is None:
            used = await counts.accepted_of(context.session, context.organization_id, asset_id, action)
        else:
            used = await counts.used_of(context.session, asset_id, action)
        left = None if limit is None else str(rules.available(limit, used))
        limits.append(DailyLimit(action=action, limit=_shown(limit), used=str(used), available=left))
    return DailyLimits(limits=limits)


async def plan(context: Context, asset_id: UUID, patch: DailyLimitsUpdate) -> DailyLimitsPlan:
    """Return what a request would change. Raises NotFound, and BadRequest if it changes nothing."""
    change = await _requested_change(context, asset_id, patch)
    changes = [LimitChange(action=a, before=_shown(old), after=_shown(new)) for a, (old, new) in change.changes.items()]
    steps = ["A second person approves", STEP] if change.agreeing else [STEP]
    impact = DailyLimitsImpact(changes=changes, needs_second_person=change.agreeing is not None)
    return DailyLimitsPlan(steps=steps, impact=impact)


async def update(context: Context, asset_id: UUID, patch: DailyLimitsUpdate) -> DailyLimitsAccepted:
    """Create the request that changes the limits. It waits for a second person if a limit is raised or removed."""
    change = await _requested_change(context, asset_id, patch)
    request = await accept(
        context,
        KIND,
        f"Change the daily limits of {change.asset.symbol}",
        subject=("asset", asset_id),
        scope=change.agreeing or Scope.ORGS_WRITE,
        order=f"limits:{asset_id}",
        steps=[Step("limits_changed", STEP)],
        arguments={
            "limits": {action: str(after or 0) for action, (_, after) in change.changes.items()},
            "may_weaken": change.weakens,
        },
        always_asks=change.agreeing is not None,
    )
    message = acceptance_message(request, f"The daily limits of {change.asset.symbol} change.")
    return DailyLimitsAccepted(assetId=asset_id, status=request.status, request_id=str(request.id), message=message)


async def write(session: Write, request: RequestRow) -> None:
    """Write the limits of a request, and record the change. Raises Conflict if it would raise or remove a limit that
    was lower or absent when the request was accepted, because no one approved that."""
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
            await counts.note_earlier(session, request.organization_id, asset_id, action)
        else:
            await session.execute(sa.update(DailyLimitRow).where(of_action).values(amount=after))
    if changes:
        old, new_ = ({str(a): _shown(pair[i]) for a, pair in changes.items()} for i in (0, 1))
        await publish(session, request.organization_id, "asset.limits_changed", ("asset", asset_id), old, new_)


async def _requested_change(context: Context, asset_id: UUID, patch: DailyLimitsUpdate) -> _LimitsChange:
    session, here = context.session, context.organization_id
    asset = await records.asset(session, here, asset_id, lock=True)
    wanted = {LimitedAction(name): int(value) for name, value in patch.model_dump(exclude_unset=True).items()}
    changes = rules.changed(await _limits(session, asset_id), wanted)
    if not changes:
        raise BadRequest("The asset already has these daily limits. Nothing would change.")
    agreeing, weakens = None, any(rules.weakens(*pair) for pair in changes.values())
    if weakens:
        agreeing = await second_person.scope_to_agree(session, here, context.user_id, Scope.ORGS_WRITE)
    return _LimitsChange(asset, changes, weakens, agreeing)


async def _limits(session: Write, asset_id: UUID) -> dict[LimitedAction, int]:
    query = sa.select(col(DailyLimitRow.action), col(DailyLimitRow.amount))
    return {
        row.action: row.amount for row in await session.execute(query.where(col(DailyLimitRow.asset_id) == asset_id))
    }


def _shown(limit: int | None) -> str | None:
    return None if limit is None else str(limit)
