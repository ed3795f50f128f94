"""`/v1/orgs`."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Response, status

from backend.auth.guard import ANY_ORGANIZATION, Current, DryRun, GuardedRoute, from_replica, requires
from backend.auth.scopes import Scope
from backend.lists.pages import Page
from backend.organizations import listing, service, summary
from backend.organizations.schemas import (
    AccessList,
    Organization,
    OrganizationCreate,
    OrganizationList,
    OrganizationPlan,
    OrganizationUpdate,
    Summary,
    Tree,
)

# Declared at import.
router = APIRouter(prefix="/orgs", tags=["Organizations"], route_class=GuardedRoute)
PageOf = Annotated[Page, Depends(listing.LIST.page)]


@router.get("")
@requires(Scope.ORGS_READ, organization=ANY_ORGANIZATION)
async def list_organizations(context: Current, page: PageOf) -> OrganizationList:
    """List the organizations that the caller reaches, newest first. Lists, the tree
    and search omit organizations that do not allow the caller's IP address; counts include them."""
    return await listing.reached(context, page)


@router.post("", status_code=status.HTTP_201_CREATED)
@requires(Scope.ORGS_WRITE, organization=ANY_ORGANIZATION, person=True)
async def create_organization(
    context: Current, body: OrganizationCreate, response: Response, dry_run: DryRun = False
) -> Organization | OrganizationPlan:
    """Create an organization without a parent. Requires a signed-in person, who becomes its admin: either an admin of
    an organization, or a person who belongs to none yet."""
    if dry_run:
        response.status_code = status.HTTP_200_OK
    return await service.create(context, body, dry_run)


@router.get("/{orgId}")
@requires(Scope.ORGS_READ)
async def get_organization(context: Current, orgId: UUID) -> Organization:
    """Get an organization."""
    return await service.read(context)


@router.patch("/{orgId}", responses={409: {}})
@requires(Scope.ORGS_WRITE)
async def update_organization(
    context: Current, orgId: UUID, body: OrganizationUpdate, dry_run: DryRun = False
) -> Organization | OrganizationPlan:
    """Update an organization with a JSON merge patch: omitted fields stay unchanged, null removes a value. Keys that
    inherit `network` follow it.

    `approvals` are the actions that require a second person. Adding one takes effect immediately; removing one requires
    a second person (409): request it by POST …/approvals, unless no other admin could approve.

    With `require_second_factor`, people without a second factor are refused (403) here and in the organizations below
    until they set one up. API keys are exempt.

    `allowed_ip_ranges` are the IP addresses and CIDR ranges that may call, at most 100. They apply to people, keys and
    applications, here and in the organizations below: every organization above that has ranges must allow the address
    too. Empty or null allows every address. A list without your own address is refused (409).

    Only a signed-in person changes `network`, `member_requirements`, `approvals`, `approver_wait_hours`,
    `require_second_factor` and `allowed_ip_ranges`: they decide who can join and act here. API keys and applications
    are refused (403).
    """
    return await service.update(context, body, dry_run)


@router.get("/{orgId}/summary")
@requires(Scope.ORGS_READ)
@from_replica
async def get_summary(context: Current, orgId: UUID) -> Summary:
    """Return counts of members, wallets, assets, chains, keys and transactions, and of items that wait for a person."""
    return await summary.counts(context)


@router.get("/{orgId}/access", responses={404: {}})
@requires(Scope.MEMBERS_READ)
async def list_access(
    context: Current,
    orgId: UUID,
    page: PageOf,
    approvalId: Annotated[UUID | None, Query(description="The approval for `cannot_approve`.")] = None,
) -> AccessList:
    """List the people whose role reaches this organization: its own members first, then those of the organizations
    above. `cannot_approve` says who could approve a request, and why others could not."""
    return await listing.access(context, page, approvalId)


@router.get("/{orgId}/tree", responses={404: {}})
@requires(Scope.ORGS_READ)
async def get_tree(
    context: Current,
    orgId: UUID,
    page: PageOf,
    parent: Annotated[
        UUID | None, Query(description=("The node whose children to list. Default: the organization itself."))
    ] = None,
) -> Tree:
    """List the children of one node by name. Without `parent`, the first page starts with the organization itself."""
    return await listing.tree(context, page, parent)


@router.get("/{orgId}/sub-orgs")
@requires(Scope.ORGS_READ)
async def list_sub_organizations(context: Current, orgId: UUID, page: PageOf) -> OrganizationList:
    """List the organizations directly below, newest first."""
    return await listing.below(context, page)


@router.post("/{orgId}/sub-orgs", status_code=status.HTTP_201_CREATED)
@requires(Scope.ORGS_WRITE)
async def create_sub_organization(
    context: Current, orgId: UUID, body: OrganizationCreate, response: Response, dry_run: DryRun = False
) -> Organization | OrganizationPlan:
    """Create an organization directly below. Admins above it are its admins; its network defaults to its parent's."""
    if dry_run:
        response.status_code = status.HTTP_200_OK
    return await service.create_below(context, body, dry_run)
