"""Move an organization with everything below it: one row changes, under a lock on its tree."""

from dataclasses import dataclass, replace
from enum import Enum
from uuid import UUID

import sqlalchemy as sa

from backend.auth import operator_paid, versions
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.core import db
from backend.core.changes import publish_change
from backend.core.errors import Conflict, Forbidden, NotFound
from backend.core.ip_ranges import cover
from backend.issuers import lineage
from backend.organizations import hierarchy, quotas, rules
from backend.organizations.models import OrganizationRow
from backend.organizations.rules import Place
from backend.organizations.schemas import MoveImpact, MovePlan, Organization
from backend.organizations.service import record
from backend.requests import second_person
from backend.requests.accept import accept
from backend.requests.models import RequestRow
from backend.requests.service import Step
from backend.users.schemas import Role


class Protection(Enum):
    """A setting that an organization inherits from those above it."""

    RANGES = "allowed_ip_ranges"
    FACTOR = "require_second_factor"


@dataclass(frozen=True)
class _Move:
    """A move that passed its checks: the organization, and the paths of both parents."""

    moved: Place
    before: list[Place]
    after: list[Place]


async def plan(context: Context, moved_id: UUID, parent_id: UUID) -> MovePlan:
    """Return what a move would change."""
    move = await _check(context, moved_id, parent_id)
    session = context.session
    await versions.compare_again(session, context.call.version if context.call else None)
    descendants, nodes = await hierarchy.subtree(session, moved_id, rules.PREVIEWED)
    access = rules.access_changes(
        await hierarchy.holders(session, moved_id),
        await hierarchy.holders(session, context.organization_id),
        await hierarchy.holders(session, parent_id),
    )
    chains = await _known_chains(context, moved_id)
    impact = MoveImpact(descendants=descendants, nodes=rules.moved_nodes(nodes, move.before, move.after), access=access)
    return MovePlan(steps=_steps(move, descendants, len(chains)), impact=impact)


def _steps(move: _Move, descendants: int, chains: int) -> list[str]:
    along = f" with {descendants} below it" if descendants else ""
    steps = [f"Move {move.moved.name}{along} from {move.before[-1].name} to {move.after[-1].name}"]
    if chains:
        steps.append(f"Write the new parent on {chains} chain{'s' if chains > 1 else ''}")
    return steps


async def move(context: Context, moved_id: UUID, parent_id: UUID) -> tuple[Organization, RequestRow | None]:
    """Move the organization. The second value is the request that updates the chains, if the organization is known
    there."""
    expected = await _check(context, moved_id, parent_id)
    missing = await _missing(context, [*expected.after, expected.moved])
    await hierarchy.lock(context.session, context.organization_id, parent_id)
    checked = await _check(context, moved_id, parent_id)
    await versions.compare_again(context.session, context.call.version if context.call else None)
    row = await context.session.get_one(OrganizationRow, moved_id, with_for_update=True)
    changed = row.parent_id != parent_id
    row.parent_id = parent_id
    await context.session.flush()
    await quotas.check_receivers(context.session, moved_id)
    request = await _follow_on_chain(context, row, missing) if changed else None
    moved = record(row, await hierarchy.path(context.session, moved_id))
    await _publish(context, [*checked.before, checked.moved], moved, (moved_id, context.organization_id, parent_id))
    return moved, request


async def _publish(context: Context, before: list[Place], moved: Organization, where: tuple[UUID, ...]) -> None:
    """Record the move in the audit logs of the organization and of both parents."""
    was = {
        "parent_id": str(before[-2].id),
        "hierarchy_path": "".join(f"/{p.id}" for p in before),
        "depth": len(before) - 1,
    }
    subject, now = ("organization", moved.id), moved.model_dump(mode="json", include=set(was))
    for organization_id in where:
        await publish_change(context.session, organization_id, "organization.moved", subject, was, now)


async def _check(context: Context, moved_id: UUID, parent_id: UUID) -> _Move:
    """Check a move: 403 without the admin role in both parents, 404 if the organization is not directly below the
    entered one, 400 if it cannot lie below the new parent. The transaction then sees all three."""
    for organization_id in (context.organization_id, parent_id):
        if Role.ADMIN not in await context.roles_in(organization_id):
            raise Forbidden("A move requires the admin role in the current and in the new parent organization.")
    own = await hierarchy.path(context.session, moved_id)
    if len(own) < 2 or own[-2].id != context.organization_id:
        raise NotFound("There is no organization with this ID directly below this one.")
    for organization_id in (parent_id, moved_id):
        await context.check_address(organization_id)
    await db.widen(context.session, moved_id)
    await db.widen(context.session, parent_id)
    await _check_approvers_stay(context, moved_id)
    move = _Move(own[-1], own[:-1], await hierarchy.path(context.session, parent_id))
    rules.check_target(moved_id, move.after)
    await _check_may_lift(context, move)
    if len(move.after) > len(move.before):
        height = await hierarchy.height(context.session, moved_id)
        rules.check_depth(move.after, height, pointer="/newParentId")
    return move


