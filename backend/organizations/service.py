"""Create, read, update and summarize organizations."""

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.core import db
from backend.core.changes import publish, publish_change, shown
from backend.core.errors import Conflict, Forbidden, InsufficientScope, PrerequisitesNotMet
from backend.core.fields import Network
from backend.core.problems import resolutions
from backend.core.roots import founder_origin
from backend.core.settings import settings
from backend.organizations import hierarchy, quotas, rules
from backend.organizations.ip_ranges import check_ip_ranges
from backend.organizations.models import OrganizationRow
from backend.organizations.policies import check_may_change
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
from backend.requests.second_person import requiring, scope_to_agree
from backend.sign_in import service as auth
from backend.users.models import MemberRow
from backend.users.schemas import Role

POLICIES = {
    "allowed_ip_ranges",
    "approvals",
    "approver_wait_hours",
    "member_requirements",
    "network",
    "require_if_match",
    "require_second_factor",
}
"""Fields whose change requires a recent second-factor check."""
LIFT = "remove a second-person requirement"


async def create(context: Context, body: OrganizationCreate, dry_run: bool) -> Organization | OrganizationPlan:
    """Create a root; its creator becomes its first admin."""
    person = context.require_person()
    origin = await founder_origin(context.session, person.user_id)
    await _check_may_found(context, person.user_id, origin)
    row = _new(body, Network.TESTNET)
    row.origin_id = origin
    if dry_run:
        fields = body.model_dump(mode="json") | {"network": row.network}
        return _plan(f"Found {row.name}", [Place(row.id, row.name)], rules.made(fields))
    await quotas.count_root(origin or person.user_id)
    await _insert(context, row)
    context.session.add(MemberRow(organization_id=row.id, user_id=person.user_id, role=Role.ADMIN))
    await context.session.flush()
    made = record(row, [Place(row.id, row.name)])
    await _publish_created(context, made, row.id)
    return made


async def _publish_created(context: Context, made: Organization, *where: UUID) -> None:
    """Record the creation in the new organization's audit log and in its parent's."""
    facts = made.model_dump(mode="json", exclude={"updated_at"})
    for organization_id in where:
        await publish(context.session, organization_id, "organization.created", ("organization", made.id), None, facts)


async def _check_may_found(context: Context, user_id: UUID, origin: UUID | None) -> None:
    """Check that the caller may create a root: a key may not; a person who belongs to organizations needs orgs:write in
    one of them; and the operator can keep it to the admins of the operator's organization, who have no origin."""
    if context.key:
        raise Forbidden("An API key belongs to one organization and cannot create another root. Sign in as a person.")
    if origin and settings().founders == "operator":
        raise Forbidden("The operator of this installation founds organizations; ask them.")
    places = await auth.reach(context.session, user_id)
    if places and not any(p.role is Role.ADMIN for p in places):
        raise InsufficientScope(Scope.ORGS_WRITE)


def _new(body: OrganizationCreate, network: Network, parent_id: UUID | None = None) -> OrganizationRow:
    """Return a new row; `network` is the default."""
    fields = body.model_dump() | {"network": body.network or network}
    return OrganizationRow(**fields, parent_id=parent_id)


async def create_below(context: Context, body: OrganizationCreate, dry_run: bool) -> Organization | OrganizationPlan:
    """Create an organization below the entered one, by default on its network; admins above are its admins."""
    session, parent_id = context.session, context.organization_id
    await hierarchy.lock(session, parent_id, shared=True)
    above = await hierarchy.path(session, parent_id)
    rules.check_depth(above, 0)
    parent = await session.get_one(OrganizationRow, parent_id)
    row = _new(body, parent.network, parent_id)
    if dry_run:
        fields = body.model_dump(mode="json") | {"network": row.network}
        return _plan(f"Create {row.name} below {above[-1].name}", [*above, Place(row.id, row.name)], rules.made(fields))
    await quotas.count_organization(session, parent_id)
    await _insert(context, row)
    made = record(row, [*above, Place(row.id, row.name)])
    await _publish_created(context, made, parent_id, row.id)
    return made


async def _insert(context: Context, row: OrganizationRow) -> OrganizationRow:
    await db.widen(context.session, row.id)
    context.session.add(row)
    await context.session.flush()
    return row


async def read(context: Context) -> Organization:
    """Return the entered organization."""
    row = await context.session.get_one(OrganizationRow, context.organization_id)
    return record(row, await hierarchy.path(context.session, row.id))


