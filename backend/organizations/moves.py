"""Moving an organization with everything below it: one row changes, under a lock on its tree."""

from dataclasses import dataclass, replace
from uuid import UUID

import sqlalchemy as sa

from backend import db
from backend.approvals import second_person
from backend.auth import operator_paid
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.changes import tell_change
from backend.errors import Conflict, Forbidden, NotFound
from backend.ip_ranges import cover
from backend.issuers import lineage
from backend.members.schemas import Role
from backend.organizations import hierarchy, rules
from backend.organizations.models import OrganizationRow
from backend.organizations.rules import Place
from backend.organizations.schemas import MoveImpact, MovePlan, Organization
from backend.organizations.service import record
from backend.requests.accept import accept
from backend.requests.models import RequestRow
from backend.requests.service import Step


@dataclass(frozen=True)
class _Move:
    """A move that was found possible: what moves, and the paths of its two parents."""

    moved: Place
    before: list[Place]
    after: list[Place]


async def plan(context: Context, moved_id: UUID, parent_id: UUID) -> MovePlan:
    """What a move would change; nothing is done."""
    move = await _check(context, moved_id, parent_id)
    session = context.session
    descendants, _, nodes = await hierarchy.subtree(session, moved_id, rules.PREVIEWED)
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
        steps.append(f"Write the new place on {chains} chain{'s' if chains > 1 else ''}")
    return steps


async def move(context: Context, moved_id: UUID, parent_id: UUID) -> tuple[Organization, RequestRow | None]:
    """Move; the second value is the request that follows on chain, where the organization is known there."""
    expected = await _check(context, moved_id, parent_id)
    missing = await _missing(context, [*expected.after, expected.moved])
    await hierarchy.lock(context.session, context.organization_id, parent_id)
    checked = await _check(context, moved_id, parent_id)
    row = await context.session.get_one(OrganizationRow, moved_id, with_for_update=True)
    changed = row.parent_id != parent_id
    row.parent_id = parent_id
    await context.session.flush()
    request = await _follow_on_chain(context, row, missing) if changed else None
    moved = record(row, await hierarchy.path(context.session, moved_id))
    await _tell(context, [*checked.before, checked.moved], moved, (moved_id, context.organization_id, parent_id))
    return moved, request


async def _tell(context: Context, before: list[Place], moved: Organization, where: tuple[UUID, ...]) -> None:
    """In the logs of the organization and of both its parents."""
    was = {
        "parent_id": str(before[-2].id),
        "hierarchy_path": "".join(f"/{p.id}" for p in before),
        "depth": len(before) - 1,
    }
    subject, now = ("organization", moved.id), moved.model_dump(mode="json", include=set(was))
    for organization_id in where:
        await tell_change(context.session, organization_id, "organization.moved", subject, was, now)


async def _check(context: Context, moved_id: UUID, parent_id: UUID) -> _Move:
    """403 without the admin role in both parents, 404 where the moved one is not below the entered one, 400 where it
    cannot lie below the new parent. The transaction then sees all three."""
    for organization_id in (context.organization_id, parent_id):
        if Role.ADMIN not in await context.roles_in(organization_id):
            raise Forbidden("A move needs the admin role in the current and in the new parent organization.")
    own = await hierarchy.path(context.session, moved_id)
    if len(own) < 2 or own[-2].id != context.organization_id:
        raise NotFound("There is no such organization directly below this one.")
    for organization_id in (parent_id, moved_id):
        await context.check_address(organization_id)
    await db.widen(context.session, moved_id)
    await db.widen(context.session, parent_id)
    await _check_approvers_stay(context, moved_id)
    move = _Move(own[-1], own[:-1], await hierarchy.path(context.session, parent_id))
    rules.check_target(moved_id, move.after)
    await _check_may_lift(context, move)
    if len(move.after) > len(move.before):
        _, height, _ = await hierarchy.subtree(context.session, moved_id, 0)
        rules.check_depth(move.after, height, pointer="/newParentId")
    return move


async def _check_approvers_stay(context: Context, moved_id: UUID) -> None:
    """409 where somebody could object to the move: another parent brings other people who could approve."""
    for organization_id in await second_person.requiring(context.session, moved_id):
        if await second_person.scope_to_agree(context.session, organization_id, context.user_id, Scope.ORGS_WRITE):
            raise Conflict(
                "This organization, or one below it, requires a second person for some actions, and a move would "
                "change who can be one. Lift the requirement first by "
                f"POST /v1/orgs/{organization_id}/approvals; another person approves it."
            )


async def _check_may_lift(context: Context, move: _Move) -> None:
    """403 for a key or an application where the move lifts protections that the moved organization inherits; 409 where
    lifting them in the organization that sets them needs a second person."""
    still_needed = await _requires_factor(context, move.after[-1].id)
    still_allowed = [(await _row(context, place)).allowed_ip_ranges for place in move.after]
    for place in [p for p in move.before if p not in move.after]:
        row = await _row(context, place)
        lifts_factor = row.require_second_factor and not still_needed
        lifts_ranges = not any(cover(row.allowed_ip_ranges, ranges) for ranges in still_allowed)
        if not lifts_ranges and not lifts_factor:
            continue
        context.require_person()
        if Role.ADMIN not in await context.roles_in(place.id):
            raise Forbidden(f"A move that lifts what {place.name} requires needs the admin role there.")
        requiring = await second_person.requiring(context.session, place.id)
        if not lifts_ranges and place.id not in requiring:
            continue
        if requiring and await second_person.scope_to_agree(
            context.session, place.id, context.user_id, Scope.ORGS_WRITE
        ):
            raise Conflict(
                f"A move would lift the IP ranges or the second factor that {place.name} requires, which takes a "
                f"second person. Lift them first by POST /v1/orgs/{place.id}/approvals; another person approves it."
            )


async def _row(context: Context, place: Place) -> OrganizationRow:
    await db.widen(context.session, place.id)
    return await context.session.get_one(OrganizationRow, place.id, populate_existing=True)


async def _requires_factor(context: Context, organization_id: UUID) -> bool:
    text = sa.text("select signum_requires_factor(:id)")
    return bool(await context.session.scalar(text, {"id": organization_id}))


async def _known_chains(context: Context, organization_id: UUID) -> list[int]:
    found = await context.session.scalars(
        sa.text("select * from signum_known_chains(:id) order by 1"), {"id": organization_id}
    )
    return list(found.all())


async def _missing(context: Context, path: list[Place]) -> dict[int, int]:
    """How many transactions the operator pays so that the chains follow, by endpoint id. The last of the path moves."""
    ids = [place.id for place in path]
    eids = await _known_chains(context, ids[-1])
    return await lineage.unwritten(context.session, list(zip(ids, [None, *ids[:-1]], strict=True)), eids)


async def _follow_on_chain(context: Context, row: OrganizationRow, missing: dict[int, int]) -> RequestRow | None:
    """Have the registries follow, where the organization or one below it is an issuer or has a token: what attestations
    count for `org_only` assets hangs on the lineage written there. The request belongs to the moved organization."""
    if not await _known_chains(context, row.id):
        return None
    await operator_paid.count(context.session, row.id, max(1, sum(missing.values())))
    return await accept(
        replace(context, organization_id=row.id),
        "organization.lineage",
        f"Write the new place of {row.name} on chain",
        subject=("organization", row.id),
        scope=Scope.ORGS_WRITE,
        steps=[Step("lineage", "Write the new parent on every chain that knows the organization")],
        order=row.id,
        arguments=lineage.noted(missing),
    )
