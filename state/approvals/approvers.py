"""The people whose roles are old enough to approve."""

import asyncio
from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

from backend.client import ApiProblem, SessionClient
from backend.organizations.schemas import Access, Organization
from backend.users.schemas import MemberStatus

FIRST_DAY = timedelta(hours=24)
"""Roles that were given this soon after the organization's creation can approve immediately."""
MOST = 100


async def able_to_approve(
    api: SessionClient,
    organization: Organization,
    people: Sequence[Access],
    readable: Collection[str],
    asked_at: datetime | None = None,
) -> list[Access]:
    """Return the people whose roles can approve in an organization now: a request of `asked_at`, or without it a new
    one. `readable`: the organizations whose members the user may read. Nothing says how old the roles of other
    organizations are, so they are omitted where new roles have to wait."""
    now = datetime.now(UTC)
    makes_wait = organization.approver_wait_hours > 0 and organization.created_at + FIRST_DAY < now
    if asked_at is None and not makes_wait:
        return list(people)
    ids = [id for id in dict.fromkeys(one.organization_id for one in people) if str(id) in readable]
    given = dict(zip(ids, await asyncio.gather(*(_given(api, id) for id in ids)), strict=True))

    def is_able(one: Access) -> bool:
        times = given.get(one.organization_id)
        if times is None:
            return not makes_wait
        return can_approve(organization, times.get(one.user_id), asked_at or now, now)

    return [one for one in people if is_able(one)]


def can_approve(organization: Organization, given: datetime | None, asked_at: datetime, now: datetime) -> bool:
    """Return whether a role is old enough; None is older than every role that was read."""
    if given is None:
        return True
    is_waiting = given + timedelta(hours=organization.approver_wait_hours) > now
    return given < asked_at and not (is_waiting and given > organization.created_at + FIRST_DAY)


async def _given(api: SessionClient, organization_id: UUID) -> dict[UUID, datetime] | None:
    """Return when the newest roles of an organization were given, by person; None if they cannot be read."""
    try:
        page = await api.list_members(organization_id, status=MemberStatus.ACTIVE, sort="updated_at", limit=MOST)
    except ApiProblem:
        return None
    return {one.user.id: one.appointment.at for one in page.members}