async def update(context: Context, body: OrganizationUpdate, dry_run: bool) -> Organization | OrganizationPlan:
    """Apply a merge patch to the entered organization."""
    row = await context.session.get_one(OrganizationRow, context.organization_id, with_for_update=True)
    before = shown(Organization, row)
    patch = body.model_dump(exclude_unset=True)
    if "member_requirements" in patch:
        patch["member_requirements"] = _requirements(patch["member_requirements"], row.member_requirements)
    if patch.get("network", row.network) is not row.network:
        await _check_may_change_network(context)
    check_may_change(context, row, patch)
    if POLICIES & patch.keys() and not dry_run:
        context.require_fresh_proof()
    if patch.get("require_second_factor"):
        _check_has_factor(context)
    if "approvals" in patch:
        patch["approvals"] = await _approvals(context, row, patch["approvals"])
    if patch.get("approver_wait_hours", row.approver_wait_hours) < row.approver_wait_hours:
        await _check_may_lift(context, row.id)
    if patch.get("require_second_factor") is False and row.require_second_factor:
        await _check_may_lift_factor(context, row)
    if "allowed_ip_ranges" in patch:
        patch["allowed_ip_ranges"] = await _ip_ranges(context, row, patch["allowed_ip_ranges"])
    if dry_run:
        return await _update_plan(context, row, patch)
    for name, value in patch.items():
        setattr(row, name, value)
    await context.session.flush()
    subject = ("organization", row.id)
    await publish_change(context.session, row.id, "organization.updated", subject, before, shown(Organization, row))
    return record(row, await hierarchy.path(context.session, row.id))


async def _check_may_change_network(context: Context) -> None:
    """Raise 403 for a key that is bound to a network: changing the organization's network would change that of other
    keys."""
    if context.key is None:
        return
    text = sa.text("select network from api_keys where id = :id")
    if bound := await context.session.scalar(text, {"id": context.key.key_id}):
        raise Forbidden(f"A key that is bound to {bound} cannot change the network of its organization.")


def _check_has_factor(context: Context) -> None:
    """Raise 409 if a person without a second factor would require one: they would lock themselves out."""
    if context.person and not context.person.has_factor:
        raise PrerequisitesNotMet(
            [
                {
                    "state": "second_factor",
                    "satisfied": False,
                    "detail": "You have no second factor.",
                    "resolution": resolutions.call(
                        "POST",
                        "/auth/factors/totp",
                        "Set up an authenticator app or a passkey in your account.",
                        password=resolutions.example("correct horse battery"),
                    ),
                }
            ],
            "You have no second factor. Set one up in your account before you require one.",
        )


async def _ip_ranges(context: Context, row: OrganizationRow, wanted: list[str]) -> list[str]:
    """Return the ranges to store. Only a person may change them. Raises 409 if a second person is required here or
    below, because narrow ranges lock everyone else out."""
    if wanted == row.allowed_ip_ranges:
        return wanted
    check_ip_ranges(context, wanted)
    if await requiring(context.session, row.id):
        await _check_may_lift(context, row.id, "change the allowed IP ranges")
    return wanted


async def _approvals(context: Context, row: OrganizationRow, wanted: Collection[Action]) -> list[str]:
    """Return the actions that will require a second person. Raises 409 for a removal if another person could approve
    it."""
    if set(row.approvals) - set(wanted):
        await _check_may_lift(context, row.id)
    return [str(a) for a in Action if a in wanted]


async def _check_may_lift(context: Context, organization_id: UUID, what: str = LIFT) -> None:
    """Raise 409 if another person could approve removing a protection: a second person must approve it."""
    if await scope_to_agree(context.session, organization_id, context.user_id, Scope.ORGS_WRITE):
        raise Conflict(
            f"A second person is needed to {what}. Request it by POST /v1/orgs/{organization_id}/approvals; another "
            "person approves it."
        )


async def _check_may_lift_factor(context: Context, row: OrganizationRow) -> None:
    """Raise 409 if the organization requires a second person and there is one."""
    if row.id in await requiring(context.session, row.id):
        await _check_may_lift(context, row.id)


async def _update_plan(context: Context, row: OrganizationRow, patch: dict[str, Any]) -> OrganizationPlan:
    path = await hierarchy.path(context.session, row.id)
    before = record(row, path)
    after = Organization.model_validate(before.model_dump() | patch)
    changes = rules.changed(before.model_dump(mode="json"), after.model_dump(mode="json"))
    step = f"Change {', '.join(c.field for c in changes)} of {row.name}" if changes else "No changes"
    follows = any(c.field == "network" for c in changes)
    return _plan(step, path, changes, await _inheriting(context) if follows else 0)


async def _inheriting(context: Context) -> int:
    """Count the active keys that follow the organization's network."""
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


def _requirements(patch: dict[str, Any], stored: dict[str, Any]) -> dict[str, Any]:
    return MemberRequirements.model_validate(rules.merged(patch, stored)).model_dump(mode="json")


def record(row: OrganizationRow, path: Sequence[Place]) -> Organization:
    """Return an organization's record; `path` runs from the root to the organization."""
    derived: dict[str, Any] = {"hierarchy_path": "".join(f"/{p.id}" for p in path), "depth": len(path) - 1}
    return Organization.model_validate(row).model_copy(update=derived)
