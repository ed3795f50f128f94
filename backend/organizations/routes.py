"""`/v1/orgs`."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Response, status

from backend.auth.route import ANY_ORGANIZATION, Current, DryRun, GuardedRoute, requires
from backend.auth.scopes import Scope
from backend.fields import Search
from backend.keyset import Page
from backend.organizations import listing, moves, service, summary
from backend.organizations.schemas import (
    AccessList,
    MovePlan,
    Organization,
    OrganizationCreate,
    OrganizationList,
    OrganizationMove,
    OrganizationPlan,
    OrganizationUpdate,
    Summary,
    Tree,
)

router = APIRouter(prefix="/orgs", tags=["Organizations"], route_class=GuardedRoute)
PageOf = Annotated[Page, Depends()]


@router.get("")
@requires(Scope.ORGS_READ, organization=ANY_ORGANIZATION)
async def list_organizations(context: Current, page: PageOf, search: Search | None = None) -> OrganizationList:
    """Every organization the caller reaches, newest first; `search` finds a part of the name. Lists, tree and search
    leave out organizations that do not allow the caller's IP address; counts include them."""
    return await listing.reached(context, page, search)


@router.post("", status_code=status.HTTP_201_CREATED)
@requires(Scope.ORGS_WRITE, organization=ANY_ORGANIZATION, person=True)
async def create_organization(
    context: Current, body: OrganizationCreate, response: Response, dry_run: DryRun = False
) -> Organization | OrganizationPlan:
    """Found an organization without a parent. Needs a signed-in person, who becomes its admin: one who may write in an
    organization already, or belongs to none yet."""
    if dry_run:
        response.status_code = status.HTTP_200_OK
    return await service.create(context, body, dry_run)


@router.get("/{orgId}")
@requires(Scope.ORGS_READ)
async def get_organization(context: Current, orgId: UUID) -> Organization:
    """One organization."""
    return await service.read(context)


@router.patch("/{orgId}", responses={409: {}})
@requires(Scope.ORGS_WRITE)
async def update_organization(
    context: Current, orgId: UUID, body: OrganizationUpdate, dry_run: DryRun = False
) -> Organization | OrganizationPlan:
    """JSON merge patch: what is left out stays, null takes away. Keys that inherit `network` follow it.

    `approvals` are the actions that need a second person. Adding one holds at once; taking one away needs a second
    person too (409): ask for it by POST …/approvals, unless there is no other admin who could agree.

    With `require_second_factor`, people without a second factor are refused (403) here and in the organizations below
    until they set one up. API keys are not asked.

    `allowed_ip_ranges` are the IP addresses and CIDR ranges that may call, at most 100. They hold for people, keys and
    applications, here and in the organizations below: each organization above that has ranges must allow the address
    too. Empty or null allows every address. A list without your own address is refused (409).
    """
    return await service.update(context, body, dry_run)


@router.get("/{orgId}/summary")
@requires(Scope.ORGS_READ)
async def get_summary(context: Current, orgId: UUID) -> Summary:
    """Counts of members, wallets, assets, chains, keys and transactions, and what waits for a person."""
    return await summary.counts(context)


@router.get("/{orgId}/access")
@requires(Scope.MEMBERS_READ)
async def list_access(context: Current, orgId: UUID, page: PageOf) -> AccessList:
    """The people whose role reaches this organization: its own staff first, then those of the organizations above."""
    return await listing.access(context, page)


@router.get("/{orgId}/tree", responses={404: {}})
@requires(Scope.ORGS_READ)
async def get_tree(
    context: Current,
    orgId: UUID,
    page: PageOf,
    parent: Annotated[UUID | None, Query(description="Whose children; the organization itself where left out.")] = None,
) -> Tree:
    """The children of one node, by name. Without `parent` the first page begins with the organization itself."""
    return await listing.tree(context, page, parent)


@router.get("/{orgId}/sub-orgs")
@requires(Scope.ORGS_READ)
async def list_sub_organizations(context: Current, orgId: UUID, page: PageOf) -> OrganizationList:
    """The organizations directly below, newest first."""
    return await listing.below(context, page)


@router.post("/{orgId}/sub-orgs", status_code=status.HTTP_201_CREATED)
@requires(Scope.ORGS_WRITE)
async def create_sub_organization(
    context: Current, orgId: UUID, body: OrganizationCreate, response: Response, dry_run: DryRun = False
) -> Organization | OrganizationPlan:
    """Make an organization directly below. Admins above it are its admins; its network is its parent's unless said."""
    if dry_run:
        response.status_code = status.HTTP_200_OK
    return await service.create_below(context, body, dry_run)


@router.post("/{orgId}/sub-orgs/{subOrgId}/move")
@requires(Scope.ORGS_WRITE, fresh=True)
async def move_sub_organization(
    context: Current, orgId: UUID, subOrgId: UUID, body: OrganizationMove, response: Response, dry_run: DryRun = False
) -> Organization | MovePlan:
    """Move an organization from its current parent (`orgId`) to another; everything below it comes along.

    Needs the admin role in both parents; an API key can do it where its creator has that role. `?dry_run=true` answers
    with paths, depths, and who gains or loses access, and does nothing. Where the organization is known on a chain,
    `Location` names the request that writes its new place there.
    """
    if dry_run:
        return await moves.plan(context, subOrgId, body.newParentId)
    organization, request = await moves.move(context, subOrgId, body.newParentId)
    if request is not None:
        response.headers["Location"] = f"/v1/orgs/{subOrgId}/requests/{request.id}"
    return organization
