"""Controls. Made by `make client` from backend/openapi.json."""

from typing import Literal, overload

from backend.client.connection import Connection, Id, path
from backend.client.content import Download
from backend.client.repeating import new_key
from backend.controls.schemas import (
    AssetPathList,
    Burn,
    ControlAccepted,
    ControlPlan,
    ForcedTransfer,
    Freeze,
    LimitPath,
    Mint,
    Pause,
    PausePath,
    Recover,
)


class ControlsOperations(Connection):
    """Controls."""

    @overload
    async def mint(
        self, org_id: Id, asset_id: Id, body: Mint, *, dry_run: Literal[True], idempotency_key: str | None = None
    ) -> ControlPlan: ...

    @overload
    async def mint(
        self,
        org_id: Id,
        asset_id: Id,
        body: Mint,
        *,
        dry_run: Literal[False] = False,
        idempotency_key: str | None = None,
    ) -> ControlAccepted: ...

    async def mint(
        self, org_id: Id, asset_id: Id, body: Mint, *, dry_run: bool = False, idempotency_key: str | None = None
    ) -> ControlAccepted | ControlPlan:
        """Issue tokens by the owner. The receiver must pass every rule of a holder; the treasury always may.

        Scope: `assets:write`.
        """
        return await self._send(
            ControlPlan if dry_run else ControlAccepted,
            "POST",
            path("/orgs/{}/assets/{}/mint", org_id, asset_id),
            query={"dry_run": dry_run or None},
            body=body,
            key=idempotency_key or new_key(),
        )

    @overload
    async def burn(
        self, org_id: Id, asset_id: Id, body: Burn, *, dry_run: Literal[True], idempotency_key: str | None = None
    ) -> ControlPlan: ...

    @overload
    async def burn(
        self,
        org_id: Id,
        asset_id: Id,
        body: Burn,
        *,
        dry_run: Literal[False] = False,
        idempotency_key: str | None = None,
    ) -> ControlAccepted: ...

    async def burn(
        self, org_id: Id, asset_id: Id, body: Burn, *, dry_run: bool = False, idempotency_key: str | None = None
    ) -> ControlAccepted | ControlPlan:
        """Destroy tokens. Those of another address than the owner's are taken first, by force, frozen ones too.

        Scope: `assets:write`.
        """
        return await self._send(
            ControlPlan if dry_run else ControlAccepted,
            "POST",
            path("/orgs/{}/assets/{}/burn", org_id, asset_id),
            query={"dry_run": dry_run or None},
            body=body,
            key=idempotency_key or new_key(),
        )

    @overload
    async def pause(
        self, org_id: Id, asset_id: Id, body: Pause, *, dry_run: Literal[True], idempotency_key: str | None = None
    ) -> ControlPlan: ...

    @overload
    async def pause(
        self,
        org_id: Id,
        asset_id: Id,
        body: Pause,
        *,
        dry_run: Literal[False] = False,
        idempotency_key: str | None = None,
    ) -> ControlAccepted: ...

    async def pause(
        self, org_id: Id, asset_id: Id, body: Pause, *, dry_run: bool = False, idempotency_key: str | None = None
    ) -> ControlAccepted | ControlPlan:
        """Stop every movement of the token on a chain, or on all of them. Enforcement still works while it is
        paused.

        Scope: `assets:write`.
        """
        return await self._send(
            ControlPlan if dry_run else ControlAccepted,
            "POST",
            path("/orgs/{}/assets/{}/pause", org_id, asset_id),
            query={"dry_run": dry_run or None},
            body=body,
            key=idempotency_key or new_key(),
        )

    @overload
    async def unpause(
        self, org_id: Id, asset_id: Id, body: Pause, *, dry_run: Literal[True], idempotency_key: str | None = None
    ) -> ControlPlan: ...

    @overload
    async def unpause(
        self,
        org_id: Id,
        asset_id: Id,
        body: Pause,
        *,
        dry_run: Literal[False] = False,
        idempotency_key: str | None = None,
    ) -> ControlAccepted: ...

    async def unpause(
        self, org_id: Id, asset_id: Id, body: Pause, *, dry_run: bool = False, idempotency_key: str | None = None
    ) -> ControlAccepted | ControlPlan:
        """Let a paused token move again.

        Scope: `assets:write`.
        """
        return await self._send(
            ControlPlan if dry_run else ControlAccepted,
            "POST",
            path("/orgs/{}/assets/{}/unpause", org_id, asset_id),
            query={"dry_run": dry_run or None},
            body=body,
            key=idempotency_key or new_key(),
        )

    @overload
    async def freeze(
        self, org_id: Id, asset_id: Id, body: Freeze, *, dry_run: Literal[True], idempotency_key: str | None = None
    ) -> ControlPlan: ...

    @overload
    async def freeze(
        self,
        org_id: Id,
        asset_id: Id,
        body: Freeze,
        *,
        dry_run: Literal[False] = False,
        idempotency_key: str | None = None,
    ) -> ControlAccepted: ...

    async def freeze(
        self, org_id: Id, asset_id: Id, body: Freeze, *, dry_run: bool = False, idempotency_key: str | None = None
    ) -> ControlAccepted | ControlPlan:
        """Freeze so much more of an account; without an amount all of it, also what it gets later.

        Scope: `assets:write`.
        """
        return await self._send(
            ControlPlan if dry_run else ControlAccepted,
            "POST",
            path("/orgs/{}/assets/{}/freeze", org_id, asset_id),
            query={"dry_run": dry_run or None},
            body=body,
            key=idempotency_key or new_key(),
        )

    @overload
    async def unfreeze(
        self, org_id: Id, asset_id: Id, body: Freeze, *, dry_run: Literal[True], idempotency_key: str | None = None
    ) -> ControlPlan: ...

    @overload
    async def unfreeze(
        self,
        org_id: Id,
        asset_id: Id,
        body: Freeze,
        *,
        dry_run: Literal[False] = False,
        idempotency_key: str | None = None,
    ) -> ControlAccepted: ...

    async def unfreeze(
        self, org_id: Id, asset_id: Id, body: Freeze, *, dry_run: bool = False, idempotency_key: str | None = None
    ) -> ControlAccepted | ControlPlan:
        """Free so much of what is frozen of an account; without an amount all of it.

        Scope: `assets:write`.
        """
        return await self._send(
            ControlPlan if dry_run else ControlAccepted,
            "POST",
            path("/orgs/{}/assets/{}/unfreeze", org_id, asset_id),
            query={"dry_run": dry_run or None},
            body=body,
            key=idempotency_key or new_key(),
        )

    @overload
    async def forced_transfer(
        self,
        org_id: Id,
        asset_id: Id,
        body: ForcedTransfer,
        *,
        dry_run: Literal[True],
        idempotency_key: str | None = None,
    ) -> ControlPlan: ...

    @overload
    async def forced_transfer(
        self,
        org_id: Id,
        asset_id: Id,
        body: ForcedTransfer,
        *,
        dry_run: Literal[False] = False,
        idempotency_key: str | None = None,
    ) -> ControlAccepted: ...

    async def forced_transfer(
        self,
        org_id: Id,
        asset_id: Id,
        body: ForcedTransfer,
        *,
        dry_run: bool = False,
        idempotency_key: str | None = None,
    ) -> ControlAccepted | ControlPlan:
        """Take tokens of an address, frozen ones too, and give them to an eligible one; also while paused or locked
        up.

        Scope: `assets:write`.
        """
        return await self._send(
            ControlPlan if dry_run else ControlAccepted,
            "POST",
            path("/orgs/{}/assets/{}/forced-transfer", org_id, asset_id),
            query={"dry_run": dry_run or None},
            body=body,
            key=idempotency_key or new_key(),
        )

    @overload
    async def recover(
        self, org_id: Id, asset_id: Id, body: Recover, *, dry_run: Literal[True], idempotency_key: str | None = None
    ) -> ControlPlan: ...

    @overload
    async def recover(
        self,
        org_id: Id,
        asset_id: Id,
        body: Recover,
        *,
        dry_run: Literal[False] = False,
        idempotency_key: str | None = None,
    ) -> ControlAccepted: ...

    async def recover(
        self, org_id: Id, asset_id: Id, body: Recover, *, dry_run: bool = False, idempotency_key: str | None = None
    ) -> ControlAccepted | ControlPlan:
        """Move everything of a lost wallet to a new wallet of the same person, which must be eligible: its tokens,
        what of them is frozen, and what lies in its open orders of the asset's markets. These orders end; the
        tokens and the quote in them go to the new wallet, in the same transaction.

        Scope: `assets:write`.
        """
        return await self._send(
            ControlPlan if dry_run else ControlAccepted,
            "POST",
            path("/orgs/{}/assets/{}/recover", org_id, asset_id),
            query={"dry_run": dry_run or None},
            body=body,
            key=idempotency_key or new_key(),
        )

    async def list_asset_paths(self, org_id: Id, asset_id: Id) -> AssetPathList:
        """List the bridge paths between the asset's tokens, with their pauses and limits as the chains have them
        now.

        Scope: `assets:read`.
        """
        return await self._send(AssetPathList, "GET", path("/orgs/{}/assets/{}/paths", org_id, asset_id))

    @overload
    async def pause_path(
        self, org_id: Id, asset_id: Id, body: PausePath, *, dry_run: Literal[True], idempotency_key: str | None = None
    ) -> ControlPlan: ...

    @overload
    async def pause_path(
        self,
        org_id: Id,
        asset_id: Id,
        body: PausePath,
        *,
        dry_run: Literal[False] = False,
        idempotency_key: str | None = None,
    ) -> ControlAccepted: ...

    async def pause_path(
        self, org_id: Id, asset_id: Id, body: PausePath, *, dry_run: bool = False, idempotency_key: str | None = None
    ) -> ControlAccepted | ControlPlan:
        """Stop what goes between two chains, in both directions and on both tokens. A packet that is on its way
        waits at the endpoint of its destination.

        Scope: `assets:write`.
        """
        return await self._send(
            ControlPlan if dry_run else ControlAccepted,
            "POST",
            path("/orgs/{}/assets/{}/pause-path", org_id, asset_id),
            query={"dry_run": dry_run or None},
            body=body,
            key=idempotency_key or new_key(),
        )

    @overload
    async def unpause_path(
        self, org_id: Id, asset_id: Id, body: PausePath, *, dry_run: Literal[True], idempotency_key: str | None = None
    ) -> ControlPlan: ...

    @overload
    async def unpause_path(
        self,
        org_id: Id,
        asset_id: Id,
        body: PausePath,
        *,
        dry_run: Literal[False] = False,
        idempotency_key: str | None = None,
    ) -> ControlAccepted: ...

    async def unpause_path(
        self, org_id: Id, asset_id: Id, body: PausePath, *, dry_run: bool = False, idempotency_key: str | None = None
    ) -> ControlAccepted | ControlPlan:
        """Let packets pass between two chains again.

        Scope: `assets:write`.
        """
        return await self._send(
            ControlPlan if dry_run else ControlAccepted,
            "POST",
            path("/orgs/{}/assets/{}/unpause-path", org_id, asset_id),
            query={"dry_run": dry_run or None},
            body=body,
            key=idempotency_key or new_key(),
        )

    @overload
    async def limit_path(
        self, org_id: Id, asset_id: Id, body: LimitPath, *, dry_run: Literal[True], idempotency_key: str | None = None
    ) -> ControlPlan: ...

    @overload
    async def limit_path(
        self,
        org_id: Id,
        asset_id: Id,
        body: LimitPath,
        *,
        dry_run: Literal[False] = False,
        idempotency_key: str | None = None,
    ) -> ControlAccepted: ...

    async def limit_path(
        self, org_id: Id, asset_id: Id, body: LimitPath, *, dry_run: bool = False, idempotency_key: str | None = None
    ) -> ControlAccepted | ControlPlan:
        """Limit how much passes between two chains in a window of time, both directions together, or end the limit.
        What is used up frees itself evenly over the window. A packet above the limit waits at the endpoint of
        its destination.

        Scope: `assets:write`.
        """
        return await self._send(
            ControlPlan if dry_run else ControlAccepted,
            "POST",
            path("/orgs/{}/assets/{}/limit-path", org_id, asset_id),
            query={"dry_run": dry_run or None},
            body=body,
            key=idempotency_key or new_key(),
        )

    def list_asset_paths_csv(self, org_id: Id, asset_id: Id) -> Download:
        """`/orgs/{orgId}/assets/{assetId}/paths` as CSV: every record that its filters leave, in one stream.

        Scope: `assets:read`.
        """
        return self._download(path("/orgs/{}/assets/{}/paths.csv", org_id, asset_id))
