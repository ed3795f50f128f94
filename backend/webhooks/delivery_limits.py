"""Limits on the deliveries that a day stores: for the endpoints below one root, and for those of one person.

A change is never refused or delayed for them. What exceeds a limit is not stored, and a run disables its endpoints
after the change, in transactions of its own: the change must not wait for locks on endpoints of other organizations.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any
from uuid import UUID

from limits import RateLimitItem
from sqlalchemy.ext.asyncio import AsyncSession

from backend.core.db import new_id
from backend.core.roots import root_of
from backend.engine import engine, queues
from backend.limits import rate_limits
from backend.webhooks.models import EndpointRow

DISABLE = "webhook.disable"
"""The workflow that disables endpoints of one organization."""


async def within(session: AsyncSession, targets: Sequence[Any]) -> list[Any]:
    """Count an event's deliveries; return the endpoints that are within the limits. The others will be disabled.

    Without a running engine nothing can disable them, and nothing is counted.
    """
    if not targets or not engine.is_running():
        return list(targets)
    kept = await _kept(targets)
    await _disable_others(session, targets, {target.id for target in kept})
    return kept


async def _kept(targets: Sequence[Any]) -> list[Any]:
    """Count for the root first: what it refuses takes nothing of a person's count, which other roots share."""
    if not await rate_limits.allows(*_of_root(targets[0].root_id), cost=len(targets)):
        return []
    kept: list[Any] = []
    for person, found in groupby(sorted(targets, key=_maker), _maker):
        theirs = list(found)
        if not person or await rate_limits.allows(*_of_person(person), cost=len(theirs)):
            kept.extend(theirs)
    return kept


def _maker(target: Any) -> str:
    return str(target.made_by or "")


def _of_root(root_id: UUID) -> tuple[RateLimitItem, str, str]:
    return rate_limits.DELIVERIES_BELOW, "deliveries below", str(root_id)


def _of_person(person: UUID | str) -> tuple[RateLimitItem, str, str]:
    return rate_limits.DELIVERIES_OF_PERSON, "deliveries of person", str(person)


async def _disable_others(session: AsyncSession, targets: Sequence[Any], kept: set[UUID]) -> None:
    over = sorted((str(t.organization_id), str(t.id)) for t in targets if t.id not in kept)
    for organization, found in groupby(over, lambda pair: pair[0]):
        ids = ",".join(endpoint for _, endpoint in found)
        run, of = f"{DISABLE}:{new_id()}", f"webhooks:{organization}"
        await engine.submit(session, DISABLE, run, organization, ids, queue=queues.QUEUE, of=of)


async def count_one(session: AsyncSession, endpoint: EndpointRow) -> None:
    """Count a delivery that a person or program asked for; 429 above a limit."""
    counted = [_of_root(await root_of(session, endpoint.organization_id))]
    if endpoint.made_by:
        counted.append(_of_person(endpoint.made_by))
    for ask in (rate_limits.check, rate_limits.hit):
        for limit, *names in counted:
            await ask(limit, *names, rule=f"{rule()}.")


def rule() -> str:
    """Return the limits as a clause."""
    below, of_person = rate_limits.DELIVERIES_BELOW.amount, rate_limits.DELIVERIES_OF_PERSON.amount
    return (
        f"At most {below:,} deliveries a day are stored for the webhook endpoints below one root organization, and "
        f"{of_person:,} for those of one person"
    )
