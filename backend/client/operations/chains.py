"""Chains. Made by `make client` from backend/openapi.json."""

from backend.chains.schemas import ChainList, Environment, NodeCheck, OrganizationChain, OrganizationChainList, VmType
from backend.client.connection import Connection, Id, path
from backend.client.content import Download
from backend.client.repeating import new_key


class ChainsOperations(Connection):
    """Chains."""

    async def list_chains(
        self, *, environment: Environment | None = None, vm_type: VmType | None = None, deployed: str | None = None
    ) -> ChainList:
        """The registry of chains; needs no credential. `deployed` filters by whether our contracts are there."""
        return await self._send(
            ChainList, "GET", "/chains/", query={"environment": environment, "vm_type": vm_type, "deployed": deployed}
        )

    async def list_organization_chains(self, org_id: Id) -> OrganizationChainList:
        """Every chain of the organization's network (embedded chains count as testnets), enabled or not.

        Scope: `chains:read`.
        """
        return await self._send(OrganizationChainList, "GET", path("/orgs/{}/chains", org_id))

    async def enable_chain(self, org_id: Id, chain_id: Id, *, idempotency_key: str | None = None) -> OrganizationChain:
        """Let the organization use a chain. Repeating it changes nothing.

        Scope: `chains:write`.
        """
        return await self._send(
            OrganizationChain,
            "POST",
            path("/orgs/{}/chains/{}/enable", org_id, chain_id),
            key=idempotency_key or new_key(),
        )

    async def disable_chain(self, org_id: Id, chain_id: Id, *, idempotency_key: str | None = None) -> OrganizationChain:
        """Begin nothing new on a chain; what is there already stays. Repeating it changes nothing.

        Scope: `chains:write`.
        """
        return await self._send(
            OrganizationChain,
            "POST",
            path("/orgs/{}/chains/{}/disable", org_id, chain_id),
            key=idempotency_key or new_key(),
        )

    async def check_nodes(self, org_id: Id, chain_id: Id) -> NodeCheck:
        """Check what a chain's nodes support and which settings fit them. It takes up to 20 seconds; a result is
        kept for a minute. 409 where this installation has no node for the chain.

        Scope: `chains:read`.
        """
        return await self._send(NodeCheck, "GET", path("/orgs/{}/chains/{}/check", org_id, chain_id))

    def list_chains_csv(
        self, *, environment: Environment | None = None, vm_type: VmType | None = None, deployed: str | None = None
    ) -> Download:
        """`/chains` as CSV: every record that its filters leave, in one stream."""
        return self._download(
            "/chains.csv", query={"environment": environment, "vm_type": vm_type, "deployed": deployed}
        )

    def list_organization_chains_csv(self, org_id: Id) -> Download:
        """`/orgs/{orgId}/chains` as CSV: every record that its filters leave, in one stream.

        Scope: `chains:read`.
        """
        return self._download(path("/orgs/{}/chains.csv", org_id))
