"""`/v1/chains`, `/v1/orgs/{orgId}/chains`."""

from uuid import UUID

from fastapi import APIRouter

from backend.auth import rate_limit
from backend.auth.address import group
from backend.auth.route import Current, GuardedRoute, public, requires
from backend.auth.scopes import Scope
from backend.chains import checks, service
from backend.chains.schemas import (
    ChainList,
    DeployedFilter,
    Environment,
    NodeCheck,
    OrganizationChain,
    OrganizationChainList,
    VmType,
)

router = APIRouter(tags=["Chains"], route_class=GuardedRoute)


@router.get("/chains/")
@router.get("/chains", include_in_schema=False)
@public
async def list_chains(
    context: Current,
    environment: Environment | None = None,
    vm_type: VmType | None = None,
    deployed: DeployedFilter | None = None,
) -> ChainList:
    """The registry of chains; needs no credential. `deployed` filters by whether our contracts are there."""
    await rate_limit.hit(rate_limit.CHAIN_LIST, "chains", group(context.address))
    wanted = None if deployed is None else deployed == "true"
    return ChainList(chains=await service.registry(context.session, environment, vm_type, wanted))


@router.get("/orgs/{orgId}/chains")
@requires(Scope.CHAINS_READ)
async def list_organization_chains(context: Current, orgId: UUID) -> OrganizationChainList:
    """Every chain of the organization's network (embedded chains count as testnets), enabled or not."""
    return OrganizationChainList(chains=await service.for_organization(context))


@router.post("/orgs/{orgId}/chains/{chainId}/enable")
@requires(Scope.CHAINS_WRITE)
async def enable_chain(context: Current, orgId: UUID, chainId: UUID) -> OrganizationChain:
    """Let the organization use a chain. Repeating it changes nothing."""
    return await service.enable(context, chainId)


@router.post("/orgs/{orgId}/chains/{chainId}/disable")
@requires(Scope.CHAINS_WRITE)
async def disable_chain(context: Current, orgId: UUID, chainId: UUID) -> OrganizationChain:
    """Begin nothing new on a chain; what is there already stays. Repeating it changes nothing."""
    return await service.disable(context, chainId)


@router.get("/orgs/{orgId}/chains/{chainId}/check", responses={404: {}, 409: {}})
@requires(Scope.CHAINS_READ)
async def check_nodes(context: Current, orgId: UUID, chainId: UUID) -> NodeCheck:
    """Check what a chain's nodes support and which settings fit them. It takes up to 20 seconds; a result is kept for a
    minute. 409 where this installation has no node for the chain."""
    await rate_limit.hit(rate_limit.NODE_CHECKS, "node checks", str(context.organization_id))
    return await checks.of_chain(context, chainId)
