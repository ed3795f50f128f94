"""Organizations. Made by `make client` from backend/openapi.json."""

from typing import Literal, overload

from backend.client.connection import Connection, Id, path
from backend.client.content import Download
from backend.client.pages import Pages
from backend.client.repeating import new_key
from backend.organizations.schemas import (
    Access,
    AccessList,
    MovePlan,
    Organization,
    OrganizationCreate,
    OrganizationList,
    OrganizationListed,
    OrganizationMove,
    OrganizationPlan,
    OrganizationUpdate,
    Summary,
    Tree,
    TreeNode,
)


class OrganizationsOperations(Connection):
    """Organizations."""

    def list_organizations(
        self, *, search: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Pages[OrganizationList, OrganizationListed]:
        """Every organization the caller reaches, newest first; `search` finds a part of the name. Lists, tree and
        search leave out organizations that do not allow the caller's IP address; counts include them.

        Scope: `orgs:read`.
        """
        return self._pages(
            OrganizationList, "organizations", "/orgs", {"search": search, "limit": limit, "cursor": cursor}
        )

    @overload
    async def create_organization(
        self, body: OrganizationCreate, *, dry_run: Literal[True], idempotency_key: str | None = None
    ) -> OrganizationPlan: ...

    @overload
    async def create_organization(
        self, body: OrganizationCreate, *, dry_run: Literal[False] = False, idempotency_key: str | None = None
    ) -> Organization: ...

    async def create_organization(
        self, body: OrganizationCreate, *, dry_run: bool = False, idempotency_key: str | None = None
    ) -> Organization | OrganizationPlan:
        """Found an organization without a parent. Needs a signed-in person, who becomes its admin: one who may
        write in an organization already, or belongs to none yet.

        Scope: `orgs:write`.
        """
        return await self._send(
            OrganizationPlan if dry_run else Organization,
            "POST",
            "/orgs",
            query={"dry_run": dry_run or None},
            body=body,
            key=idempotency_key or new_key(),
        )

    async def get_organization(self, org_id: Id) -> Organization:
        """One organization.

        Scope: `orgs:read`.
        """
        return await self._send(Organization, "GET", path("/orgs/{}", org_id))

    @overload
    async def update_organization(
        self, org_id: Id, body: OrganizationUpdate, *, dry_run: Literal[True], idempotency_key: str | None = None
    ) -> OrganizationPlan: ...

    @overload
    async def update_organization(
        self,
        org_id: Id,
        body: OrganizationUpdate,
        *,
        dry_run: Literal[False] = False,
        idempotency_key: str | None = None,
    ) -> Organization: ...

    async def update_organization(
        self, org_id: Id, body: OrganizationUpdate, *, dry_run: bool = False, idempotency_key: str | None = None
    ) -> Organization | OrganizationPlan:
        """JSON merge patch: what is left out stays, null takes away. Keys that inherit `network` follow it.

        `approvals` are the actions that need a second person. Adding one holds at once; taking one away needs a
        second person too (409): ask for it by POST …/approvals, unless there is no other admin who could agree.

        With `require_second_factor`, people without a second factor are refused (403) here and in the
        organizations below until they set one up. API keys are not asked.

        `allowed_ip_ranges` are the IP addresses and CIDR ranges that may call, at most 100. They hold for
        people, keys and applications, here and in the organizations below: each organization above that has
        ranges must allow the address too. Empty or null allows every address. A list without your own address is
        refused (409).

        Scope: `orgs:write`.
        """
        return await self._send(
            OrganizationPlan if dry_run else Organization,
            "PATCH",
            path("/orgs/{}", org_id),
            query={"dry_run": dry_run or None},
            body=body,
            key=idempotency_key or new_key(),
        )

    async def get_summary(self, org_id: Id) -> Summary:
        """Counts of members, wallets, assets, chains, keys and transactions, and what waits for a person.

        Scope: `orgs:read`.
        """
        return await self._send(Summary, "GET", path("/orgs/{}/summary", org_id))

    def list_access(
        self, org_id: Id, *, limit: int | None = None, cursor: str | None = None
    ) -> Pages[AccessList, Access]:
        """The people whose role reaches this organization: its own staff first, then those of the organizations
        above.

        Scope: `members:read`.
        """
        return self._pages(AccessList, "access", path("/orgs/{}/access", org_id), {"limit": limit, "cursor": cursor})

    def get_tree(
        self, org_id: Id, *, parent: Id | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Pages[Tree, TreeNode]:
        """The children of one node, by name. Without `parent` the first page begins with the organization itself.

        Scope: `orgs:read`.
        """
        return self._pages(
            Tree, "nodes", path("/orgs/{}/tree", org_id), {"parent": parent, "limit": limit, "cursor": cursor}
        )

    def list_sub_organizations(
        self, org_id: Id, *, limit: int | None = None, cursor: str | None = None
    ) -> Pages[OrganizationList, OrganizationListed]:
        """The organizations directly below, newest first.

        Scope: `orgs:read`.
        """
        return self._pages(
            OrganizationList, "organizations", path("/orgs/{}/sub-orgs", org_id), {"limit": limit, "cursor": cursor}
        )

    @overload
    async def create_sub_organization(
        self, org_id: Id, body: OrganizationCreate, *, dry_run: Literal[True], idempotency_key: str | None = None
    ) -> OrganizationPlan: ...

    @overload
    async def create_sub_organization(
        self,
        org_id: Id,
        body: OrganizationCreate,
        *,
        dry_run: Literal[False] = False,
        idempotency_key: str | None = None,
    ) -> Organization: ...

    async def create_sub_organization(
        self, org_id: Id, body: OrganizationCreate, *, dry_run: bool = False, idempotency_key: str | None = None
    ) -> Organization | OrganizationPlan:
        """Make an organization directly below. Admins above it are its admins; its network is its parent's unless
        said.

        Scope: `orgs:write`.
        """
        return await self._send(
            OrganizationPlan if dry_run else Organization,
            "POST",
            path("/orgs/{}/sub-orgs", org_id),
            query={"dry_run": dry_run or None},
            body=body,
            key=idempotency_key or new_key(),
        )

    @overload
    async def move_sub_organization(
        self,
        org_id: Id,
        sub_org_id: Id,
        body: OrganizationMove,
        *,
        dry_run: Literal[True],
        idempotency_key: str | None = None,
    ) -> MovePlan: ...

    @overload
    async def move_sub_organization(
        self,
        org_id: Id,
        sub_org_id: Id,
        body: OrganizationMove,
        *,
        dry_run: Literal[False] = False,
        idempotency_key: str | None = None,
    ) -> Organization: ...

    async def move_sub_organization(
        self,
        org_id: Id,
        sub_org_id: Id,
        body: OrganizationMove,
        *,
        dry_run: bool = False,
        idempotency_key: str | None = None,
    ) -> Organization | MovePlan:
        """Move an organization from its current parent (`orgId`) to another; everything below it comes along.

        Needs the admin role in both parents; an API key can do it where its creator has that role.
        `?dry_run=true` answers with paths, depths, and who gains or loses access, and does nothing. Where the
        organization is known on a chain, `Location` names the request that writes its new place there.

        Scope: `orgs:write`.
        """
        return await self._send(
            MovePlan if dry_run else Organization,
            "POST",
            path("/orgs/{}/sub-orgs/{}/move", org_id, sub_org_id),
            query={"dry_run": dry_run or None},
            body=body,
            key=idempotency_key or new_key(),
        )

    def list_organizations_csv(self, *, search: str | None = None) -> Download:
        """`/orgs` as CSV: every record that its filters leave, in one stream.

        Scope: `orgs:read`.
        """
        return self._download("/orgs.csv", query={"search": search})

    def list_access_csv(self, org_id: Id) -> Download:
        """`/orgs/{orgId}/access` as CSV: every record that its filters leave, in one stream.

        Scope: `members:read`.
        """
        return self._download(path("/orgs/{}/access.csv", org_id))

    def get_tree_csv(self, org_id: Id, *, parent: Id | None = None) -> Download:
        """`/orgs/{orgId}/tree` as CSV: every record that its filters leave, in one stream.

        Scope: `orgs:read`.
        """
        return self._download(path("/orgs/{}/tree.csv", org_id), query={"parent": parent})

    def list_sub_organizations_csv(self, org_id: Id) -> Download:
        """`/orgs/{orgId}/sub-orgs` as CSV: every record that its filters leave, in one stream.

        Scope: `orgs:read`.
        """
        return self._download(path("/orgs/{}/sub-orgs.csv", org_id))
