"""`/v1/chains`, `/v1/orgs/{orgId}/chains`."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends

from backend.auth.guard import Current, GuardedRoute, public, requires
from backend.auth.scopes import Scope
from backend.chains import node_checks, service
from backend.chains.schemas import ChainList, DeployedFilter, NodeCheck, OrganizationChain, OrganizationChainList
from backend.core.fields import Environment, VmType
from backend.limits import rate_limits
from backend.limits.client_address import group
from backend.lists.pages import SHORT, Page

# Declared at import.
router = APIRouter(tags=["Chains"], route_class=GuardedRoute)


@router.get("/chains/")
@router.get("/chains", include_in_schema=False)
@public
async def list_chains(
    context: Current,
    environment: Environment | None = None,
    vm_type: VmType | None = None,
    deployed: DeployedFilter | None = None,
    *,
    page: Annotated[Page, Depends(SHORT.page)],
) -> ChainList:
    """List supported chains; needs no credential. `deployed` filters by whether Signum's contracts are there."""
    await rate_limits.hit(rate_limits.CHAIN_LIST, "chains", group(context.address))
    wanted = None if deployed is None else deployed == "true"
    return ChainList(chains=page.kept(await service.list_chains(context.session, environment, vm_type, wanted)))


@router.get("/orgs/{orgId}/chains")
@requires(Scope.CHAINS_READ)
async def list_organization_chains(
    context: Current, orgId: UUID, page: Annotated[Page, Depends(SHORT.page)]
) -> OrganizationChainList:
    """List every chain of the organization's network (embedded chains count as testnets), enabled or not."""
    return OrganizationChainList(chains=page.kept(await service.for_organization(context)))


@router.post("/orgs/{orgId}/chains/{chainId}/enable")
@requires(Scope.CHAINS_WRITE)
async def enable_chain(context: Current, orgId: UUID, chainId: UUID) -> OrganizationChain:
    """Enable a chain for the organization. Repeating it changes nothing."""
    return await service.enable(context, chainId)


@router.post("/orgs/{orgId}/chains/{chainId}/disable")
@requires(Scope.CHAINS_WRITE)
async def disable_chain(context: Current, orgId: UUID, chainId: UUID) -> OrganizationChain:
    """Disable a chain. Repeating it changes nothing.

    Nothing new starts on it: an operation that would is a 409 with the prerequisite `chain_enabled`. Operations that
    end or stop something still work: cancel an order or a distribution, claim, revoke an attestation, freeze and
    unfreeze, pause and unpause a token or a bridge path, and return a failed bridge. Requests in progress
    (`requests_in_progress`) finish, and their `notice` says so. Existing resources stay.
    """
    return await service.disable(context, chainId)


@router.get("/orgs/{orgId}/chains/{chainId}/check", responses={404: {}, 409: {}})
@requires(Scope.CHAINS_READ)
async def check_nodes(context: Current, orgId: UUID, chainId: UUID) -> NodeCheck:
    """Check what a chain's nodes support and which settings fit them. It takes up to 20 seconds; a result is cached for
    a minute. 409 if this installation has no node for the chain."""
    await rate_limits.hit(rate_limits.NODE_CHECKS, "node checks", str(context.organization_id))
    return await node_checks.of_chain(context, chainId)