async def _check_approvers_stay(context: Context, moved_id: UUID) -> None:
    """Raise 409 if a person could object to the move, because the new parent brings other approvers."""
    for organization_id in await second_person.requiring(context.session, moved_id):
        if await second_person.scope_to_agree(context.session, organization_id, context.user_id, Scope.ORGS_WRITE):
            raise Conflict(
                "This organization, or one below it, requires a second person for some actions, and a move would "
                f"change who can approve. Remove the requirement first by POST /v1/orgs/{organization_id}/approvals; "
                "another person approves it."
            )


async def _check_may_lift(context: Context, move: _Move) -> None:
    """Raise 403 if the move removes protections that the organization inherits from one where the caller is no admin;
    409 if removing them where they are set requires a second person."""
    after = [await _row(context, place) for place in move.after]
    for place in [p for p in move.before if p not in move.after]:
        row = await _row(context, place)
        covering = {
            Protection.RANGES: [one for one in after if cover(row.allowed_ip_ranges, one.allowed_ip_ranges)],
            Protection.FACTOR: [one for one in after if one.require_second_factor or not row.require_second_factor],
        }
        for protection, covers in covering.items():
            await _check_may_lose(context, move, row, protection, covers)


async def _check_may_lose(
    context: Context, move: _Move, row: OrganizationRow, protection: Protection, covers: list[OrganizationRow]
) -> None:
    """Check one protection of an organization that the moved one leaves, if it is set there; `covers` are the
    organizations in its new path with the same protection.

    Only the same protection of an organization above both places keeps it, and where lifting it takes a second
    person, only if lifting that takes one too. Beside the old place, the caller may set a protection for the move
    only, or choose who the second person is.
    """
    if not _is_set(row, protection):
        return
    needs_second = await _needs_second_person(context, row.id, protection)
    above_both = {place.id for place in move.before}
    for one in covers:
        if one.id not in above_both:
            continue
        if not needs_second or await _needs_second_person(context, one.id, protection):
            return
    if Role.ADMIN not in await context.roles_in(row.id):
        raise Forbidden(f"The move removes a protection that {row.name} requires. It needs the admin role there.")
    if needs_second:
        raise Conflict(
            f"A move would lift the IP ranges or the second factor that {row.name} requires, which takes a second "
            "person. Only the same protection of an organization above both places keeps it, where lifting that takes "
            f"a second person too. Lift it first by POST /v1/orgs/{row.id}/approvals; another person approves it."
        )


def _is_set(row: OrganizationRow, protection: Protection) -> bool:
    return bool(row.allowed_ip_ranges if protection is Protection.RANGES else row.require_second_factor)


async def _needs_second_person(context: Context, organization_id: UUID, protection: Protection) -> bool:
    """Return whether the caller needs a second person to remove a protection. For IP ranges, a requirement of an
    organization below is enough."""
    requiring = await second_person.requiring(context.session, organization_id)
    if not requiring or (protection is Protection.FACTOR and organization_id not in requiring):
        return False
    scope = await second_person.scope_to_agree(context.session, organization_id, context.user_id, Scope.ORGS_WRITE)
    return scope is not None


async def _row(context: Context, place: Place) -> OrganizationRow:
    await db.widen(context.session, place.id)
    return await context.session.get_one(OrganizationRow, place.id, populate_existing=True)


async def _known_chains(context: Context, organization_id: UUID) -> list[int]:
    found = await context.session.scalars(
        sa.text("select * from signum_known_chains(:id) order by 1"), {"id": organization_id}
    )
    return list(found.all())


async def _missing(context: Context, path: list[Place]) -> dict[int, int]:
    """Return how many transactions the operator pays to update the chains, by endpoint ID. The path's last organization
    moves."""
    ids = [place.id for place in path]
    eids = await _known_chains(context, ids[-1])
    return await lineage.unwritten(context.session, list(zip(ids, [None, *ids[:-1]], strict=True)), eids)


async def _follow_on_chain(context: Context, row: OrganizationRow, missing: dict[int, int]) -> RequestRow | None:
    """Update the attestation registries if the organization or one below it is an issuer or has a token: which
    attestations count for `org_only` assets depends on the lineage written there. The request belongs to the moved
    organization."""
    if not await _known_chains(context, row.id):
        return None
    await operator_paid.count(context.session, row.id, max(1, sum(missing.values())))
    return await accept(
        replace(context, organization_id=row.id),
        "organization.lineage",
        f"Write the new parent of {row.name} on chain",
        subject=("organization", row.id),
        scope=Scope.ORGS_WRITE,
        steps=[Step("lineage", "Write the new parent on every chain that knows the organization")],
        order=row.id,
        arguments=lineage.noted(missing),
    )
