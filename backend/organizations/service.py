"""Organizations: made, read, changed, summed up."""

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from backend import db, quotas
from backend.approvals.policy import check_ip_ranges
from backend.approvals.second_person import requiring, scope_to_agree
from backend.auth import rate_limit
from backend.auth import service as auth
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.changes import shown, tell, tell_change
from backend.errors import Conflict, Forbidden, InsufficientScope, PrerequisitesNotMet
from backend.fields import Network
from backend.members.models import MemberRow
from backend.members.schemas import Role
from backend.organizations import hierarchy, rules
from backend.organizations.models import OrganizationRow
from backend.organizations.rules import Place
from backend.organizations.schemas import (
    FieldChange,
    MemberRequirements,
    Organization,
    OrganizationCreate,
    OrganizationImpact,
    OrganizationPlan,
    OrganizationUpdate,
)
from backend.requests.schemas import Action

POLICIES = {
    "allowed_ip_ranges",
    "approvals",
    "approver_wait_hours",
    "member_requirements",
    "network",
    "require_second_factor",
}
"""Fields whose change needs a fresh factor."""
LIFT = "lift what needs a second person"


async def create(context: Context, body: OrganizationCreate, dry_run: bool) -> Organization | OrganizationPlan:
    """A new root; its maker becomes its first admin."""
    person = context.require_person()
    await _check_may_found(context, person.user_id)
    row = _new(body, Network.TESTNET)
    if dry_run:
        fields = body.model_dump(mode="json") | {"network": row.network}
        return _plan(f"Found {row.name}", [Place(row.id, row.name)], rules.made(fields))
    await rate_limit.hit(rate_limit.ORGANIZATIONS_PER_PERSON, "organizations", str(person.user_id))
    await _insert(context, row)
    context.session.add(MemberRow(organization_id=row.id, user_id=person.user_id, role=Role.ADMIN))
    await context.session.flush()
    made = record(row, [Place(row.id, row.name)])
    await _tell_created(context, made, row.id)
    return made


async def _tell_created(context: Context, made: Organization, *where: UUID) -> None:
    """In the new organization's own log, and in that of the one it is made in."""
    facts = made.model_dump(mode="json", exclude={"updated_at"})
    for organization_id in where:
        await tell(context.session, organization_id, "organization.created", ("organization", made.id), None, facts)


async def _check_may_found(context: Context, user_id: UUID) -> None:
    """A key stays with its organization; a person who belongs to organizations needs orgs:write in one of them."""
    if context.key:
        raise Forbidden("An API key belongs to one organization and cannot found another.")
    places = await auth.reach(context.session, user_id)
    if places and not any(p.role is Role.ADMIN for p in places):
        raise InsufficientScope(Scope.ORGS_WRITE)


def _new(body: OrganizationCreate, network: Network, parent_id: UUID | None = None) -> OrganizationRow:
    """A row, on a network unless another is named."""
    fields = body.model_dump() | {"network": body.network or network}
    return OrganizationRow(**fields, parent_id=parent_id)


async def create_below(context: Context, body: OrganizationCreate, dry_run: bool) -> Organization | OrganizationPlan:
    """A new organization below the entered one, on its network unless said; its admins are those above."""
    session, parent_id = context.session, context.organization_id
    await hierarchy.lock(session, parent_id, shared=True)
    above = await hierarchy.path(session, parent_id)
    rules.check_depth(above, 0)
    row = _new(body, (await session.get_one(OrganizationRow, parent_id)).network, parent_id)
    if dry_run:
        fields = body.model_dump(mode="json") | {"network": row.network}
        return _plan(f"Make {row.name} below {above[-1].name}", [*above, Place(row.id, row.name)], rules.made(fields))
    await quotas.count_organization(session, parent_id)
    await _insert(context, row)
    made = record(row, [*above, Place(row.id, row.name)])
    await _tell_created(context, made, parent_id, row.id)
    return made


async def _insert(context: Context, row: OrganizationRow) -> OrganizationRow:
    await db.widen(context.session, row.id)
    context.session.add(row)
    await context.session.flush()
    return row


async def read(context: Context) -> Organization:
    """The entered organization."""
    row = await context.session.get_one(OrganizationRow, context.organization_id)
    return record(row, await hierarchy.path(context.session, row.id))


async def update(context: Context, body: OrganizationUpdate, dry_run: bool) -> Organization | OrganizationPlan:
    """Apply a merge patch to the entered organization."""
    row = await context.session.get_one(OrganizationRow, context.organization_id, with_for_update=True)
    before = shown(Organization, row)
    patch = body.model_dump(exclude_unset=True)
    if POLICIES & patch.keys() and not dry_run:
        context.require_fresh_proof()
    if patch.get("network", row.network) is not row.network:
        await _check_may_change_network(context)
    if patch.get("require_second_factor"):
        _check_has_factor(context)
    if "member_requirements" in patch:
        patch["member_requirements"] = _requirements(patch["member_requirements"], row.member_requirements)
    if "approvals" in patch:
        patch["approvals"] = await _approvals(context, row, patch["approvals"] or [])
    if patch.get("approver_wait_hours", row.approver_wait_hours) < row.approver_wait_hours:
        await _check_may_lift(context, row.id)
    if patch.get("require_second_factor") is False and row.require_second_factor:
        await _check_may_lift_factor(context, row)
    if "allowed_ip_ranges" in patch:
        patch["allowed_ip_ranges"] = await _ip_ranges(context, row, patch["allowed_ip_ranges"] or [])
    if dry_run:
        return await _update_plan(context, row, patch)
    for name, value in patch.items():
        setattr(row, name, value)
    await context.session.flush()
    subject = ("organization", row.id)
    await tell_change(context.session, row.id, "organization.updated", subject, before, shown(Organization, row))
    return record(row, await hierarchy.path(context.session, row.id))


async def _check_may_change_network(context: Context) -> None:
    """403 for a key that is bound to a network: with the organization's, it would change that of other keys."""
    if context.key is None:
        return
    text = sa.text("select network from api_keys where id = :id")
    if bound := await context.session.scalar(text, {"id": context.key.key_id}):
        raise Forbidden(f"A key that works on {bound} only cannot change the network of its organization.")


def _check_has_factor(context: Context) -> None:
    """409 where a person without a second factor would require one: they would shut themselves out."""
    if context.person and not context.person.has_factor:
        raise PrerequisitesNotMet(
            [
                {
                    "state": "second_factor",
                    "satisfied": False,
                    "detail": "You have no second factor.",
                    "resolution": {
                        "method": "POST",
                        "path": "/v1/auth/factors/totp",
                        "description": "Set up an authenticator app or a passkey in your account.",
                    },
                }
            ],
            "You have no second factor. Set one up in your account before you require one of everybody.",
        )


async def _ip_ranges(context: Context, row: OrganizationRow, wanted: list[str]) -> list[str]:
    """The ranges to keep. Only a person changes them, and where a second person is required here or below, together
    with one (409): narrow ranges lock everybody else out."""
    if wanted == row.allowed_ip_ranges:
        return wanted
    check_ip_ranges(context, wanted)
    if await requiring(context.session, row.id):
        await _check_may_lift(context, row.id, "change the allowed IP ranges")
    return wanted


async def _approvals(context: Context, row: OrganizationRow, wanted: Collection[Action]) -> list[str]:
    """The actions that will need a second person. Taking one away needs a second person too (409), where there is one
    who could agree."""
    if set(row.approvals) - set(wanted):
        await _check_may_lift(context, row.id)
    return [str(a) for a in Action if a in wanted]


async def _check_may_lift(context: Context, organization_id: UUID, what: str = LIFT) -> None:
    """409 where somebody could agree to other protections: then a second person has to."""
    if await scope_to_agree(context.session, organization_id, context.user_id, Scope.ORGS_WRITE):
        raise Conflict(
            f"It takes a second person to {what}. "
            f"Ask for it by POST /v1/orgs/{organization_id}/approvals; another person approves it."
        )


async def _check_may_lift_factor(context: Context, row: OrganizationRow) -> None:
    """403 for a key or an application; 409 where the organization requires a second person and there is one."""
    context.require_person()
    if row.id in await requiring(context.session, row.id):
        await _check_may_lift(context, row.id)


async def _update_plan(context: Context, row: OrganizationRow, patch: dict[str, Any]) -> OrganizationPlan:
    path = await hierarchy.path(context.session, row.id)
    before = record(row, path)
    after = Organization.model_validate(before.model_dump() | patch)
    changes = rules.changed(before.model_dump(mode="json"), after.model_dump(mode="json"))
    step = f"Change {', '.join(c.field for c in changes)} of {row.name}" if changes else "Nothing changes"
    follows = any(c.field == "network" for c in changes)
    return _plan(step, path, changes, await _inheriting(context) if follows else 0)


async def _inheriting(context: Context) -> int:
    """Keys that work now on whichever network the organization has."""
    text = sa.text("""
        select count(*) from api_keys where organization_id = :id and network is null and revoked_at is null
          and (expires_at is null or expires_at > now())
    """)
    return int(await context.session.scalar(text, {"id": context.organization_id}) or 0)


def _plan(step: str, path: Sequence[Place], changes: list[FieldChange], following: int = 0) -> OrganizationPlan:
    shown = rules.SEPARATOR.join(p.name for p in path)
    return OrganizationPlan(
        steps=[step], impact=OrganizationImpact(path=shown, changes=changes, keys_following=following)
    )


def _requirements(patch: dict[str, Any] | None, stored: dict[str, Any]) -> dict[str, Any]:
    wanted = {} if patch is None else rules.merged(patch, stored)
    return MemberRequirements.model_validate(wanted).model_dump(mode="json")


def record(row: OrganizationRow, path: Sequence[Place]) -> Organization:
    """An organization's record; `path` begins at the root and ends with the organization."""
    derived: dict[str, Any] = {"hierarchy_path": "".join(f"/{p.id}" for p in path), "depth": len(path) - 1}
    return Organization.model_validate(row).model_copy(update=derived)
